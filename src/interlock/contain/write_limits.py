"""Where a contained run may write: its workspace and what its tools need; and what a fence hides."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from ..core import read_small, write_whole
from .protected_paths import RealPaths, every_home, homes, is_there

API_PORT, EGRESS_PORT = 47_811, 47_812
"""Ports of the model's API and of the egress proxy in the agent's network namespace."""

TEMPORARY = ("/tmp", "/var/tmp")

CLIENTS = {
    ("claude", "claude-code"): (".claude", ".claude.json", ".local/share/claude", ".local/state/claude"),
    ("codex",): (".codex",),
    ("gemini", "gemini-cli"): (".gemini",),
    ("opencode", "opencode-ai"): (".config/opencode", ".local/share/opencode", ".local/state/opencode"),
    ("aider",): (".aider", ".aider.conf.yml", ".aider.chat.history.md", ".aider.input.history"),
    ("goose",): (".config/goose", ".local/share/goose", ".local/state/goose"),
    ("qwen",): (".qwen",),
    ("cursor-agent",): (".cursor", ".config/cursor", ".local/share/cursor-agent"),
}
"""State of agent clients, by the names of their programs and packages."""

TOOLS = {
    "npm": (".npm", ".config/configstore"), "yarn": (".yarn",), "pnpm": (".local/share/pnpm", ".local/state/pnpm"),
    "bun": (".bun/install",), "deno": (".deno",), "cargo": (".cargo/registry", ".cargo/git", ".rustup/tmp"),
    "go": ("go/pkg", ".config/go"), "gradle": (".gradle",), "mvn": (".m2",), "ivy": (".ivy2",), "sbt": (".sbt",),
    "dotnet": (".nuget", ".dotnet"), "kotlinc": (".konan",), "adb": (".android",), "uv": (".local/share/uv",),
    "mise": (".local/share/mise",), "virtualenv": (".local/share/virtualenv",), "kubectl": (".kube/cache",),
    "aws": (".aws/cli/cache", ".aws/sso/cache"), "gcloud": (".config/gcloud",), "az": (".azure",),
}  # fmt: skip
"""Caches and stores of tools, by program. `~/.cache` belongs to all of them."""

LOCKS = (".cargo/.package-cache", ".cargo/.package-cache-mutate", ".cargo/.global-cache")

VARIABLES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CACHE_HOME", "npm_config_cache", "PIP_CACHE_DIR",
             "UV_CACHE_DIR", "GOCACHE", "GOMODCACHE", "CARGO_TARGET_DIR")  # fmt: skip
"""Variables that name such a folder."""

CLIENT_SETTINGS = (
    ".claude/settings.json", ".claude/settings.local.json", ".claude/hooks", ".claude/commands", ".claude/agents",
    ".claude/skills", ".claude/plugins", ".claude/CLAUDE.md", ".codex/config.toml", ".codex/AGENTS.md",
    ".codex/prompts", ".gemini/settings.json", ".gemini/extensions", ".gemini/commands",
    ".config/opencode/opencode.json", ".config/opencode/plugin", ".config/opencode/AGENTS.md", ".aider.conf.yml",
)  # fmt: skip
TOOL_SETTINGS = (".gradle/init.d", ".gradle/init.gradle", ".gradle/gradle.properties", ".m2/settings.xml",
                 ".sbt/1.0/plugins", ".dotnet/tools", ".config/go/env")  # fmt: skip
"""Files inside of these that start programs, or change what they do, in the next session outside: read-only."""

URLS = ("url", "pushurl")

RUNS_LATER = (".git/hooks", ".envrc", ".mcp.json", ".vscode/tasks.json", ".claude/settings.json",
              ".claude/hooks", ".codex/config.toml", ".gemini/settings.json", ".cursor/mcp.json")  # fmt: skip
"""Files of a workspace that run outside by themselves: read-only where they exist."""

SECRETS = (
    ".ssh", ".aws", ".azure", ".config/gcloud", ".kube", ".docker", ".config/containers", ".gnupg", ".password-store",
    ".netrc", ".git-credentials", ".config/git/credentials", ".config/gh", ".config/hub", ".config/glab-cli", ".pypirc",
    ".npmrc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".terraform.d", ".vault-token",
    ".pgpass", ".my.cnf", ".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium",
    ".config/BraveSoftware", ".config/microsoft-edge", ".local/share/keyrings", ".local/share/kwalletd", ".config/op",
    ".config/Bitwarden", ".bash_history", ".zsh_history", ".python_history",
)  # fmt: skip
SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/ssl/private", "/var/lib/sss/secrets", "/etc/krb5.keytab")

UNUSED = {
    (): (".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
         ".config/microsoft-edge", ".local/share/keyrings", ".local/share/kwalletd", ".password-store", ".config/op",
         ".config/Bitwarden", ".env"),
    ("kubectl", "helm", "k9s"): (".kube/config",), ("docker", "podman", "skopeo"): (".docker/config.json",),
    ("gh",): (".config/gh",), ("glab",): (".config/glab-cli",), ("twine", "uv"): (".pypirc",), ("mysql",): (".my.cnf",),
    ("vault",): (".vault-token",), ("gem",): (".gem/credentials",), ("claude",): (".claude/.credentials.json",),
    ("codex",): (".codex/auth.json",), ("gemini",): (".gemini/oauth_creds.json",),
    ("opencode",): (".local/share/opencode/auth.json",),
}  # fmt: skip
"""Secrets that guard hides from a limited run, unless one of these tools is installed."""

SECRET_VARIABLES = ("SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                    "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "NPM_TOKEN", "DISPLAY",
                    "WAYLAND_DISPLAY")  # fmt: skip
"""Variables that are a secret, or refer to one or to what is hidden."""


XDG = {".config": "XDG_CONFIG_HOME", ".local/share": "XDG_DATA_HOME", ".local/state": "XDG_STATE_HOME"}

NO_STATE = b"{}\n"


class WriteLimits(Struct, frozen=True, kw_only=True):
    """Where a run may write: `write` is writable, except for `fixed`; the rest of the machine is read-only.

    `temporary` is the run's own /tmp, if it has one. A `fenced` run does not see what is `hidden`, nor a network.
    """

    write: tuple[Path, ...]
    fixed: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    temporary: Path | None = None
    fenced: bool = False


def limit_writes(
    workspaces: tuple[Path, ...], write: tuple[str, ...], *, temporary: Path | None = None, fenced: bool = False,
    hide: tuple[str, ...] = (),
    show: tuple[str, ...] = (),
) -> WriteLimits:  # fmt: skip
    """The limits of a run in these workspaces. What a person named in `write` is neither read-only nor hidden."""
    given = tuple(Path(os.path.realpath(Path(path).expanduser())) for path in write)
    own = [path for home in homes() for name in _state() for path in _places(home, name)]
    named = (*VARIABLES, *(() if fenced else ("XDG_RUNTIME_DIR",)), *(() if temporary is not None else ("TMPDIR",)))
    own += [Path(value) for name in named if (value := os.environ.get(name, "")).startswith("/")]
    shared = () if temporary is not None else (*map(Path, TEMPORARY), Path("/dev/shm"))
    repositories = [path for folder in workspaces for path in repository_paths(folder)]
    settings = (*CLIENT_SETTINGS, *TOOL_SETTINGS)
    fixed = [path for home in homes() for name in settings for path in _places(home, name)]
    fixed += [folder / name for folder in (*workspaces, *repositories) for name in RUNS_LATER]
    for folder in repositories:
        fixed += [folder / "hooks", *folder.glob("modules/*/hooks"), *folder.glob(".git/modules/*/hooks")]
        # Of a repository that is pushed to; the settings of a work tree's own are often written.
        fixed += [folder / "config"] if (folder / "HEAD").is_file() and folder.name != ".git" else []
    secrets = [Path(path).expanduser() for path in hide]
    if fenced:
        secrets += [*(home / name for home in every_home() for name in SECRETS), *map(Path, SYSTEM_SECRETS)]
    else:
        secrets += _unused_secrets(workspaces)
    real = RealPaths()
    shown = (*given, *(Path(os.path.realpath(Path(path).expanduser())) for path in show))
    return WriteLimits(
        write=tuple(real.resolve((*shared, *own, *given, *workspaces, *repositories))),
        fixed=tuple(path for path in real.resolve(fixed) if path not in given),
        hidden=tuple(path for path in real.resolve(secrets) if path not in shown),
        temporary=temporary,
        fenced=fenced,
    )


def _unused_secrets(workspaces: tuple[Path, ...]) -> Iterable[Path]:
    """Secrets that no tool of the run needs."""
    for home in homes():
        for programs, names in UNUSED.items():
            if not any(map(_is_installed, programs)):
                yield from (home / name for name in names)
        if is_there(Path(os.environ.get("SSH_AUTH_SOCK") or "/nowhere")):
            yield from (path for path in (home / ".ssh").glob("id_*") if path.suffix != ".pub")
    for folder in workspaces:
        # Of the projects beside it.
        yield from (path for path in folder.parent.glob("*/.env") if path.parent != folder)


def make_state(argv: tuple[str, ...]) -> tuple[Path, ...]:
    """Create the missing state folders of installed tools, and of the client in this command: a sandbox opens only
    what exists. Returns what is new, outer folders first, for `remove_unused`."""
    named = {name for word in argv[:4] if (name := Path(word).name.rpartition("@")[0] or Path(word).name)}
    wanted = [".cache"]
    for programs, names in CLIENTS.items():
        folders = [name for name in names if not Path(name).suffix]
        wanted += folders if named & {*programs} or _is_installed(programs[0]) else []
    for program, names in TOOLS.items():
        wanted += names if _is_installed(program) else ()
    made: list[Path] = []
    for home in homes()[:1]:
        with contextlib.suppress(OSError):
            for path in (path for name in wanted for path in _places(home, name)):
                missing = [folder for folder in (path, *path.parents) if not is_there(folder)]
                for folder in reversed(missing):
                    folder.mkdir()
                    made.append(folder)
            if (home / ".claude").is_dir() and not is_there(home / ".claude.json"):
                write_whole(home / ".claude.json", NO_STATE)
                made.append(home / ".claude.json")
    return tuple(made)


def remove_unused(made: tuple[Path, ...]) -> None:
    """Remove what `make_state` created and nothing has used."""
    for path in reversed(made):
        with contextlib.suppress(OSError):
            if path.is_dir():
                path.rmdir()
            elif read_small(path) == NO_STATE:
                path.unlink()


def missing_settings() -> tuple[Path, ...]:
    """Settings of agent clients that do not exist yet but can be created: they start programs outside later."""
    wanted = [home / name for home in homes() for name in CLIENT_SETTINGS]
    return tuple(path for path in wanted if not is_there(path) and is_there(path.parent))


def repository_paths(folder: Path) -> tuple[Path, ...]:
    """What git writes for a work tree in this folder: its top level, the git folder of a worktree or submodule, and
    bare repositories on this machine that it pushes to.

    Not where the repository is a home or above one, nor a git folder that does not name this work tree in turn: the
    file `.git` may be anybody's.
    """
    for top in (folder, *folder.parents):
        if any(home.is_relative_to(top) for home in homes()):
            return ()
        git = top / ".git"
        if git.is_dir():
            return (top, *_local_remotes(git))
        if git.is_file():
            return (top, *(path for found in _git_folders(git) for path in (found, *_local_remotes(found))))
    return ()


def _git_folders(file: Path) -> tuple[Path, ...]:
    """The git folder that this file `.git` names, or the one that it shares with other work trees."""
    with contextlib.suppress(OSError, ValueError):
        word, _, name = read_small(file).decode().strip().partition(" ")
        private = (file.parent / name).resolve()
        if word != "gitdir:" or not (private / "HEAD").is_file():
            return ()
        if (private / "gitdir").is_file():
            back = Path(read_small(private / "gitdir").decode().strip())
            common = (private / read_small(private / "commondir").decode().strip()).resolve()
            return (common,) if (private / back).resolve() == file.resolve() else ()
        if any((parent / ".git" / "modules").resolve() in private.parents for parent in file.parent.parents):
            return (private,)
    return ()


def _local_remotes(git: Path) -> tuple[Path, ...]:
    with contextlib.suppress(OSError, ValueError):
        lines = (line.strip() for line in read_small(git / "config").decode().splitlines())
        urls = [value.strip() for line in lines for word, _, value in [line.partition("=")] if word.strip() in URLS]
        paths = [Path(url.removeprefix("file://")) for url in urls if url.startswith(("/", "file:///"))]
        return tuple(path for path in paths if (path / "HEAD").is_file() and (path / "objects").is_dir())
    return ()


def _places(home: Path, name: str) -> Iterable[Path]:
    """Where this folder of a home is: the desktop's variables may put it elsewhere."""
    yield home / name
    for usual, variable in XDG.items():
        if name.startswith(f"{usual}/") and (value := os.environ.get(variable, "")).startswith("/"):
            yield Path(value, name.removeprefix(f"{usual}/"))


def _state() -> Iterable[str]:
    """State folders of clients and tools below a home."""
    for names in (*CLIENTS.values(), *TOOLS.values(), LOCKS):
        yield from names
    yield ".cache"


def _is_installed(program: str) -> bool:
    return any(os.access(f"{folder}/{program}", os.X_OK) for folder in os.environ.get("PATH", "").split(os.pathsep))
