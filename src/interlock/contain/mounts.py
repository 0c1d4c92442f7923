"""Guard and fence in bubblewrap's words: which places are read-only, empty or not there for the agent of one run."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from .bubblewrap import base_words
from .fence import SECRET_VARIABLES, TEMPORARY, Fence
from .protected_paths import (
    bound_sockets,
    cgroup_mounts,
    code_places,
    hidden_sockets,
    hidden_variables,
    homes,
    is_there,
    own_places,
    protected_places,
)

ROOT_CAPABILITIES = ("CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_FSETID", "CAP_SETGID", "CAP_SETUID",
                     "CAP_NET_BIND_SERVICE", "CAP_KILL", "CAP_SYS_CHROOT")  # fmt: skip
"""What root keeps: enough for apt, chown and su; nothing that mounts, traces or makes devices."""

DEVICES = ("/dev/pts", "/dev/shm", "/dev/dri", "/dev/snd", "/dev/fuse", "/dev/kvm", "/dev/video0")
"""What root gets of /dev besides the ordinary: no disks, no memory, no consoles."""

KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/scsi", "/proc/fs")


class GuardedPlaces(Struct, frozen=True, kw_only=True):
    """The places of one run.

    `hidden` is empty inside but for what `shown` (read-only) and `writable` name; `fixed` is read-only. What the agent
    works in (`workspaces`) stays writable, wherever it is. `secret` files are empty inside, wherever they are.
    """

    hidden: tuple[Path, ...] = ()
    shown: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    workspaces: tuple[Path, ...] = ()
    secret: tuple[Path, ...] = ()


def guard_words(
    program: str,
    kept: GuardedPlaces,
    allow: tuple[str, ...] = (),
    filter_fd: int | None = None,
    fence: Fence | None = None,
) -> tuple[str, ...]:
    """The words before the command: bubblewrap with everything that guard means, and a fence around it."""
    root = os.geteuid() == 0
    words = [*base_words(program, fenced=fence is not None), *_devices(whole=not root and fence is None)]
    words += ["--proc", "/proc"]
    if fence is not None:
        words += _open_fence(fence)
    if root:
        words += _bind("--ro-bind", map(Path, KERNEL))
        words += ["--cap-drop", "ALL", *(word for name in ROOT_CAPABILITIES for word in ("--cap-add", name))]
    words += _bind("--ro-bind", (Path("/sys"), *cgroup_mounts()))
    fixed = [*own_places(), *protected_places(allow), Path(program), *kept.fixed]
    for place in own_places():
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    free: list[Path] = []
    if "interlock-code" not in allow:
        code, free = code_places()
        fixed += code
    changeable = [path for path in _real(fixed) if os.access(path, os.W_OK)]
    # Inside a fence only what is in a writable place has to be taken out of it; the rest is read-only or gone.
    words += _bind("--ro-bind", (path for path in changeable if fence is None or _is_below(path, fence.write)))
    if fence is not None:
        words += _bind("--ro-bind", (path for path in own_places() if _is_below(path, map(Path, TEMPORARY))))
    words += _bind("--bind", _real(free) if fence is None else ())
    folders, files = hidden_sockets(allow)
    emptied = [*kept.hidden, *_real(folders), *([Path("/run/interlock")] if root else [])]
    words += _hide(folder for folder in emptied if folder.is_dir())
    words += _hide(file for file in _real(files) if not _is_gone(file, fence))
    if fence is not None:
        words += _hide(path for path in _real(bound_sockets()) if _is_seen(path, fence, emptied))
        words += _bind("--ro-bind", fence.fixed)
        words += _hide(fence.hidden)
        words += [word for place in fence.hidden if place.is_dir() for word in ("--remount-ro", str(place))]
    words += _bind("--bind", (place for place in kept.workspaces if _is_below(place, (*kept.hidden, *fixed))))
    words += _bind("--bind", kept.writable)
    words += _bind("--ro-bind", (path for path in kept.shown if path.exists()))
    gone = (*kept.hidden, *(fence.hidden if fence is not None else ()))
    words += _hide(file for file in _real(kept.secret) if not _is_below(file, gone) or _is_below(file, kept.workspaces))
    variables = (*hidden_variables(allow), *(SECRET_VARIABLES if fence is not None else ()))
    words += [word for name in variables for word in ("--unsetenv", name)]
    return (*words, *(("--seccomp", str(filter_fd)) if filter_fd is not None else ()))


def _open_fence(fence: Fence) -> list[str]:
    """A /run and a temporary folder of its own, then what can be written; the rest of the machine is read-only."""
    words = ["--tmpfs", "/run"] if Path("/run").is_dir() else []
    for place in map(Path, TEMPORARY):
        words += ["--bind", str(fence.temporary), str(place)] if place.is_dir() else []
    words += ["--tmpfs", "/dev/shm"]
    # Homes, and Interlock with its interpreter, wherever they are.
    emptied = tuple(map(Path, ("/run", *TEMPORARY)))
    words += _bind("--ro-bind", (place for place in (*homes(), *code_places()[0]) if _is_below(place, emptied)))
    return words + _bind("--bind", fence.write)


def _is_seen(path: Path, fence: Fence, emptied: list[Path]) -> bool:
    """Whether a socket outside is there inside a fence: not given to it by name, nor in what is emptied anyway."""
    if path in fence.write or _is_below(path, (*emptied, *fence.hidden)):
        return False
    again = (*homes(), *code_places()[0], *fence.write)
    return not _is_below(path, map(Path, ("/run", *TEMPORARY))) or _is_below(path, again)


def _is_gone(file: Path, fence: Fence | None) -> bool:
    """Whether a fence has emptied the folder of this socket anyway."""
    return fence is not None and file.is_relative_to("/run")


def _devices(*, whole: bool) -> list[str]:
    if whole:
        return ["--dev-bind", "/dev", "/dev"]
    return ["--dev", "/dev", *(word for name in DEVICES for word in ("--dev-bind-try", name, name))]


def _hide(places: Iterable[Path]) -> list[str]:
    """Empty folders, and files without content."""
    words: list[str] = []
    for place in places:
        words += ("--perms", "0700", "--tmpfs") if place.is_dir() else ("--ro-bind", "/dev/null")
        words.append(str(place))
    return words


def _bind(how: str, places: Iterable[Path]) -> list[str]:
    return [word for place in places if is_there(place) for word in (how, str(place), str(place))]


def _real(places: Iterable[Path]) -> list[Path]:
    """Where they really are, each once, outer ones first: a mount goes onto the place, not onto a link to it."""
    found = {Path(os.path.realpath(place)) for place in places if is_there(place)}
    return sorted(found, key=lambda path: len(path.parts))


def _is_below(place: Path, others: Iterable[Path]) -> bool:
    real = Path(os.path.realpath(place))
    return any(real.is_relative_to(os.path.realpath(other)) for other in others)
