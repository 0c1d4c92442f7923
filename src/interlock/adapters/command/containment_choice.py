"""Containment: decides at which level a run is contained on this machine, and builds the sandbox for its command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...config import Config
from ...contain import find_bubblewrap, forget_early, why_not
from ...core import BadInput, user_folder
from ...link import socket_folders

# What is needed only to build the sandbox is imported there: meanwhile the owner gets ready.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...contain import Fence
    from ...process import Enclosure
    from .terminal_foreground import Foreground

Level = Literal["off", "guard", "fence"]

LOOPBACK = "127.0.0.1"
GUARDED = "guard: the agent is isolated from its supervisor; sudo does not work"
FENCED = "fence: the agent writes only to its workspace and reaches only the hosts in contain.hosts; no sudo"


class Containment(Struct, frozen=True):
    """The level that holds, and the line that says so at the start of a run; none where off was asked for."""

    level: Level
    line: str = ""


def decide_containment(config: Config) -> Containment:
    """What this run gets. Raises BadInput if guard was asked for by name and does not work."""
    wanted = config.runtime.contain
    if wanted == "off":
        forget_early()
        return Containment("off")
    missing = why_not(fenced=wanted == "fence")
    if wanted == "fence":
        if missing:
            raise BadInput(f"fence does not work here: {missing}", todo="Or use --contain off.")
        return Containment("fence", FENCED)
    if not missing:
        return Containment("guard", GUARDED)
    if wanted == "guard":
        raise BadInput(f"guard does not work here: {missing}", todo="Or use --contain off.")
    return Containment("off", f"not contained, the agent can reach its supervisor: {missing}.")


def resolve(config: Config, level: Level, *, attended: bool) -> Config:
    """The configuration with what depends on the level, and on whether a person is there."""
    if config.runtime.on_tamper != "auto":
        return config
    contained: Literal["pause", "stop"] = "pause" if attended else "stop"
    answer: Literal["warn", "pause", "stop"] = "warn" if level == "off" else contained
    return replace(config, runtime=replace(config.runtime, on_tamper=answer))


def is_attended(needs_approval: bool) -> bool:
    """Whether a person is there: they said so, or sit at the terminal."""
    streams = (sys.stdin, sys.stderr)
    return needs_approval or all(stream is not None and stream.isatty() for stream in streams)


class SandboxPaths(Struct, frozen=True, kw_only=True):
    """Where everything of a run is that its agent must not change."""

    store: Path
    run: Path
    sockets: tuple[Path, ...]
    wiring: Path
    files: tuple[Path, ...]
    workspaces: tuple[Path, ...]
    temporary: Path | None = None
    """A fenced run's own temporary folder."""
    expected: bool = False
    """The run's folder is not there yet."""
    terminal: Path | None = None
    """Where the command only writes. A pager that finds it by name would read its keys there; they never arrive."""


def build_enclosure(paths: SandboxPaths, config: Config, foreground: Foreground) -> Enclosure:
    """Guard around a command, or a fence."""
    from ...contain import API_PORT, EGRESS_PORT
    from ...process import Enclosure

    words, fds, fence = sandbox_words(paths, config)
    # The sockets beside that of the steps that lead out of a fence, and their ports inside.
    bridged = (("api", API_PORT), ("egress", EGRESS_PORT))
    return Enclosure(
        words=words,
        fds=fds,
        events=foreground.events,
        terminal=foreground.terminal,
        bridges=tuple(f"{port}={paths.sockets[-1] / name}" for name, port in bridged) if fence is not None else (),
        write=_landlocked(fence, paths) if fence is not None else (),
        scoped="dbus" not in config.contain.allow,
    )


def rehearse_sandbox(config: Config) -> None:
    """Look for what every sandbox needs, in a process whose forks will build one."""
    from ...contain import GuardedPlaces, guard_words

    program = find_bubblewrap()
    if program is not None:
        guard_words(program, GuardedPlaces(), config.contain.allow)


def sandbox_words(paths: SandboxPaths, config: Config) -> tuple[tuple[str, ...], tuple[int, ...], Fence | None]:
    """The words before a command that contain it, the descriptors that they need, and the fence if there is one."""
    from ...contain import GuardedPlaces, build_fence, guard_words, open_filter

    program = find_bubblewrap()
    assert program is not None, "decide_containment has found it"
    state = user_folder("state")
    for folder in (state, paths.store):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = GuardedPlaces(
        hidden=tuple(path for path in (state, paths.store, *socket_folders()) if path.is_dir()),
        shown=(*paths.sockets, *paths.files),
        writable=(paths.wiring,) if paths.wiring.is_dir() else (),
        fixed=(*paths.files, *_trusted_keys(config)),
        workspaces=paths.workspaces,
        secret=_secret_files(config),
    )
    filter_fd = open_filter(fenced=paths.temporary is not None)
    fence = None
    if paths.temporary is not None:
        fence = build_fence(paths.workspaces, paths.temporary, config.contain.write, config.contain.hide)
    words = guard_words(program, kept, config.contain.allow, filter_fd, fence)
    if paths.expected or paths.run.exists():
        # It may come to be after this is asked, and before the sandbox is built.
        words += ("--ro-bind", str(paths.run), str(paths.run))
    if paths.terminal is not None:
        words += ("--ro-bind", "/dev/null", str(paths.terminal))
    return words, ((filter_fd,) if filter_fd is not None else ()), fence


def _secret_files(config: Config) -> tuple[Path, ...]:
    """What the agent must not read. A key that the first use of the hub would make is made now: nothing hides what is
    not there."""
    from ...config import private_files
    from ...core import create_key

    named = config.hub.key_file
    if named and not config.hub.unsigned and not Path(named).expanduser().exists():
        create_key(Path(named).expanduser())
    return private_files(config)


def _trusted_keys(config: Config) -> tuple[Path, ...]:
    """The list of keys that may steer, where it is outside our own folders: the agent must not add one."""
    named = config.hub.trusted_file
    if not named:
        return ()
    file = Path(named).expanduser()
    if not file.exists():
        from ...core import write_trusted

        write_trusted((), file)
    return (file,)


def proxy_variables() -> dict[str, str]:
    """What makes programs in a fence use the way out."""
    from ...contain import EGRESS_PORT

    address = f"http://{LOOPBACK}:{EGRESS_PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    found = {word: address for name in names for word in (name, name.lower())}
    # Node's own fetch uses no proxy by default.
    return {**found, "NODE_USE_ENV_PROXY": "1", "TMPDIR": "/tmp"}


def _landlocked(fence: Fence, paths: SandboxPaths) -> tuple[str, ...]:
    """The same for Landlock."""
    return (*map(str, (*fence.write, paths.wiring)), "/tmp", "/var/tmp", "/run", "/dev", "/proc")
