"""Secrets: which files and words of a script contain one, so that it can be followed to where it is sent."""

from __future__ import annotations

from functools import lru_cache

import re2

from ...core import late_pattern
from ..file_kinds import kinds_of
from ..wordlist import name_set
from .model import Command, KnownFile

SECRET, ENVIRONMENT, EVERYTHING = "a-secret", "environment", "everything"
"""Marks among the programs of a pipe: a secret, the whole environment, and all files of a project or rows of a
database."""

MARKS = frozenset((SECRET, ENVIRONMENT, EVERYTHING))

MAX_PATH = 256
"""Characters; a longer path is not a secret file."""

UNREVEALING = name_set(
    """wc sha256sum sha1sum sha512sum md5sum cksum b2sum shasum ls stat test [ chmod chown rm mv file touch mkdir du df
    rmdir ln cd git ssh ssh-add ssh-keygen docker podman kubectl helm source . export dotenv docker-compose find diff
    cmp openssl aws terraform ansible ansible-playbook gcloud az psql mysql npm yarn pnpm pip uv poetry make pytest node
    python ruby perl php bash sh zsh which type command"""
)
"""Programs that use a file with a secret, or report something about it, without showing it."""

NAMING = name_set("echo printf curl wget test [")
"""Programs whose arguments are not file names."""

_FILES = re2.Set.SearchSet()
_FILES.Add(
    r"(?i)(?:^|/)(?:\.env(?:\.[\w-]+)?|\.envrc|\.npmrc|\.netrc|\.pgpass|\.pypirc|\.htpasswd|\.dockercfg"
    r"|(?:id_(?:rsa|dsa|ecdsa|ed25519)|.*[._-](?:rsa|private|priv)(?:key)?)(?:\.pem|\.key)?|.*private.?key.*|[^/]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ovpn)"
    r"|credentials?(?:\.(?:json|ya?ml|ini|csv|txt|db))?|secrets?(?:\.(?:json|ya?ml|ini|env|txt|toml))?|service.?account[^/]*\.json|client.?secret[^/]*\.json"
    r"|passwords?(?:\.(?:txt|csv|db|kdbx))|wallet\.(?:dat|json)|terraform\.tfstate(?:\.backup)?|master\.key|shadow|keyring[^/]*|cookies\.sqlite"
    r"|vault.?token|\.ssh(?:/.*)?|\.aws(?:/.*)?|\.gnupg(?:/.*)?|\.kube(?:/.*)?|\.docker/config\.json|\.config/gcloud(?:/.*)?|\.azure(?:/.*)?|\.password-store(?:/.*)?)\*?$"
)
_FILES.Compile()
"""Names of files that contain secrets."""

_PUBLIC = late_pattern(
    r"(?i)\.pub\Z|example|sample|template|\.dist\Z|known_hosts|\.ssh/config\Z|\.test\Z|public|\.aws/config\Z"
)

_MARKED = late_pattern(r"[$<]\([^()]*\b(a-secret|environment|everything)\b[^()]*\)")
_VARIABLE = late_pattern(
    r"\$\{?(?:[A-Z0-9_]{0,64}(?:SECRET_ACCESS_KEY|PRIVATE_KEY|SECRET_KEY|DATABASE_URL|SSH_KEY|MASTER_KEY))\}?"
)


SECRET_VARIABLE = late_pattern(
    r"(?:^|_)(?:\w*KEY|\w*TOKEN|SECRETS?|PASS(?:WORD|WD|PHRASE)?|CREDENTIALS?|CREDS?)(?:_|\Z)"
)
"""The name of a variable that holds a secret."""

STORES = name_set(
    """kubectl oc aws gcloud az vault bao op pass gopass bw rbw lpass doppler infisical chamber security secret-tool gh
    glab heroku fly flyctl vercel netlify docker git gpg keyring keychain gsettings terraform tofu pulumi helm sops
    doctl npm consul credstash 1password keepassxc-cli dotenvx wrangler supabase railway ansible-vault"""
)
"""Programs that can print a secret."""

_PRINTED = late_pattern(
    r"(?i)(?:^|[\s/_.:-])(?:secrets?|passwords?|passwd|tokens?|credentials?|credential|access-keys?|private-keys?|secret-keys?|otp"
    r"|get-secret-value|print-access-token|generic-password|export-secret\S*|fill|decrypt|-d|get-parameters?\S*|kv)(?:$|[\s/_.:=-])"
)
_ASKED = late_pattern(
    r"(?i)(?:^|[\s-])(?:get\S*|show\S*|print\S*|read|view|export\S*|dump\S*|describe|cat|find-\S+|lookup|fetch|download|reveal|token|fill"
    r"|decrypt|-d|config|output|status|list|ls|secrets|pull)(?:$|\s)"
)


DUMPING = name_set("pg_dump pg_dumpall mysqldump mariadb-dump mongodump mongoexport pg_basebackup dumpdata expdp bcp")
PACKING = name_set("tar gtar bsdtar zip 7z 7za cpio git rsync restic borg")
WHOLE = frozenset((".", "./", "*", "..", "~", "~/", "/", "./*", "--all"))
CLIPBOARD = name_set("pbpaste xclip xsel wl-paste Get-Clipboard")
TAKING = DUMPING | PACKING | CLIPBOARD


def everything_of(command: Command) -> str:
    """The mark of a program that prints or packs a whole project or database, or the clipboard; otherwise empty."""
    program, args = command.program, command.args
    if program not in TAKING and "--rdb" not in args:
        return ""
    if program in DUMPING or "--rdb" in args:
        return EVERYTHING
    if program in CLIPBOARD:
        return SECRET
    if program in PACKING and not WHOLE.isdisjoint(args):
        return EVERYTHING if program != "git" or args[:1] in (("bundle",), ("archive",)) else ""
    if program == "git" and args[:1] == ("archive",):
        return EVERYTHING
    return ""


def prints_secret(command: Command) -> bool:
    """Whether a program that stores secrets is asked for one."""
    if command.program in ("pass", "gopass", "lpass", "rbw") and command.args:
        return True
    if command.program not in STORES:
        return False
    text = " ".join(command.args[:16])[:400]
    return _PRINTED.search(text) is not None and _ASKED.search(text) is not None


@lru_cache(2048)
def is_secret_file(path: str) -> bool:
    """Whether a file's name says that it contains a secret."""
    if len(path) > MAX_PATH or _PUBLIC.search(path):
        return False
    if _FILES.Match(path.encode("utf-8", "replace")):
        return True
    kinds = kinds_of(path)
    return "credential" in kinds or "dotenv" in kinds


def secret_in(path: str, file: KnownFile) -> str:
    """The mark of the secret in a file, by the text written to it or by its name."""
    return file.secret or (SECRET if is_secret_file(path) else "")


def secret_of(sources: tuple[str, ...]) -> str:
    """The mark of the secret that went into a pipe."""
    return next((name for name in sources if name in MARKS), "")


def secret_word(word: str) -> str:
    """The mark of the secret in a word: from a substitution, or from a variable whose name says so."""
    if "(" in word and (found := _MARKED.search(word)) is not None:
        return found[1]
    return SECRET if "$" in word and _VARIABLE.search(word) else ""
