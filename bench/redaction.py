"""What redaction finds and what it leaves alone: 400 made-up secrets, 2,000 ordinary lines.

Example: python bench/redaction.py [--list]
"""

# ruff: noqa: E501  (one case a line)

from __future__ import annotations

import random
import string
import sys
from collections.abc import Callable
from pathlib import Path

from interlock.redact import redact_text, redact_tree

NOTES = (
    "Recall is the share of secrets of which nothing is left; precision the share of changed texts that held one. "
    "The secrets are made up, in the ways in which tools, files and people write them; the ordinary lines are this "
    "repository's own code and pages, and lines that speak of passwords, keys and tokens without having one."
)

SECRETS, ORDINARY = 400, 2_000
HERE = Path(__file__).resolve().parents[1]

Make = Callable[[random.Random], str]


def word(chance: random.Random, letters: str, low: int, high: int) -> str:
    return "".join(chance.choice(letters) for _ in range(chance.randint(low, high)))


def token(chance: random.Random) -> str:
    """Letters and digits, at least one of each."""
    return f"{word(chance, string.ascii_letters, 6, 12)}{chance.randint(10, 99)}{word(chance, string.ascii_letters + string.digits, 8, 20)}"


def hexed(chance: random.Random) -> str:
    return word(chance, "0123456789abcdef", 32, 32)


def aws(chance: random.Random) -> str:
    return word(chance, string.ascii_letters + string.digits + "/+", 39, 39) + "7"


def password(chance: random.Random) -> str:
    return f"{chance.choice(WORDS)}{chance.choice('-!_.')}{chance.choice(WORDS)}{chance.randint(10, 9999)}"


def plain(chance: random.Random) -> str:
    return chance.choice(WORDS) + chance.choice(WORDS)


WORDS = [
    "otter",
    "maple",
    "crimson",
    "basalt",
    "kettle",
    "juniper",
    "harbor",
    "velvet",
    "tundra",
    "saffron",
    "quartz",
    "falcon",
    "meadow",
    "ember",
]

TEXTS: tuple[tuple[str, Make], ...] = (
    ("export DB_PASSWORD={}", password), ("password = '{}'", password), ("db.password: {}", password),
    ("aws_secret_access_key = {}", aws), ("profile default aws_secret_access_key: {} region eu-west-1", aws),
    ('encryption.key = "{}"', hexed), ("db.internal:5432:shop:app:{}", password), ("localhost:5432:*:me:{}", plain),
    ("bot token 123456789:AA{}", lambda c: word(c, string.ascii_letters + string.digits + "_-", 33, 33)),
    ("MY_SERVICE_CRED={}", token), ("api key   :   {}", token), ("Passwort: {}", password), ("mot de passe : {}", password),
    ("password=\x1b[31m{}\x1b[0m", password), ("password=\\\n{}", password), ("PASSWORD_DB={}", plain),
    ("const dbPasswordProd = '{}'", password), ("apiKeyLive: '{}',", token), ("password:\n  {}", password),
    ("api_key:\n    {}", token), ("Authorization: Bearer {}", token), ("curl -u admin:{} https://api.example.com", password),
    ("postgres://app:{}@db.internal/shop", password), ("mysql -u root -p{} shop", password),
    ("ghp_{}", lambda c: word(c, string.ascii_letters + string.digits, 36, 36)),
    ("AKIA{}", lambda c: word(c, string.ascii_uppercase + string.digits, 16, 16)),
    ("sk-ant-api03-{}", lambda c: word(c, string.ascii_letters + string.digits, 40, 60)),
    ("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", lambda c: word(c, string.ascii_letters + string.digits, 64, 64)),
    ("machine api.example.com login me password {}", password), ("SECRET_KEY='{}'", token),
    ("client_secret={}&grant_type=client_credentials", token), ("Set-Cookie: session={}; HttpOnly", token),
    ("--api-key {}", token), ("docker login -u me -p {}", password), ("X-Api-Key: {}", token),
    ("SLACK_WEBHOOK=https://hooks.slack.com/services/T00000000/B00000000/{}", lambda c: word(c, string.ascii_letters + string.digits, 24, 24)),
    ("The admin password is {}", password), ("login with password {} please", password), ("token: {}", token),
    ("STRIPE=sk_live_{}", lambda c: word(c, string.ascii_letters + string.digits, 24, 24)), ("REDIS_AUTH={}", token),
    ("Kennwort={}", password), ("contraseña: {}", password), ("jwt.signing-key={}", hexed),
    ("spring.datasource.password={}", password), ("ADMIN_PW={}", password), ("  pass: {}", password),
    ("vault write secret/db password={}", password), ('{{"privateKey": "{}"}}', hexed), ("accessToken = \"{}\"", token),
    ("BASIC_AUTH_PASS={}", password), ("sshpass -p {} ssh me@web", password), ("HMAC secret {}", hexed),
    ("GITLAB_TOKEN=glpat-{}", lambda c: word(c, string.ascii_letters + string.digits, 20, 20)),
    ("access_token={}", token), ("npm config set //registry.example.com/:_authToken={}", token),
    ("DATABASE_URL=mysql://u:{}@h:3306/d", password), ("passphrase: {}", password), ("PGPASSWORD={} psql", password),
    ("wifi psk={}", password), ("SNMP community string: {}", token), ("TLS_CERT_PASSPHRASE={}", password),
)  # fmt: skip

TREES: tuple[tuple[Callable[[str], object], Make], ...] = (
    (lambda secret: {"password": secret}, password),
    (lambda secret: {"headers": {"Authorization": f"Bearer {secret}"}}, token),
    (lambda secret: ["DB_HOST", "db", "DB_PASSWORD", secret], password),
    (lambda secret: [{"name": "API_TOKEN", "value": secret}], token),
    (lambda secret: {"env": [f"SECRET_KEY={secret}"]}, token),
    (lambda secret: ["user", "me", "password", secret, "host", "db"], password),
    (lambda secret: {"command": "mysql", "args": ["-u", "root", f"-p{secret}"]}, password),
    (lambda secret: {"dbPasswordProd": secret}, password),
)

TALK = (
    "The password must have at least {} characters.", "max_tokens={}", "input_tokens: {}", "token_count = {}",
    "Enter your password:", "def check_password(user, password):", "    password = getpass.getpass()",
    "if not secret: raise ValueError('no secret given')", "tokens per second: {}",
    "API key is missing; see docs/keys.md", "password_hash = hash_password(password)", "export TOKEN=$CI_JOB_TOKEN",
    "api_key=os.environ['API_KEY']", "secrets: inherit", "key: value", "primary_key=True", "foreign_key=user.id",
    "sort_key = {}", "cache_key: user:{}", "the secret to a good test is a name",
    "PASSED tests/test_tokens.py::test_{}", "auth: required", "password: str", "  - name: DB_PASSWORD",
    "    valueFrom: secretKeyRef", "token = tokenizer.next()", "next_token: null", "git commit -m 'Rotate the api key'",
    "Authentication failed for user 'me'", "commit 3f786850e387550fdab836ed7e6dc881de2300{}",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f0{}",
    "uuid 123e4567-e89b-12d3-a456-4266141740{}", "http://localhost:8080/reset-password?step={}",
    "SELECT password FROM users WHERE id = {}", "<input type=\"password\">", "keyboard shortcuts: ctrl+{}",
    "error: invalid token at line {}", "unexpected token '}}' in JSON at position {}", "pass {} fail 0",
    "12:30:45 worker-{} started", "localhost:5432 - accepting connections", "drwxr-xr-x {} me me 4096 src",
    "loss: 0.{} accuracy: 0.93", "monkey = Monkey()", "turkey: 3", "donkey=on", "passport: checked", "compass=north",
    "author: Jane Doe", "authority = 'example.com'", "credential helper: store", "no credentials found", "hotkey={}",
)  # fmt: skip


def secrets(chance: random.Random) -> list[tuple[object, str]]:
    """Texts and values with a secret each."""
    found: list[tuple[object, str]] = []
    kinds = len(TEXTS) + len(TREES)
    for at in range(SECRETS):
        kind = at % kinds
        if kind < len(TEXTS):
            form, make = TEXTS[kind]
            secret = make(chance)
            found.append((form.format(secret), secret))
        else:
            build, make = TREES[kind - len(TEXTS)]
            secret = make(chance)
            found.append((build(secret), secret))
    return found


def ordinary(chance: random.Random) -> list[str]:
    """Lines without a secret."""
    files = [*sorted((HERE / "src").rglob("*.py")), *sorted((HERE / "docs").glob("*.md"))]
    lines = sorted({line.strip() for path in files for line in path.read_text().splitlines() if len(line.strip()) > 8})
    lines = [line for line in lines if "redact" not in line and "evil" not in line]
    talk = [form.format(chance.randint(10, 99)) for form in TALK for _ in range(16)]
    return [*chance.sample(lines, ORDINARY - len(talk)), *talk]


def evaluate() -> tuple[list[tuple[object, str]], list[str]]:
    """The secrets that were missed, and the ordinary lines that were touched."""
    chance = random.Random(7)
    missed = [(text, secret) for text, secret in secrets(chance) if secret in str(redacted(text))]
    touched = [line for line in ordinary(chance) if redact_text(line) != line]
    return missed, touched


def redacted(value: object) -> object:
    return redact_text(value) if isinstance(value, str) else redact_tree(value)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    missed, touched = evaluate()
    found = SECRETS - len(missed)
    rows = [
        [f"secrets found, of {SECRETS}", str(found), f"{found / SECRETS:.1%}", "at least 97%"],
        [
            f"ordinary lines redacted, of {ORDINARY:,}",
            str(len(touched)),
            f"{len(touched) / ORDINARY:.2%}",
            "at most 0.5%",
        ],
        ["precision", "", f"{found / (found + len(touched)):.1%}", ""],
    ]
    return "Redaction", ["measurement", "count", "share", "goal"], rows


def main() -> None:
    from table import as_markdown

    print(as_markdown(*measure(), NOTES))
    if "--list" in sys.argv[1:]:
        missed, touched = evaluate()
        for text, secret in missed:
            print("missed ", repr(text), secret)
        for line in touched:
            print("touched", repr(line), "->", repr(redact_text(line)))


if __name__ == "__main__":
    main()
