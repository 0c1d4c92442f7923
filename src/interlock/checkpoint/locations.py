"""Where a workspace's checkpoints are, which folders cannot be workspaces, and what checkpoints exclude."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from hashlib import sha256
from pathlib import Path

from ..core import BadInput, user_folder
from .tree import printable

NETWORK = frozenset(
    (
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "glusterfs", "lustre", "gfs2", "ocfs2", "beegfs",
        "davfs", "ncpfs",
    )
)  # fmt: skip
NETWORK_FUSE = ("sshfs", "s3fs", "rclone", "gcsfuse", "glusterfs", "davfs2", "curlftpfs", "gvfsd-fuse", "goofys")
PSEUDO = frozenset(("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "debugfs", "tracefs", "securityfs"))


def default_store() -> Path:
    """The folder of all workspaces' checkpoints, in the user's state directory."""
    return user_folder("state") / "checkpoints"


def store_of(workspace: Path, store: Path | None = None) -> Path:
    """The folder of one workspace's checkpoints: its name, for people, and a hash of its path."""
    key = sha256(os.fsencode(workspace)).hexdigest()[:16]
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace.name)[:40] or "root"
    return (store or default_store()) / f"{name}-{key}"


def known_workspace(start: Path, store: Path | None = None) -> Path | None:
    """The nearest folder, from `start` upwards, that has checkpoints."""
    start = resolved(start)
    return next((p for p in (start, *start.parents) if (store_of(p, store) / "store.db").exists()), None)


def resolved(path: Path) -> Path:
    return Path(os.path.realpath(path))


def inside(paths: Iterable[str | os.PathLike[str]], workspace: Path) -> list[str]:
    """Paths relative to the workspace, as trees name them; absolute ones must be inside it."""
    found = []
    for path in paths:
        text = os.fspath(path)
        text = os.path.normpath(os.path.relpath(text, workspace) if Path(text).is_absolute() else text)
        if text == ".." or text.startswith("../"):
            raise BadInput(f"{printable(os.fspath(path))!r} is outside the workspace", where=str(workspace))
        found.append("" if text == "." else text)
    return found


def refuse_missing(workspace: Path, store: Path) -> None:
    """Raise BadInput if the folder does not exist, unless it can be restored from checkpoints."""
    if not workspace.is_dir() and (workspace.exists() or not (store / "store.db").exists()):
        raise BadInput("the folder does not exist", where=str(workspace), todo="Specify the folder to checkpoint")


def refuse_unfit(
    workspace: Path, store: Path, *, mounts: str = "/proc/self/mountinfo", home: Path | None = None
) -> None:
    """Raise BadInput if checkpoints of this folder would be dangerous or pointless."""
    where = str(workspace)
    todo = "Use the project's own folder as the workspace: change to it, or use interlock run --workspace DIR"
    home = resolved(home or Path.home())
    if workspace == workspace.parent:
        raise BadInput("the root of the file system cannot be a workspace", where=where, todo=todo)
    if workspace == home:
        raise BadInput("the home folder cannot be a workspace", where=where, todo=todo)
    if workspace in home.parents:
        raise BadInput("a folder that contains the home folder cannot be a workspace", where=where, todo=todo)
    if store == workspace or workspace in store.parents:
        raise BadInput(f"the checkpoints would be stored inside the workspace, in {store}", where=where, todo=todo)
    kind = file_system_of(workspace, mounts)
    if kind in NETWORK or (kind.startswith("fuse.") and kind[5:] in NETWORK_FUSE):
        raise BadInput(f"it is on a network mount ({kind}), which checkpoints do not cover", where=where, todo=todo)
    if kind in PSEUDO:
        raise BadInput(f"it is on {kind}, which does not hold files", where=where, todo=todo)


def file_system_of(path: Path, mounts: str = "/proc/self/mountinfo") -> str:
    """The type of the file system that a path is on; empty if unknown."""
    best, kind = "", ""
    for point, found in _mount_points(mounts):
        if (str(path) == point or str(path).startswith(point.rstrip("/") + "/")) and len(point) >= len(best):
            best, kind = point, found
    return kind


def mounts_inside(path: str, mounts: str = "/proc/self/mountinfo") -> frozenset[str]:
    """The mounts below a folder, relative to it, including bind mounts of the same file system."""
    top = path.rstrip("/") + "/"
    return frozenset(point[len(top) :] for point, _ in _mount_points(mounts) if point.startswith(top))


def _mount_points(mounts: str) -> Iterator[tuple[str, str]]:
    """Every mount point with the type of its file system, in order."""
    try:
        lines = Path(mounts).read_text(errors="surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        head, _, tail = line.partition(" - ")
        fields, after = head.split(" "), tail.split(" ")
        if len(fields) >= 5 and after[0]:
            yield re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4]), after[0]


DEEPEST = 512
"""The deepest nesting that is followed; only hostile trees are deeper."""

EXCLUDED = "excluded by configuration"
"""Why a path that the user excludes is not covered."""

DEVICE = "a device"
DENIED = "no permission to read"
_SPECIAL = {stat.S_IFSOCK: "a socket", stat.S_IFIFO: "a FIFO", stat.S_IFCHR: DEVICE, stat.S_IFBLK: DEVICE}

SPECIAL_WORDS = frozenset(_SPECIAL.values())


class ExclusionPolicy:
    """Patterns of names (`*.log`, `node_modules`) or of paths (`web/dist`) to exclude."""

    def __init__(self, patterns: tuple[str, ...] = ()) -> None:
        self.patterns = tuple(plain for pattern in patterns if (plain := pattern.strip("/")))
        self._names = _any_of([pattern for pattern in self.patterns if "/" not in pattern])
        self._paths = _any_of([pattern for pattern in self.patterns if "/" in pattern])

    def excludes(self, path: str) -> bool:
        if not self.patterns:
            return False
        return bool(
            (self._names is not None and self._names(path.rpartition("/")[2]))
            or (self._paths is not None and self._paths(path))
        )


def special(mode: int) -> str | None:
    """The kind of special file, or None; special files are never opened."""
    return _SPECIAL.get(stat.S_IFMT(mode))


def _any_of(patterns: list[str]) -> Callable[[str], re.Match[str] | None] | None:
    return re.compile("|".join(translate(pattern) for pattern in patterns)).match if patterns else None
