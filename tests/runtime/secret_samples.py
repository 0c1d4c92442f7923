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
    ]  # fmt: skip
    return [(name, text, secret) for name, (text, secret) in plain]


INNOCENT = [
    "password = get_password()",
    "token = tokenizer.next()",
    "token = tokens[0]",
    'api_key = os.environ["API_KEY"]',
    'os.environ["API_KEY"]',
    'secret = os.getenv("APP_SECRET")',
    "API_KEY=",
    'API_KEY=""',
    "API_KEY=${API_KEY}",
    "API_KEY=$API_KEY",
    "API_KEY=<your-key>",
    "OPENAI_API_KEY=your-api-key-here",
    "OPENAI_API_KEY=sk-...",
    "export TOKEN=$(cat token.txt)",
    "password: str",
    "password: Optional[str] = None",
    "    api_key: SecretStr,",
    "def login(user: str, password: str) -> Token:",
    "self.password = password",
    "connect(password=password, token=self.token)",
    "password=settings.DB_PASSWORD,",
    "The password is stored in the vault, the token is not.",
    "Please enter your password:",
    'password = input("Enter password: ")',
    'raise ValueError("invalid token: " + token)',
    "Password: required",
    '"password": "string"',
    '{"type": "password", "name": "password"}',
    "max_tokens=4096, token_count: 1234",
    "input tokens: 1523, output tokens: 88",
    "eos_token = '<|endoftext|>'",
    "next_page_token: null",
    "git checkout 3f786850e387550fdab836ed7e6dc881de23001b",
    "commit 89e6c98d92887913cadf06b2adb97f26cde4849b",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "md5 5d41402abc4b2a76b9719d911017c592  file.txt",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "PWD=/home/me/project",
    "OLDPWD=/tmp/a1b2c3d4",
    "https://example.com/a?b=c&d=e#f",
    "http://localhost:8080/path@version",
    "git@github.com:user/repo.git",
    "mailto:someone@example.com",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
    "-----BEGIN CERTIFICATE-----",
    '-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----',
    'if "-----BEGIN PRIVATE KEY-----" in text:',
    "<input type=\"password\" name=\"pw\">",
    "primary_key=True, foreign_key='user.id'",
    "cache_key = f'{user}:{page}'",
    "for key, value in config.items():",
    "sort(key=lambda pair: pair[1])",
    'headers = {"Authorization": f"Bearer {token}"}',
    "Authorization: Bearer <token>",
    "Basic authentication is not Bearer authentication.",
    "docker run -p 8080:80 nginx",
    "mysql -u root -p < dump.sql",
    "curl -u $USER:$PASS https://example.com",
    "pip install passlib python-secrets tokenizers",
    "usage: deploy --password PASSWORD --token TOKEN",
    "Use --password to set one, or --token for a token.",
    "the tests passed: 12, failed: 0, pass: 12",
    "sk-learn task-runner risk-assessment-of-a-very-long-name",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO",
    "password_hash = bcrypt.hashpw(password, salt)",
    "secret_name: my-app-secret",
    "secretKeyRef:\n  name: db\n  key: password",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "PASSWORD_MIN_LENGTH = 12",
    "assert response.json()['token'] is not None",
    "Set-Cookie headers are not shown.",
    "x = npm_config_registry; hf_hub_download(); sk_learn_test()",
    "00000000-0000-0000-0000-000000000000 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
]  # fmt: skip
"""Lines that must come through untouched."""
