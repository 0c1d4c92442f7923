"""Texts with secrets in them, put together here so that no file holds what looks like a real one."""

from __future__ import annotations

import base64
import random
import string

_chance = random.Random(7)


def some(length: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """A random body with at least one digit and one letter."""
    body = [_chance.choice(alphabet) for _ in range(length)]
    body[1], body[2] = next((letter for letter in "aA7" if letter in alphabet), "7"), "7"
    return "".join(body)


HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URLSAFE = string.ascii_letters + string.digits + "_-"


def pem(kind: str, newline: str = "\n") -> tuple[str, str]:
    body = newline.join(some(64) for _ in range(4))
    return f"-----BEGIN {kind}-----{newline}{body}{newline}-----END {kind}-----", body


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


def _token(prefix: str, body: str, before: str = "found ", after: str = " in the log") -> tuple[str, str]:
    return f"{before}{prefix}{body}{after}", body


def samples() -> list[tuple[str, str, str]]:
    """Name, text, and the part of the text that must not survive."""
    jwt = f"eyJ{some(20)}.eyJ{some(40)}.{some(43, URLSAFE)}"
    aws_secret = some(38) + "/+"
    rsa, openssh, pgp = pem("RSA PRIVATE KEY"), pem("OPENSSH PRIVATE KEY"), pem("PGP PRIVATE KEY BLOCK")
    google = pem("PRIVATE KEY", "\\n")
    unfinished = some(64)
    word = "hunter2"
    plain: list[tuple[str, tuple[str, str]]] = [
        ("anthropic", _token("sk-ant-api03-", some(93, URLSAFE))),
        ("openai project", _token("sk-proj-", some(100, URLSAFE))),
        ("openai old", _token("sk-", some(48), before="OPENAI key is ")),
        ("openrouter", _token("sk-or-v1-", some(64, HEX))),
        ("aws id", _token("AKIA", some(16, UPPER))),
        ("aws temporary id", _token("ASIA", some(16, UPPER))),
        ("aws secret by name", (f"aws_secret_access_key = {aws_secret}", aws_secret)),
        ("aws secret in json", (f'{{"SecretAccessKey": "{aws_secret}"}}', aws_secret)),
        ("aws secret behind its id", (f"AKIA{some(16, UPPER)},{aws_secret}", aws_secret)),
        ("aws documentation", ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLE" + "KEY", "wJalrXUtnFEMI")),
        ("github classic", _token("ghp_", some(36))),
        ("github oauth", _token("gho_", some(36))),
        ("github server", _token("ghs_", some(36))),
        ("github fine-grained", _token("github_pat_", f"{some(22)}_{some(59)}")),
        ("gitlab", _token("glpat-", some(20, URLSAFE))),
        ("slack bot", _token("xoxb-", f"{some(12, string.digits)}-{some(13, string.digits)}-{some(24)}")),
        ("slack webhook", (f"https://hooks.slack.com/services/T{some(8)}/B{some(8)}/{(b := some(24))}", b)),
        ("stripe live", _token("sk_live_", some(24))),
        ("stripe restricted", _token("rk_live_", some(24))),
        ("stripe webhook", _token("whsec_", some(32))),
        ("google api", _token("AIza", some(35, URLSAFE))),
        ("google oauth", _token("ya29.", some(60, URLSAFE))),
        ("google service account", (f'{{"type": "service_account", "private_key": "{google[0]}"}}', google[1])),
        ("npm", _token("npm_", some(36))),
        ("npmrc", (f"//registry.example.org/:_authToken={(b := some(36))}", b)),
        ("pypi", _token("pypi-", some(120, URLSAFE))),
        ("hugging face", _token("hf_", some(34))),
        ("twilio", _token("SK", some(32, HEX))),
        ("sendgrid", _token("SG.", f"{some(22, URLSAFE)}.{some(43, URLSAFE)}")),
        ("telegram", (f"bot {some(9, string.digits)}:AA{(b := some(33, URLSAFE))}", b)),
        ("discord", (f"M{some(23)}.G{some(5)}.{(b := some(38, URLSAFE))}", b)),
        ("discord webhook", (f"https://discord.com/api/webhooks/1122334455/{(b := some(68, URLSAFE))}", b)),
        ("jwt", (f"cookie jar has {jwt} in it", jwt)),
        ("digitalocean", _token("dop_v1_", some(64, HEX))),
        ("shopify", _token("shpat_", some(32, HEX))),
        ("databricks", _token("dapi", some(32, HEX))),
        ("vault", _token("hvs.", some(90, URLSAFE))),
        ("docker hub", _token("dckr_pat_", some(27, URLSAFE))),
        ("grafana", _token("glsa_", f"{some(32)}_{some(8, HEX)}")),
        ("linear", _token("lin_api_", some(40))),
        ("mailchimp", (f"key {(b := some(32, HEX))}-us14", b)),
        ("groq", _token("gsk_", some(52))),
        ("terraform", (f"{some(14)}.atlasv1.{(b := some(67, URLSAFE))}", b)),
        ("azure client secret", (f"{some(3)}8Q~{(b := some(34))}", b)),
        ("azure storage", (f"DefaultEndpointsProtocol=https;AccountName=me;AccountKey={(b := some(86))}==;", b)),
        ("azure service bus", (f"Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey={(b := some(43))}=", b)),
        ("azure sas", (f"https://me.blob.example.net/c?sv=2020&sig={(b := some(44))}%3D", b)),
        ("presigned url", (f"https://b.s3.example.com/k?X-Amz-Expires=3600&X-Amz-Signature={(b := some(64, HEX))}", b)),
        ("age", _token("AGE-SECRET-KEY-1", some(58, UPPER))),
        ("rsa key", rsa),
        ("openssh key", openssh),
        ("pgp key", pgp),
        ("ec key", pem("EC PRIVATE KEY")),
        ("key without an end", (f"-----BEGIN PRIVATE KEY-----\n{some(64)}\n{unfinished}\n", unfinished)),
        ("kubeconfig key", (f"    client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURS{(b := some(80))}", b)),
        ("kubeconfig token", (f"    token: {(b := some(40))}\n", b)),
        ("bearer header", (f"Authorization: Bearer {(b := some(30))}", b)),
        ("bearer in curl", (f"curl -H 'Authorization: Bearer {(b := some(30))}' https://api.example.com", b)),
        ("basic header", (f"Authorization: Basic {(b := basic('me', word))}", b)),
        ("token header", (f"authorization: token {(b := some(40, HEX))}", b)),
        ("x-api-key header", (f"X-Api-Key: {(b := some(32))}", b)),
        ("header in json", (f'{{"headers": {{"x-api-key": "{(b := some(32))}"}}}}', b)),
        ("vault header", (f"X-Vault-Token: {(b := 's.' + some(24))}", b)),
        ("postgres url", ("postgres://app:" + word + "@db.example.com:5432/app", word)),
        ("mysql url", ("mysql+pymysql://root:" + "p%40ss" + "@localhost/db", "p%40ss")),
        ("redis url without a user", ("redis://:" + word + "@cache:6379/0", word)),
        ("mongodb url", ("mongodb+srv://u:" + "s3cr3t!" + "@cluster0.example.net/?retryWrites=true", "s3cr3t!")),
        ("git url with a token", (f"git clone https://{(b := some(30))}@git.example.com/a/b.git", b)),
        ("git url with a user", (f"https://oauth2:{(b := some(20))}@gitlab.example.com/a.git", b)),
        ("url with @ in the password", ("amqp://guest:" + "p@ss" + "@mq/", "p@ss")),
        ("password in quotes", (f'password = "{word}"', word)),
        ("password capital", (f'PASSWORD: "{word}"', word)),
        ("password setting", (f"password={word}", word)),
        ("password in yaml", (f"db:\n  user: app\n  password: {word}\n", word)),
        ("password word in yaml", ("    password: letmein\n", "letmein")),
        ("password in ini", ("[client]\nuser = root\npassword = letmein\n", "letmein")),
        ("password in json", (f'{{"user": "me", "password": "{word}"}}', word)),
        ("password in escaped json", (f'{{\\"password\\": \\"{word}\\"}}', word)),
        ("password with a type", (f'    password: str = "{word}"', word)),
        ("password compared", (f'if password == "{word}":', word)),
        ("password of digits", ('{"password": 12345678, "user": 1}', "12345678")),
        ("password in a keyword argument", (f"connect(user='me', password='{word}')", word)),
        ("password called pass", (f'{{"user": "me", "pass": "{word}"}}', word)),
        ("password in a dictionary", (f"config['db_password'] = '{word}'", word)),
        ("password of words", ('passphrase: "correct horse battery staple"', "battery")),
        ("password with a dollar", ("password: '$ecureP4ss'", "$ecureP4ss")),
        ("password with a bang", ('"password": "!QAZ2wsx"', "!QAZ2wsx")),
        ("password in markdown", (f"**Password:** {word}\n", word)),
        ("password in a query", (f"https://x.example/login?user=me&password={word}&next=/", word)),
        ("password in a connection string", (f"Server=db;User Id=sa;Password={word};Encrypt=true", word)),
        ("password in xml", (f"<server><password>{word}</password></server>", word)),
        ("password in sql", (f"ALTER USER app WITH PASSWORD '{word}';", word)),
        ("password in mysql grants", (f"CREATE USER 'a'@'%' IDENTIFIED BY '{word}';", word)),
        ("env password", (f"DB_PASSWORD={word}\nDEBUG=1", word)),
        ("env password exported", (f"export PGPASSWORD='{word}'; psql", word)),
        ("env password with signs", ("SMTP_PASS=a&b;c(d1\n", "b;c(d1")),
        ("env secret", ("JWT_SECRET=thisismysecret\n", "thisismysecret")),
        ("env key", (f"STRIPE_API_KEY={(b := some(20))}\n", b)),
        ("env other key", (f"SENTRY_FOO_KEY={(b := some(20))}\n", b)),
        ("env token", (f"SLACK_TOKEN={(b := some(20))}\n", b)),
        ("env credential", (f"SERVICE_CREDENTIALS={(b := some(20))}\n", b)),
        ("env with a word", ("POSTGRES_PASSWORD=mysecretpassword\n", "mysecretpassword")),
        ("dockerfile", (f"ENV API_KEY={(b := some(20))}\n", b)),
        ("kubernetes variable", (f"- name: DB_PASSWORD\n  value: {word}\n", word)),
        ("option", (f"deploy --password {word} --verbose", word)),
        ("option with equals", (f"deploy --api-key={(b := some(20))}", b)),
        ("option with token", (f"gh api --token {(b := some(20))}", b)),
        ("option in a list", (f'["deploy", "--password", "{word}"]', word)),
        ("mysql -p", (f"mysql -u root -p{word} app", word)),
        ("mysqldump -p in quotes", (f"mysqldump -p'{word} 2' app", f"{word} 2")),
        ("curl -u", (f"curl -s -u me:{word} https://api.example.com", word)),
        ("curl --user in quotes", (f'curl --user "me:{word}" https://api.example.com', word)),
        ("docker login", (f"docker login -u me -p {word} registry.example.com", word)),
        ("sshpass", (f"sshpass -p {word} ssh root@host", word)),
        ("redis-cli", (f"redis-cli -h cache -a {word} ping", word)),
        ("openssl", (f"openssl rsa -in k.pem -passin pass:{word}", word)),
        ("htpasswd", (f"htpasswd -bc .htpasswd me {word}", word)),
        ("chpasswd", (f"echo 'root:{word}' | chpasswd", word)),
        ("sudo -S", (f"echo {word} | sudo -S apt update", word)),
        ("netrc", (f"machine api.example.com login me password {word}", word)),
        ("netrc on lines", (f"machine api.example.com\n  login me\n  password {word}\n", word)),
        ("set-cookie", (f"Set-Cookie: sessionid={(b := some(32))}; Path=/; HttpOnly", b)),
        ("cookie", (f"Cookie: theme=dark; sid={(b := some(32))}", b)),
        ("htpasswd hash", (f"me:$apr1${some(8)}${(b := some(22))}", b)),
        ("bcrypt hash", (f"hash: $2b$12${(b := some(53))}", b)),
        ("shadow hash", (f"root:$6${some(8)}${(b := some(86))}:19000:0:99999:7:::", b)),
        ("requests auth", (f'requests.get(url, auth=("me", "{word}"))', word)),
        ("typed into a form", (f'page.fill("#password", "{word}")', word)),
        ("header in curl", (f"curl -H 'X-Api-Key: {(b := some(16))}' https://api.example.com", b)),
        ("header in double quotes", (f'curl --header "PRIVATE-TOKEN: {(b := some(16))}" https://x', b)),
        ("header in escaped quotes", (f'{{"cmd": "curl -H \\"X-Auth-Token: {(b := some(16))}\\" u"}}', b)),
        ("header of a word", ("curl -H 'apikey: " + "winter" + "coming' u", "wintercoming")),
        ("header in wget", (f"wget --header='X-Api-Key: {(b := some(16))}' u", b)),
        ("header in httpie", (f"http GET https://x X-Api-Key:{(b := some(16))} a=b", b)),
        ("header without a space", (f"curl -HX-Api-Key:{(b := some(16))} u", b)),
        ("header in escaped lines", (f"GET / HTTP/1.1\\r\\nX-Api-Key: {(b := some(16))}\\r\\nHost: x", b)),
        ("name with a tail", (f"SECRET_KEY_BASE={(b := some(16))}", b)),
        ("name with an environment", (f"API_KEY_PROD={(b := some(16))} make", b)),
        ("name with an owner", (f"export TOKEN_GITHUB='{(b := some(16))}'", b)),
        ("name with an owner in yaml", (f"password_db: {(b := some(16))}\n", b)),
        ("name with a tail in a pair", (f"- name: API_KEY_PROD\n  value: {(b := some(16))}\n", b)),
        ("option with a tail", (f"deploy --api-key-prod {(b := some(16))} --verbose", b)),
        ("short password", (f"DB_PW={word}", word)),
        ("shortest password", (f"pw={word}", word)),
        ("personal access token", (f"MY_PAT={(b := some(16))}", b)),
        ("block in yaml", (f"db:\n  password: |\n    {word}\n  user: app\n", word)),
        ("folded block in yaml", (f"token: >-\n\n  {(b := some(20))}\n", b)),
        ("block of lines in yaml", (f"secret: |\n  {some(20)}\n  {(b := some(20))}\n", b)),
        ("value on the next line", (f'{{"password":\n    "{word}"}}', word)),
        ("pair in tight json", (f'{{"key":"password","value":"{word}"}}', word)),
        ("pair of the aws command", (f"Name=DB_PASSWORD,Value={word}", word)),
        ("words in a shell", ("export DB_PASS='two words" + " here'", "two words")),
        ("sentence in a shell", ("DB_PASSWORD='the horse is in a " + "stable'", "stable")),
        ("aws configure", (f"aws configure set aws_secret_access_key {(b := some(40))} --profile x", b)),
        ("npm config", (f"npm config set //registry.example.org/:_authToken {(b := some(16))}", b)),
        ("dockerfile without equals", (f"FROM scratch\nENV API_KEY {(b := some(16))}\n", b)),
        ("fish", (f"set -gx API_KEY {(b := some(16))}", b)),
        ("windows", (f"setx API_KEY {(b := some(16))}", b)),
        ("github secret", (f"gh secret set API_KEY --body {(b := some(16))}", b)),
        ("word for terraform", ("terraform apply -var db_password=" + "winter" + "coming", "wintercoming")),
        ("word for terraform in quotes", ("terraform apply -var='db_password=" + "winter" + "coming'", "wintercoming")),
        ("word for helm", ("helm install --set a=b,auth.password=" + "winter" + "coming x", "wintercoming")),
        ("word for kubectl", ("kubectl create secret x --from-literal=password=" + "winter" + "coming", "wintercoming")),
        ("word for psql", ("psql 'host=x password=" + "winter" + "coming'", "wintercoming")),
        ("word for psql in the middle", ('psql "host=x password=' + "winter" + 'coming dbname=y"', "wintercoming")),
        ("word first for psql", ("psql 'password=" + "winter" + "coming host=x'", "wintercoming")),
        ("word in a form", ("curl -d 'password=" + "winter" + "coming' u", "wintercoming")),
        ("word for httpie", ("http POST https://x user=me password=" + "winter" + "coming", "wintercoming")),
        ("telegram url", (f"https://api.telegram.org/bot{some(9, string.digits)}:AA{(b := some(33, URLSAFE))}/getMe", b)),
        ("key without a beginning", (f"{(b := some(64))}\n{some(64)}\n{some(8)}==\n-----END RSA PRIVATE KEY-----", b)),
        ("key without a beginning, escaped", (f"{(b := some(64))}\\n{some(30)}\\n-----END PRIVATE KEY-----\\n", b)),
    ]  # fmt: skip
    return [(name, text, secret) for name, (text, secret) in plain]
