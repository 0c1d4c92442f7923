"""File kinds: the kinds of file that a path names, wherever it is."""

from __future__ import annotations

from collections.abc import Iterable

import re2

from ..core import late_pattern


def any_of(before: str, fragments: str, after: str) -> str:
    """A regular expression of three parts; the middle one matches any of the space-separated fragments."""
    return f"{before}(?:{'|'.join(fragments.split())}){after}"


KINDS: dict[str, str] = {
    "device": any_of(
        r"(?i)\A/dev/",
        r"""
        sd[a-zX] hd[a-z] vd[a-z] xvd[a-z] nvme mmcblk disk rdisk mapper/ md\d dm- loop sr\d vg zd nbd block mem\b kmem
        port\b \$
        """,
        r"|\A\\\\\.\\physicaldrive",
    ),
    "credential": any_of(
        "(?:^|/)",
        r"""
        \.ssh/(?:id_[\pL\pN_-]+|identity|[\pL\pN_-]+_rsa|[\pL\pN_-]+\.pem) \.ssh \.gnupg(?:/.*)?
        \.aws/(?:credentials|sso/.*) \.azure/\w*(?:token|profile)\S*
        \.config/gcloud(?:/.*(?:credentials|token)\S*)? \.kube/config
        \.docker/config\.json \.netrc _netrc \.pgpass \.my\.cnf \.git-credentials \.pypirc \.vault-token
        \.config/gh/hosts\.yml \.terraform\.d/credentials\S* \.password-store(?:/.*)? \.1password
        \.electrum/wallets?\S* wallet\.dat \.bitcoin \.config/op/\S+ Login.Data logins\.json key[34]\.db
        etc/(?:shadow|gshadow|shadow-|gshadow-|master\.passwd|krb5\.keytab|ssl/private/.*|ssh/ssh_host_\w+_key)
        etc/security/opasswd proc/(?:\d+|self)/environ proc/\d+/(?:mem|fd/.*|root/.*|auxv) etc/(?:wireguard|openvpn)/.*
        \.mozilla/.* \.thunderbird(?:/.*)?
        \.config/(?:google-chrome|chromium|BraveSoftware|vivaldi|microsoft-edge|opera)(?:/.*)?
        \.config/(?:Slack|discord|Signal|Telegram\S*|Bitwarden|1Password|keepassxc|rclone|hub|doctl|sops|solana|stripe|op)(?:/.*)?
        Library/(?:Keychains|Cookies|Messages|Mail)(?:/.*)?
        Library/Application.Support/(?:Google|Firefox|Slack|Signal|BraveSoftware|1Password|Bitwarden)(?:/.*)?
        \.local/share/(?:keyrings|kwalletd|TelegramDesktop)(?:/.*)? \.cargo/credentials\S* \.gem/credentials
        \.composer/auth\.json
        \.m2/settings\S*\.xml \.oci(?:/.*)? \.config/gh(?:/.*)? \.fly/config\.yml \.databrickscfg \.snowflake/.*
        \.kaggle/kaggle\.json
        \.cache/huggingface/token \.huggingface/token \.claude/\.credentials\.json \.codex/auth\.json
        \.gemini/oauth_creds\.json
        \.ethereum/keystore(?:/.*)? \.android/adbkey \.boto \.s3cfg \.passwd-s3fs \.config/atlassian\S* \.netrc\.gpg
        \.subversion/auth/.*
        """,
        r"\z",
    ),
    "dotenv": r"(?:^|/)\.env(?:\.(?:local|prod|production|staging|development|dev|test))?\z",
    "history": any_of(
        "(?:^|/)",
        r"""
        \.(?:bash|zsh|sh|ksh|ash|python|node_repl|mysql|psql|sqlite|rediscli|mongo|dbshell|irb)_?history fish_history
        ConsoleHost_history\.txt \.histfile \.zhistory \.lesshst \.viminfo
        """,
        r"\z|\A\$\{?HISTFILE\}?\z",
    ),
    "log": any_of(
        r"\A/",
        r"""
        var/(?:log|adm|mail|spool/mail|audit) Library/Logs private/var/log var/run/utmp run/log usr/adm
        """,
        r"(?:/|\z)",
    ),
    "startup": any_of(
        "(?:^|/)",
        r"""
        \.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc|cshrc|tcshrc)
        \.(?:inputrc|xinitrc|xprofile) \.config/fish/config\.fish \.ssh/authorized_keys2? \.ssh/rc
        \.config/autostart/.* \.config/systemd/.* Library/Launch(?:Agents|Daemons)/.*
        etc/(?:profile|profile\.d/.*|bash\.bashrc|rc\.local|rc\d?\.d/.*|init\.d/.*|cron\S*/.*|crontab|anacrontab)
        etc/(?:systemd/system/.*|sudoers|sudoers\.d/.*|ld\.so\.preload|pam\.d/.*|environment|inittab)
        var/spool/cron/?.* lib/systemd/system/.*
        """,
        r"\z",
    ),
    "autostart": any_of(
        r"\A(?:~\w*|/home/[^/]+|/Users/[^/]+|/root)/",
        r"""
        \.ssh/(?:authorized_keys2?|rc|environment) \.(?:xinitrc|xprofile|xsession\w*|forward|procmailrc)
        \.config/(?:autostart|systemd|environment\.d|fish/conf\.d|plasma-workspace/env)(?:/.*)?
        \.config/(?:i3|sway|hypr|openbox|bspwm|awesome)/.* \.local/share/systemd(?:/.*)?
        Library/Launch(?:Agents|Daemons)(?:/.*)?
        \.local/lib/python[^/]*/site-packages/(?:[^/]+\.pth|(?:site|user)customize\.py)
        \.config/git/(?:hooks|template)\S*
        """,
        r"\z",
    )
    + any_of(
        r"|\A/(?:private/)?",
        r"""
        etc/(?:rc\.local|rc\d?\.d|init\.d|init|cron[^/]*|anacrontab|systemd|sudoers|sudoers\.d|ld\.so\.\w+|ld\.so\.conf\.d|pam\.d)(?:/.*)?
        etc/(?:inittab|udev|modules-load\.d|modprobe\.d|profile\.d|update-motd\.d|xdg/autostart|polkit-1|NetworkManager/dispatcher\.d)(?:/.*)?
        etc/(?:apt/apt\.conf\.d|dpkg/dpkg\.cfg\.d|binfmt\.d|dbus-1/system\.d|ssh/sshrc|X11/xinit|gitconfig|shells|security)(?:/.*)?
        var/spool/cron(?:/.*)? (?:usr/)?lib/(?:systemd|udev)/.* usr/share/(?:dbus-1|polkit-1)/.*
        Library/Launch(?:Agents|Daemons)(?:/.*)?
        usr/(?:local/)?lib/python[^/]*/(?:site|dist)-packages/(?:[^/]+\.pth|(?:site|user)customize\.py)
        """,
        r"\z",
    ),
    "trust": any_of(
        r"\A/(?:private/)?",
        r"""
        etc/(?:hosts|resolv\.conf|nsswitch\.conf|hosts\.allow|hosts\.deny|krb5\.conf|ssh/(?:sshd_config|ssh_config|ssh_known_hosts)\S*)
        etc/(?:ssl/certs|pki|ca-certificates\S*|pip\.conf|npmrc)(?:/.*)?
        usr/(?:local/)?share/ca-certificates(?:/.*)? Library/Keychains/.*
        etc/(?:docker/daemon\.json|environment|proxychains\S*)
        """,
        r"\z",
    )
    + r"|\A(?:~\w*|/home/[^/]+|/Users/[^/]+|/root)/(?:\.ssh/(?:known_hosts|config)|\.pip/pip\.conf"
    r"|\.config/pip/pip\.conf|Library/Keychains/.*)\z",
    "agent": any_of(
        "(?:^|/)",
        r"""
        \.claude/(?:settings[\w.]*\.json|hooks/.*) \.claude\.json \.mcp\.json
        \.codex/(?:config\.toml|hooks\.json|rules/.*)
        \.gemini/settings\.json \.cursor/(?:mcp|hooks|cli|cli-config|permissions)\.json \.vscode/mcp\.json
        \.config/(?:goose|opencode|zed|amp|crush|github-copilot|Claude)/.*\.(?:json|ya?ml|toml) \.continue/config\.\w+
        \.aider\.conf\.yml \.qwen/settings\.json \.kiro/settings/.* \.amazonq/\S+\.json \.roo/mcp\.json
        claude_desktop_config\.json opencode\.json managed-settings\.json
        """,
        r"\z",
    ),
    "repository": r"(?:^|/)\.(?:git|hg|svn|jj)(?:/.*)?\z",
}
"""Each kind with an RE2 pattern for its paths."""


def _together(expressions: Iterable[str]) -> re2.Set:
    """All patterns compiled into one search."""
    made = re2.Set.SearchSet()
    for expression in expressions:
        made.Add(expression)
    made.Compile()
    return made


PASSING = late_pattern(
    r"/?\.git/(?:[\w./*-]*\.lock|gc\.log|(?:rebase-(?:merge|apply)|sequencer)(?:/[^/]+)?|modules/\w[\w./-]*"
    r"|worktrees/\w[^/]*)\Z"
)
"""Files that git recreates, or itself says to remove: locks, a stuck rebase, clones of submodules."""

_NAMES = tuple(KINDS)
_EVERY = _together(KINDS.values())


def kinds_of(path: str) -> set[str]:
    """The kinds of an absolute path, or of a relative one as far as possible."""
    hits = _EVERY.Match(path.encode("utf-8", "replace"))
    found = {_NAMES[hit] for hit in hits} if hits else set()
    if "repository" in found and PASSING.search(path) is not None:
        found.discard("repository")
    if path.endswith(".pub"):
        found.discard("credential")
    return found
