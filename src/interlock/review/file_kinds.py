"""File kinds: what a path names, wherever it lies."""

from __future__ import annotations

import re


def alternatives(text: str) -> str:
    """Fragments of a regular expression, written with blanks between them, as alternatives."""
    return "|".join(text.split())


def pattern(before: str, fragments: str, after: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression of three parts, the middle one any of the fragments."""
    return re.compile(f"{before}(?:{alternatives(fragments)}){after}", flags)


DEVICE = pattern(
    "/dev/",
    r"""
    sd[a-zX] hd[a-z] vd[a-z] xvd[a-z] nvme mmcblk disk rdisk mapper/ md\d dm- loop sr\d vg zd nbd block mem\b kmem
    port\b \$
    """,
    r"|\\\\\.\\physicaldrive",
    re.IGNORECASE,
)

CREDENTIAL = pattern(
    "(?:^|/)",
    r"""
    \.ssh/(?:id_[\w-]+|identity|[\w-]+_rsa|[\w-]+\.pem) \.ssh \.gnupg(?:/.*)? \.aws/(?:credentials|sso/.*)
    \.azure/\w*(?:token|profile)\S* \.config/gcloud(?:/.*(?:credentials|token)\S*)? \.kube/config
    \.docker/config\.json \.netrc _netrc \.pgpass \.my\.cnf \.git-credentials \.pypirc \.vault-token
    \.config/gh/hosts\.yml \.terraform\.d/credentials\S* \.password-store(?:/.*)? \.1password
    \.electrum/wallets?\S* wallet\.dat \.bitcoin \.config/op/\S+ Login.Data logins\.json key[34]\.db
    etc/(?:shadow|gshadow|shadow-|gshadow-|master\.passwd|krb5\.keytab|ssl/private/.*|ssh/ssh_host_\w+_key)
    etc/security/opasswd proc/(?:\d+|self)/environ
    """,
    r"\Z",
)

DOTENV = re.compile(r"(?:^|/)\.env(?:\.(?:local|prod|production|staging|development|dev|test))?\Z")

HISTORY = pattern(
    "(?:^|/)",
    r"""
    \.(?:bash|zsh|sh|ksh|ash|python|node_repl|mysql|psql|sqlite|rediscli|mongo|dbshell|irb)_?history fish_history
    ConsoleHost_history\.txt \.histfile \.zhistory \.lesshst \.viminfo
    """,
    r"\Z|\A\$\{?HISTFILE\}?\Z",
)

LOG = re.compile(
    r"/(?:var/(?:log|adm|mail|spool/mail|audit)|Library/Logs|private/var/log|var/run/utmp|run/log|usr/adm)(?:/|\Z)"
)

STARTUP = pattern(
    "(?:^|/)",
    r"""
    \.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc|tcshrc)
    \.(?:inputrc|xinitrc|xprofile) \.config/fish/config\.fish \.ssh/authorized_keys2? \.ssh/rc
    \.config/autostart/.* \.config/systemd/.* Library/Launch(?:Agents|Daemons)/.*
    etc/(?:profile|profile\.d/.*|bash\.bashrc|rc\.local|rc\d?\.d/.*|init\.d/.*|cron\S*/.*|crontab|anacrontab)
    etc/(?:systemd/system/.*|sudoers|sudoers\.d/.*|ld\.so\.preload|pam\.d/.*|environment|inittab)
    var/spool/cron/?.* lib/systemd/system/.*
    """,
    r"\Z",
)

REPOSITORY = re.compile(r"(?:^|/)\.(?:git|hg|svn|jj)(?:/.*)?\Z")

SEARCHED = (
    ("credential", CREDENTIAL),
    ("dotenv", DOTENV),
    ("history", HISTORY),
    ("startup", STARTUP),
    ("repository", REPOSITORY),
)


def kinds_of(path: str) -> set[str]:
    """The kinds of a path from the root, or of a relative one as far as it goes."""
    found = {kind for kind, pattern in SEARCHED if pattern.search(path)}
    if DEVICE.match(path):
        found.add("device")
    if LOG.match(path):
        found.add("log")
    if path.endswith(".pub"):
        found.discard("credential")
    return found
