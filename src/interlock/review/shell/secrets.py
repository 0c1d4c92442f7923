"""Secrets: which files and words of a script hold one, so that it can be followed to where it is sent."""

from __future__ import annotations

from functools import lru_cache

import re2

from ...core import late_pattern
from ..file_kinds import kinds_of
from ..wordlist import name_set
from .model import KnownFile

SECRET, ENVIRONMENT = "a-secret", "environment"
"""Stand among the programs of a pipe for a secret, and for all variables of the environment."""

MARKS = frozenset((SECRET, ENVIRONMENT))

MAX_PATH = 256
"""Characters; what is longer names no secret."""

UNREVEALING = name_set(
    """wc sha256sum sha1sum sha512sum md5sum cksum b2sum shasum ls stat test [ chmod chown rm mv file touch mkdir du df
    rmdir ln cd git ssh ssh-add ssh-keygen docker podman kubectl helm source . export dotenv docker-compose find diff
    cmp openssl aws terraform ansible ansible-playbook gcloud az psql mysql npm yarn pnpm pip uv poetry make pytest node
    python ruby perl php bash sh zsh which type command echo printf"""
)
"""Programs that use a file with a secret, or say something about it, without showing it."""

NAMING = name_set("echo printf curl wget test [")
"""Programs whose words are not the names of files."""

_FILES = re2.Set.SearchSet()
_FILES.Add(
    r"(?i)(?:^|/)(?:\.env(?:\.[\w-]+)?|\.envrc|\.npmrc|\.netrc|\.pgpass|\.pypirc|\.htpasswd|\.dockercfg"
    r"|(?:id_(?:rsa|dsa|ecdsa|ed25519)|.*[._-](?:rsa|private|priv)(?:key)?)(?:\.pem|\.key)?|.*private.?key.*|[^/]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ovpn)"
    r"|credentials?(?:\.(?:json|ya?ml|ini|csv|txt|db))?|secrets?(?:\.(?:json|ya?ml|ini|env|txt|toml))?|service.?account[^/]*\.json|client.?secret[^/]*\.json"
    r"|passwords?(?:\.(?:txt|csv|db|kdbx))|wallet\.(?:dat|json)|terraform\.tfstate(?:\.backup)?|master\.key|shadow|keyring[^/]*|cookies\.sqlite"
    r"|vault.?token|\.ssh(?:/.*)?|\.aws(?:/.*)?|\.gnupg(?:/.*)?|\.kube(?:/.*)?|\.docker/config\.json|\.config/gcloud(?:/.*)?|\.azure(?:/.*)?|\.password-store(?:/.*)?)\*?$"
)
_FILES.Compile()
"""Names of files that hold secrets."""

_PUBLIC = late_pattern(
    r"(?i)\.pub\Z|example|sample|template|\.dist\Z|known_hosts|\.ssh/config\Z|\.test\Z|public|\.aws/config\Z"
)

_MARKED = late_pattern(r"[$<]\([^()]*\b(a-secret|environment)\b[^()]*\)")
_VARIABLE = late_pattern(
    r"\$\{?(?:[A-Z0-9_]{0,64}(?:SECRET_ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|DATABASE_URL|SSH_KEY|MASTER_KEY))\}?"
)


@lru_cache(2048)
def is_secret_file(path: str) -> bool:
    """Whether a file's name says that it holds a secret."""
    if len(path) > MAX_PATH or _PUBLIC.search(path):
        return False
    if _FILES.Match(path.encode("utf-8", "replace")):
        return True
    kinds = kinds_of(path)
    return "credential" in kinds or "dotenv" in kinds


def secret_in(path: str, file: KnownFile) -> str:
    """The mark of the secret that a file holds, by what was written into it or by its name."""
    return file.secret or (SECRET if is_secret_file(path) else "")


def secret_of(sources: tuple[str, ...]) -> str:
    """The mark of the secret that went into a pipe."""
    return next((name for name in sources if name in MARKS), "")


def secret_word(word: str) -> str:
    """The mark of a secret that a word carries: what a substitution gave, or a variable whose name says so."""
    if "(" in word and (found := _MARKED.search(word)) is not None:
        return found[1]
    return SECRET if "$" in word and _VARIABLE.search(word) else ""
