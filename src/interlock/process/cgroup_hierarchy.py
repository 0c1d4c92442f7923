"""Creates cgroups if this machine allows it: v2 for the tree, v1 for limits that v2 lacks."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ..core import pin_programs, run_program
from .proc import read_bytes

CONTROLLERS = ("memory", "pids", "cpu")
PREFIX = "interlock-"
PRIVATE_MOUNT = Path("/run/interlock/cgroup2")
STALE_S = 600
"""One of our folders that is older than this and can be removed was left by an owner that died."""

ENTRY_S = 0.2
"""How long a process may take to enter its cgroups; on a machine busier than this, it may as well wait for them."""

AGAIN_S = 0.003
"""Interval between our own writes; a process that enters this soon after one does not have to wait."""

UNLIMITED = {"memory.max": "max", "memory.high": "max", "memory.swap.max": "max", "pids.max": "max"}


class Mount(NamedTuple):
    """One cgroup mount: `root` is the folder of the hierarchy that is mounted at `point`."""

    kind: str
    root: str
    point: str
    options: frozenset[str]


class CgroupFolders(NamedTuple):
    """The folders of one tree (the cgroup v2 folder, v1 folders by controller), and our own v2 folder."""

    group: Path
    controllers: dict[str, Path]
    own: Path


class Hierarchies(NamedTuple):
    """The cgroups that we are in, as listed by the kernel, and the cgroup mounts."""

    memberships: list[str]
    mounts: list[Mount]


def make(marker: str, *, mount: bool = True) -> CgroupFolders | str:
    """Create the folders for one tree; returns why if that is impossible."""
    seen = see_hierarchies()
    own = own_folder("cgroup2", seen=seen)
    if mount and os.geteuid() == 0 and (own is None or own.is_relative_to(PRIVATE_MOUNT)):
        with _mount_lock():
            own = own_folder("cgroup2") or _mount_private()
            group, why = _make_group(own, marker)
            if group is not None and group.is_relative_to(PRIVATE_MOUNT):
                (PRIVATE_MOUNT.parent / group.name).symlink_to(group)
    else:
        group, why = _make_group(own, marker)
    if group is None or own is None:
        return why
    if not (group / "cgroup.freeze").exists():
        remove(group)
        return "this kernel's cgroup v2 cannot freeze (5.2 is needed)"
    present = set(read_words(group / "cgroup.controllers"))
    controllers = {}
    for name in CONTROLLERS:
        if name not in present and (folder := _make_v1(name, marker, seen)):
            controllers[name] = folder
    return CgroupFolders(group, controllers, own)


class QuickEntry:
    """Lets a process that is being started enter its cgroups without waiting.

    The kernel makes a process that changes its cgroup wait for an RCU grace period (5 to 20 ms), unless another process
    did so just before. Until the process has `entered`, a thread therefore writes us into our own cgroup: a no-op.
    """

    def __init__(self, own: Path) -> None:
        self._own = own
        self.entered = threading.Event()
        self._thread = threading.Thread(target=self._keep_open, name="interlock-entry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop: the process has entered its cgroups, or never will."""
        self.entered.set()
        self._thread.join()

    def _keep_open(self) -> None:
        until = time.monotonic() + ENTRY_S
        # Without permission to do this, the process has to wait.
        with suppress(OSError), open(self._own / "cgroup.procs", "wb", buffering=0) as processes:
            while time.monotonic() < until and not self.entered.is_set():
                processes.write(b"0")
                self.entered.wait(AGAIN_S)


def see_hierarchies() -> Hierarchies:
    """Read the current hierarchies."""
    try:
        memberships = Path("/proc/self/cgroup").read_text().splitlines()
        return Hierarchies(memberships, read_mounts(Path("/proc/self/mountinfo").read_text()))
    except OSError:
        return Hierarchies([], [])


def own_folder(kind: str, controller: str = "", *, seen: Hierarchies | None = None) -> Path | None:
    """The folder of our own cgroup, in the v2 hierarchy or in that of a v1 controller."""
    seen = see_hierarchies() if seen is None else seen
    for line in seen.memberships:
        _, names, path = line.split(":", 2)
        if (names == "") if kind == "cgroup2" else (controller in names.split(",")):
            for mount in seen.mounts:
                if mount.kind == kind and (not controller or controller in mount.options):
                    folder = _seen_at(mount, path)
                    if folder is not None and folder.is_dir():
                        return folder
    return None


def read_mounts(mountinfo: str) -> list[Mount]:
    """The cgroup mounts in the text of /proc/self/mountinfo."""
    mounts = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        left, right = before.split(), after.split()
        if len(left) >= 6 and len(right) >= 3 and right[0] in ("cgroup", "cgroup2"):
            mounts.append(Mount(right[0], _unescape(left[3]), _unescape(left[4]), frozenset(right[2].split(","))))
    return mounts


def sweep(parent: Path, made: Path | None) -> None:
    """Remove folders that dead owners left behind; the kernel refuses if there is a process in it.

    The folder that was just `made` gives the kernel's time, which may differ from our clock.
    A younger folder may be about to be entered.
    """
    try:
        now = time.time() if made is None else made.stat().st_mtime
        for folder in parent.glob(f"{PREFIX}*"):
            if now - folder.stat().st_mtime > STALE_S:
                remove(folder)
    except OSError:
        return


def remove(folder: Path, seconds: float = 0.0) -> bool:
    """Remove a cgroup folder and those inside it; waits up to `seconds` for the last process to end."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            for inner, _, _ in os.walk(folder, topdown=False):
                Path(inner).rmdir()
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.005)
            continue
        if not folder.exists():
            return True


def _make_group(own: Path | None, marker: str) -> tuple[Path | None, str]:
    """Create a folder below our own cgroup; or next to it if memory can be limited only there and we have no limit."""
    if own is None:
        return None, "no cgroup v2 hierarchy is mounted"
    group, why = _mkdir(own, marker)
    sweep(own, group)
    for name in CONTROLLERS:
        write_control(own / "cgroup.subtree_control", f"+{name}")
    if group is not None and "memory" in read_words(group / "cgroup.controllers"):
        return group, ""
    if _unlimited(own) and "memory" in read_words(own.parent / "cgroup.subtree_control"):
        beside, _ = _mkdir(own.parent, marker)
        if beside is not None:
            if group is not None:
                remove(group)
            return beside, ""
    return group, why


def _unlimited(own: Path) -> bool:
    """Whether a process that moves from this cgroup to its parent escapes no limits."""
    for name, free in UNLIMITED.items():
        words = read_words(own / name)
        if words and words != [free]:
            return False
    return read_words(own / "cpu.max")[:1] in ([], ["max"])


def _make_v1(controller: str, marker: str, seen: Hierarchies) -> Path | None:
    own = own_folder("cgroup", controller, seen=seen)
    if own is None:
        return None
    folder, _ = _mkdir(own, marker)
    sweep(own, folder)
    return folder


def _mkdir(parent: Path, marker: str) -> tuple[Path | None, str]:
    folder = parent / f"{PREFIX}{marker}"
    try:
        folder.mkdir()
    except OSError as error:
        return None, f"cannot create a cgroup in {parent} ({os.strerror(error.errno or 0)})"
    return folder, ""


def _mount_private() -> Path | None:
    """As root, mount cgroup v2 in our own folder, until the last tree in it has ended."""
    try:
        PRIVATE_MOUNT.mkdir(mode=0o700, exist_ok=True)
        pin_programs("umount")
        run_program(["mount", "-t", "cgroup2", "none", str(PRIVATE_MOUNT)], timeout=10).check_returncode()
    except (OSError, subprocess.SubprocessError):
        return None
    return own_folder("cgroup2")


def unmount_private() -> None:
    """Unmount our own mount if no tree uses it."""
    if os.geteuid() != 0 or not PRIVATE_MOUNT.is_mount():
        return
    with suppress(OSError, subprocess.SubprocessError), _mount_lock():
        used = list(PRIVATE_MOUNT.parent.glob(f"{PREFIX}*"))
        if not any(link.exists() for link in used):
            for link in used:
                link.unlink()
            run_program(["umount", str(PRIVATE_MOUNT)], timeout=10).check_returncode()
            PRIVATE_MOUNT.rmdir()
            PRIVATE_MOUNT.parent.rmdir()


@contextmanager
def _mount_lock() -> Iterator[None]:
    """Exclude other processes that mount, unmount or create a folder in our own mount."""
    while True:
        PRIVATE_MOUNT.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = os.open(PRIVATE_MOUNT.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            if PRIVATE_MOUNT.parent.exists() and os.path.samestat(os.fstat(folder), PRIVATE_MOUNT.parent.stat()):
                yield
                return
        finally:
            os.close(folder)


def _seen_at(mount: Mount, path: str) -> Path | None:
    """The folder of a cgroup's path below a mount; None if the mount does not contain it."""
    root = mount.root.rstrip("/")
    if ".." in path.split("/") or not (path == root or path.startswith(f"{root}/")):
        return None
    return Path(mount.point + path[len(root) :].rstrip("/"))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def read_words(file: Path) -> list[str]:
    """The words of a control file; empty if it is gone."""
    return read_bytes(str(file)).decode().split()


def write_control(file: Path, text: str) -> bool:
    """Write to an existing control file; False if it is gone or the kernel rejects the value."""
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CLOEXEC), "wb", buffering=0) as opened:
            opened.write(text.encode())
    except OSError:
        return False
    return True
