"""Fence: what a fenced agent may write, and which places of secrets are not there for it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from .protected_paths import every_home, homes, is_there

API_PORT, EGRESS_PORT = 47_811, 47_812
"""Where the model's API and the way out are found in the agent's own network namespace."""

TEMPORARY = ("/tmp", "/var/tmp")

CLIENT_FOLDERS = (
    ".claude", ".codex", ".gemini", ".local/share/opencode", ".local/state/opencode", ".cache", ".npm", ".bun/install",
    ".cargo/registry", ".cargo/git", "go/pkg", ".gradle/caches", ".m2/repository", ".local/share/pnpm",
)  # fmt: skip
CLIENT_FILES = (".claude.json",)
CLIENT_VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CACHE_HOME")
"""What clients and package managers keep for themselves."""

CLIENT_SETTINGS = (".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".claude/commands",
                   ".claude/agents", ".claude/plugins", ".codex/config.toml", ".gemini/settings.json",
                   ".gemini/extensions")  # fmt: skip
"""Inside of that, what starts programs in the next session outside: read-only."""

SECRETS = (
    ".ssh", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers", ".gnupg", ".password-store",
    ".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".pypirc",
    ".npmrc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d", ".vault-token",
    ".pgpass", ".my.cnf", ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
    ".config/BraveSoftware", ".config/microsoft-edge", ".local/share/keyrings", ".local/share/kwalletd", ".config/op",
    ".config/Bitwarden", ".bash_history", ".zsh_history", ".python_history",
)  # fmt: skip
SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/var/lib/sss/secrets", "/etc/krb5.keytab")

SECRET_VARIABLES = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                    "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "NPM_TOKEN", "DISPLAY",
                    "WAYLAND_DISPLAY")  # fmt: skip
"""Variables that are a secret or lead to one, or to what is not there."""


class Fence(Struct, frozen=True, kw_only=True):
    """A fence around one run: `write` can be written, `fixed` not, `hidden` is not there; `temporary` is its /tmp."""

    write: tuple[Path, ...]
    fixed: tuple[Path, ...]
    hidden: tuple[Path, ...]
    temporary: Path


def build_fence(workspaces: tuple[Path, ...], temporary: Path, write: tuple[str, ...], hide: tuple[str, ...]) -> Fence:
    """The fence of a run. What is named in `write` is never hidden."""
    given = tuple(Path(os.path.realpath(Path(place).expanduser())) for place in write)
    own = [home / name for home in homes() for name in (*CLIENT_FOLDERS, *CLIENT_FILES)]
    own += [Path(value) for name in CLIENT_VARIABLES if (value := os.environ.get(name, "")).startswith("/")]
    settings = [home / name for home in homes() for name in CLIENT_SETTINGS]
    secrets = [home / name for home in every_home() for name in SECRETS]
    secrets += [*map(Path, SYSTEM_SECRETS), *(Path(place).expanduser() for place in hide)]
    return Fence(
        write=_real((*own, *given, *workspaces)),
        fixed=_real(settings),
        hidden=tuple(path for path in _real(secrets) if path not in given),
        temporary=temporary,
    )


def missing_settings() -> tuple[Path, ...]:
    """Settings of agent clients that do not exist yet, and can be made: what they start runs outside later."""
    wanted = [home / name for home in homes() for name in CLIENT_SETTINGS]
    return tuple(path for path in wanted if not is_there(path) and is_there(path.parent))


def _real(places: Iterable[Path]) -> tuple[Path, ...]:
    found = {Path(os.path.realpath(place)) for place in places if is_there(place)}
    return tuple(sorted(found, key=lambda path: len(path.parts)))
