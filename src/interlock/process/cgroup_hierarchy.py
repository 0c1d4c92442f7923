"""Where cgroups can be made on this machine, and making them: v2 for the tree, v1 for limits that v2 does not have."""

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

CONTROLLERS = ("memory", "pids", "cpu")
PREFIX = "interlock-"
PRIVATE_MOUNT = Path("/run/interlock/cgroup2")
STALE_S = 600
"""A folder of ours this old that the kernel lets us remove was left by an owner that died."""

ENTRY_S = 0.2
"""How long a process may take to get to its cgroups; on a machine so busy, it may as well wait for them."""

AGAIN_S = 0.003
"""How soon after another it does not wait."""

UNLIMITED = {"memory.max": "max", "memory.high": "max", "memory.swap.max": "max", "pids.max": "max"}


class Mount(NamedTuple):
    """One cgroup mount: `root` is the folder of the hierarchy that is seen at `point`."""

    kind: str
    root: str
    point: str
    options: frozenset[str]


class CgroupFolders(NamedTuple):
    """The folders made for one tree: the cgroup v2 one, and v1 ones by controller; and the v2 one that we are in."""

    group: Path
    controllers: dict[str, Path]
    own: Path


class Hierarchies(NamedTuple):
    """The cgroups that we are in, as the kernel lists them, and where cgroups are mounted."""

    memberships: list[str]
    mounts: list[Mount]


def make(marker: str, *, mount: bool = True) -> CgroupFolders | str:
    """Make the folders for one tree, or say in words why there are none."""
    seen = see_hierarchies()
    own = own_folder("cgroup2", seen=seen)
    if mount and os.geteuid() == 0 and (own is None or own.is_relative_to(PRIVATE_MOUNT)):
        with _alone():
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
    present = set(_words(group / "cgroup.controllers"))
    controllers = {}
    for name in CONTROLLERS:
        if name not in present and (folder := _make_v1(name, marker, seen)):
            controllers[name] = folder
    return CgroupFolders(group, controllers, own)


class QuickEntry:
    """Lets a process enter cgroups at once that is being started meanwhile.

    The kernel keeps whoever changes its cgroup waiting for 5 to 20 ms (an RCU grace period), but not those who come
    soon after another. So until the process has `entered`, a thread puts us into the cgroup that we are in, which
    changes nothing.
    """

    def __init__(self, own: Path) -> None:
        self._own = own
        self.entered = threading.Event()
        self._thread = threading.Thread(target=self._keep_open, name="interlock-entry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """It has entered, or it never will."""
        self.entered.set()
        self._thread.join()

    def _keep_open(self) -> None:
        until = time.monotonic() + ENTRY_S
        # Where we may not, it waits.
        with suppress(OSError), open(self._own / "cgroup.procs", "wb", buffering=0) as processes:
            while time.monotonic() < until and not self.entered.is_set():
                processes.write(b"0")
                self.entered.wait(AGAIN_S)


def see_hierarchies() -> Hierarchies:
    """Where they are now."""
    try:
        memberships = Path("/proc/self/cgroup").read_text().splitlines()
        return Hierarchies(memberships, read_mounts(Path("/proc/self/mountinfo").read_text()))
    except OSError:
        return Hierarchies([], [])


def own_folder(kind: str, controller: str = "", *, seen: Hierarchies | None = None) -> Path | None:
    """The folder of the cgroup that we are in ourselves, in the v2 hierarchy or that of a v1 controller."""
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


def sweep(place: Path, made: Path | None) -> None:
    """Remove what owners that died have left behind; the kernel refuses where a process lives in it.

    A folder that was just `made` says what time it is to the kernel, which stamps them: our own clock may be another.
    One that is younger may be about to be entered.
    """
    try:
        now = time.time() if made is None else made.stat().st_mtime
        for folder in place.glob(f"{PREFIX}*"):
            if now - folder.stat().st_mtime > STALE_S:
                remove(folder)
    except OSError:
        return


def remove(folder: Path, seconds: float = 0.0) -> bool:
    """Remove a cgroup folder and those inside it; waits up to `seconds` for the last process to be gone."""
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
    """A folder below our own cgroup; or alongside it, if only there the kernel limits memory and nothing limits us."""
    if own is None:
        return None, "no cgroup v2 hierarchy is mounted"
    group, why = _mkdir(own, marker)
    sweep(own, group)
    for name in CONTROLLERS:
        _write(own / "cgroup.subtree_control", f"+{name}")
    if group is not None and "memory" in _words(group / "cgroup.controllers"):
        return group, ""
    if _unlimited(own) and "memory" in _words(own.parent / "cgroup.subtree_control"):
        beside, _ = _mkdir(own.parent, marker)
        if beside is not None:
            if group is not None:
                remove(group)
            return beside, ""
    return group, why


def _unlimited(own: Path) -> bool:
    """Whether a process that leaves this cgroup for its parent escapes no limit that someone set."""
    for name, free in UNLIMITED.items():
        words = _words(own / name)
        if words and words != [free]:
            return False
    return _words(own / "cpu.max")[:1] in ([], ["max"])


def _make_v1(controller: str, marker: str, seen: Hierarchies) -> Path | None:
    own = own_folder("cgroup", controller, seen=seen)
    if own is None:
        return None
    folder, _ = _mkdir(own, marker)
    sweep(own, folder)
    return folder


def _mkdir(place: Path, marker: str) -> tuple[Path | None, str]:
    folder = place / f"{PREFIX}{marker}"
    try:
        folder.mkdir()
    except OSError as error:
        return None, f"cannot create a cgroup in {place} ({os.strerror(error.errno or 0)})"
    return folder, ""


def _mount_private() -> Path | None:
    """As root, mount cgroup v2 in a folder of our own, until the last tree in it has ended."""
    try:
        PRIVATE_MOUNT.mkdir(mode=0o700, exist_ok=True)
        subprocess.run(
            ["mount", "-t", "cgroup2", "none", str(PRIVATE_MOUNT)], check=True, capture_output=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return own_folder("cgroup2")


def unmount_private() -> None:
    """Take our own mount away where no tree uses it any more."""
    if os.geteuid() != 0 or not PRIVATE_MOUNT.is_mount():
        return
    with suppress(OSError, subprocess.SubprocessError), _alone():
        used = list(PRIVATE_MOUNT.parent.glob(f"{PREFIX}*"))
        if not any(link.exists() for link in used):
            for link in used:
                link.unlink()
            subprocess.run(["umount", str(PRIVATE_MOUNT)], check=True, capture_output=True, timeout=10)
            PRIVATE_MOUNT.rmdir()
            PRIVATE_MOUNT.parent.rmdir()


@contextmanager
def _alone() -> Iterator[None]:
    """Nobody else mounts, unmounts or makes a folder in our own mount meanwhile."""
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
    """Where a cgroup's path is seen below a mount; None if the mount does not show it."""
    root = mount.root.rstrip("/")
    if ".." in path.split("/") or not (path == root or path.startswith(f"{root}/")):
        return None
    return Path(mount.point + path[len(root) :].rstrip("/"))


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)


def _words(file: Path) -> list[str]:
    try:
        return file.read_text().split()
    except OSError:
        return []


def _write(file: Path, text: str) -> bool:
    try:
        file.write_text(text)
    except OSError:
        return False
    return True
