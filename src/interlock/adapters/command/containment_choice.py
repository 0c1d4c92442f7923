"""Decides how a run is contained on this machine, and builds the sandbox for its command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ...config import Config
from ...contain import find_bubblewrap, why_not
from ...core import LINUX, BadInput, user_folder
from ...link import socket_folders

# Modules needed only to build the sandbox are imported where they are used, while the owner starts.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...contain import WriteLimits
    from ...process import Enclosure
    from .terminal_foreground import Foreground

Level = Literal["off", "guard", "fence"]

LOOPBACK = "127.0.0.1"
GUARDED = "guard: the agent is isolated from its supervisor{}; sudo does not work"
LIMITED = ", and writes only to its workspace, caches and temporary folders"
UNLIMITED = ", but may write everywhere ({})"
LANDLOCKED = ", but writes only to its workspace, caches and temporary folders (Landlock)"
TRUNCATES = 3
"""The version of Landlock that refuses emptying a file as well."""
NO_AGENT = "not a known agent; --task or contain.files: workspace limits it"
FENCED = "fence: the agent writes only to its workspace and reaches only the hosts in contain.hosts; no sudo"


class Containment(Struct, frozen=True):
    """The containment level, and the line printed about it at the start of a run; empty if the user requested off."""

    level: Level
    line: str = ""


def decide_containment(config: Config, agent: str = "") -> Containment:
    """The containment of a run of this `agent` (empty: a plain command). Raises BadInput if guard or fence was
    requested but does not work here."""
    wanted = config.runtime.contain
    if wanted == "off":
        return Containment("off")
    missing = why_not(fenced=wanted == "fence")
    if wanted == "fence":
        if missing:
            raise BadInput(f"fence does not work here: {missing}", todo="Or use --contain off.")
        return Containment("fence", FENCED)
    if not missing:
        why = unlimited_because(config, agent)
        return Containment("guard", GUARDED.format(UNLIMITED.format(why) if why else LIMITED))
    if wanted == "guard":
        raise BadInput(f"guard does not work here: {missing}", todo="Or use --contain off.")
    walled = "" if unlimited_because(config, agent) or not has_landlock() else LANDLOCKED
    return Containment("off", f"not contained, the agent can reach its supervisor{walled}: {missing}.")


def has_landlock() -> bool:
    """Whether Landlock can limit writing where there are no namespaces."""
    from ...process import version

    return LINUX and version() >= TRUNCATES


def unlimited_because(config: Config, agent: str) -> str:
    """Why this run may write everywhere under guard; empty if it may not."""
    files = config.contain.files
    if files != "auto":
        return "contain.files is everything" if files == "everything" else ""
    if os.geteuid() == 0 and (where := _throw_away_machine()):
        return f"root in {where}"
    return "" if agent else NO_AGENT


def _throw_away_machine() -> str:
    """What kind of machine of its own this is, if any: there the machine is the sandbox."""
    if os.environ.get("CI", "") not in ("", "0", "false"):
        return "CI"
    if {"REMOTE_CONTAINERS", "CODESPACES", "DEVCONTAINER"} & os.environ.keys():
        return "a devcontainer"
    marked = "container" in os.environ or any(Path(name).exists() for name in ("/.dockerenv", "/run/.containerenv"))
    return "a container" if marked else ""


def resolve(config: Config, level: Level, *, attended: bool, agent: str = "") -> Config:
    """Replace `contain.files = auto` and `on_tamper = auto` by their values for this run at this level, depending on
    whether it is an agent and whether a person is present."""
    fallback = level == "off" and config.runtime.contain == "auto" and has_landlock()
    limited = level == "fence" or ((level == "guard" or fallback) and not unlimited_because(config, agent))
    config = replace(config, contain=replace(config.contain, files="workspace" if limited else "everything"))
    if config.runtime.on_tamper != "auto":
        return config
    contained: Literal["pause", "stop"] = "pause" if attended else "stop"
    answer: Literal["warn", "pause", "stop"] = "warn" if level == "off" else contained
    return replace(config, runtime=replace(config.runtime, on_tamper=answer))


def has_own_temporary(config: Config, level: Level) -> bool:
    """Whether a run of this level, with its `contain.files` resolved, has a /tmp of its own."""
    limited = level == "guard" and config.contain.files == "workspace"
    return level == "fence" or (limited and config.contain.tmp == "own")


def is_attended(needs_approval: bool) -> bool:
    """Whether a person is present: they asked to approve steps, or are at the terminal."""
    streams = (sys.stdin, sys.stderr)
    return needs_approval or all(stream is not None and stream.isatty() for stream in streams)


class SandboxPaths(Struct, frozen=True, kw_only=True):
    """The paths of a run that its agent must not change."""

    store: Path
    run: Path
    sockets: tuple[Path, ...]
    wiring: Path
    files: tuple[Path, ...]
    workspaces: tuple[Path, ...]
    temporary: Path | None = None
    """The run's own temporary folder, if it does not share /tmp."""
    fenced: bool = False
    terminal: Path | None = None
    """The pty for the command's output. A pager that opens it by name would wait there for keys that never arrive."""


def build_enclosure(paths: SandboxPaths, config: Config, foreground: Foreground) -> Enclosure:
    """The sandbox of a command: guard or fence."""
    from ...contain import API_PORT, EGRESS_PORT
    from ...process import Enclosure

    words, fds, limits = sandbox_words(paths, config)
    fence = limits if limits is not None and limits.fenced else None
    # The sockets that lead out of a fence, besides the step socket, and their ports inside.
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


def landlocked_paths(paths: SandboxPaths, config: Config) -> tuple[str, ...]:
    """What a run without a sandbox may write; empty: everything."""
    if config.contain.files != "workspace":
        return ()
    from ...contain import limit_writes

    limits = limit_writes(paths.workspaces, config.contain.write)
    return (*map(str, (*limits.write, paths.wiring)), "/dev", "/proc")


def sandbox_words(paths: SandboxPaths, config: Config) -> tuple[tuple[str, ...], tuple[int, ...], WriteLimits | None]:
    """The sandbox command to put before a command, the descriptors that it needs, and its limits on writing if any."""
    from ...contain import GuardedPaths, guard_words, limit_writes, open_filter

    program = find_bubblewrap()
    assert program is not None, "decide_containment has found it"
    state = user_folder("state")
    for folder in (state, paths.store):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = GuardedPaths(
        hidden=tuple(path for path in (state, paths.store, *socket_folders()) if path.is_dir()),
        shown=(*paths.sockets, *paths.files),
        writable=(paths.wiring,) if paths.wiring.is_dir() else (),
        fixed=(*paths.files, *_trusted_keys(config)),
        workspaces=paths.workspaces,
        secret=_secret_files(config),
    )
    filter_fd = open_filter(fenced=paths.fenced)
    limits, contain = None, config.contain
    if contain.files == "workspace":
        limits = limit_writes(
            paths.workspaces,
            contain.write,
            temporary=paths.temporary,
            fenced=paths.fenced,
            hide=contain.hide,
            show=contain.show,
        )
    words = guard_words(program, kept, contain.allow, filter_fd, limits)
    if paths.run.exists():
        words += ("--ro-bind", str(paths.run), str(paths.run))
    if paths.terminal is not None:
        words += ("--ro-bind", "/dev/null", str(paths.terminal))
    return words, ((filter_fd,) if filter_fd is not None else ()), limits


def _secret_files(config: Config) -> tuple[Path, ...]:
    """Files that the agent must not read. Creates a missing hub key now, because only existing files can
    be hidden."""
    from ...config import private_files
    from ...core import create_key

    named = config.hub.key_file
    if named and not config.hub.unsigned and not Path(named).expanduser().exists():
        create_key(Path(named).expanduser())
    return private_files(config)


def _trusted_keys(config: Config) -> tuple[Path, ...]:
    """The list of trusted keys, if it is outside our own folders: the agent must not add one."""
    named = config.hub.trusted_file
    if not named:
        return ()
    file = Path(named).expanduser()
    if not file.exists():
        from ...core import write_trusted

        write_trusted((), file)
    return (file,)


def proxy_variables() -> dict[str, str]:
    """Environment variables that make programs in a fence use the egress proxy."""
    from ...contain import EGRESS_PORT

    address = f"http://{LOOPBACK}:{EGRESS_PORT}"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    found = {word: address for name in names for word in (name, name.lower())}
    # Node's built-in fetch uses no proxy by default.
    return {**found, "NODE_USE_ENV_PROXY": "1"}


def _landlocked(fence: WriteLimits, paths: SandboxPaths) -> tuple[str, ...]:
    """The paths that Landlock leaves writable."""
    return (*map(str, (*fence.write, paths.wiring)), "/tmp", "/var/tmp", "/run", "/dev", "/proc")
