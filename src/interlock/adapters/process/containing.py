"""Containing: decides how a run is contained on this machine, and builds the wall around its command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import platformdirs
from msgspec import Struct
from msgspec.structs import replace

from ...config import Config
from ...contain import Kept, find_bubblewrap, guard_words, open_filter, why_not
from ...core import BadInput
from ...link.socket_paths import runtime_dir
from ...process import TreeHandle
from ...process.enclosed import Enclosure
from .foreground import Foreground

Level = Literal["off", "guard"]

GUARDED = "guard: the agent runs in its own PID and mount namespace, apart from its supervisor; sudo does not work"


class Containment(Struct, frozen=True):
    """The level that holds, and the line that says so at the start of a run; none where off was asked for."""

    level: Level
    line: str = ""


def decide_containment(config: Config) -> Containment:
    """What this run gets. Raises BadInput where guard was asked for by name and cannot be had."""
    wanted = config.runtime.contain
    if wanted == "off":
        return Containment("off")
    missing = why_not()
    if not missing:
        return Containment("guard", GUARDED)
    if wanted == "guard":
        raise BadInput(f"guard does not work here: {missing}", todo="Or give --contain off.")
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


class Places(Struct, frozen=True, kw_only=True):
    """Where everything of a run is that its agent must not change."""

    store: Path
    run: Path
    sockets: tuple[Path, ...]
    wiring: Path
    files: tuple[Path, ...]
    workspaces: tuple[Path, ...]


def build_enclosure(
    places: Places, config: Config, foreground: Foreground, on_known: Callable[[TreeHandle], None]
) -> Enclosure:
    """Guard around a command; `on_known` hears of its tree before it starts."""
    words, fds = wall_around(places, config)
    events, terminal = foreground.events, foreground.terminal
    return Enclosure(words=words, fds=fds, events=events, terminal=terminal, on_known=on_known)


def wall_around(places: Places, config: Config) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The words before a command that put guard around it, and the descriptors that they need."""
    program = find_bubblewrap()
    assert program is not None, "decide_containment has found it"
    kept = Kept(
        hidden=tuple(
            path
            for path in (Path(platformdirs.user_state_dir("interlock")), places.store, runtime_dir())
            if path.is_dir()
        ),
        shown=(places.run, *places.sockets, *places.files),
        writable=(places.wiring,) if places.wiring.is_dir() else (),
        fixed=places.files,
        workspaces=places.workspaces,
    )
    filter_fd = open_filter()
    words = guard_words(program, kept, config.contain.allow, filter_fd)
    return words, ((filter_fd,) if filter_fd is not None else ())
