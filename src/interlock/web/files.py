"""Files of a run: diffs of and rollback to checkpoints, and screenshots by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ..checkpoint import Change, Checkpoints, Restored, RestorePlan, resolved
from ..config import load
from ..core import CheckpointInfo, NotFound, SystemClock, read_small
from ..journal import RunFolder

MAX_PATCH = 400_000
"""Characters of a diff that a page gets; longer ones need a terminal."""

MAX_CHANGES = 2_000


class FileDifference(Struct, frozen=True, kw_only=True):
    """What changed from checkpoint `a` to `b`; None is now."""

    a: str
    b: str | None
    changes: tuple[Change, ...]
    patch: str
    total: int
    cut: bool


def show_difference(folder: RunFolder, wanted: str, against: str) -> FileDifference:
    """A checkpoint compared with the one before (`before`), the one after (`after`) or the disk (`now`)."""
    with open_checkpoints(folder) as found:
        info = found.get(wanted)
        a, b = _pair(found, info, against)
        changes = [change for change in found.diff(a, b) if change.kind != "touched"]
        patch = found.patch(a, b) if changes else ""
    return FileDifference(
        a=a,
        b=b,
        changes=tuple(changes[:MAX_CHANGES]),
        patch=patch[:MAX_PATCH],
        total=len(changes),
        cut=len(patch) > MAX_PATCH or len(changes) > MAX_CHANGES,
    )


def preview(folder: RunFolder, wanted: str, paths: list[str]) -> RestorePlan:
    """Plan a rollback of the run's own changes, without doing it."""
    with open_checkpoints(folder) as found:
        target = found.get(wanted).id
        return found.preview(target, paths, own_changes=found.own_changes(target, folder.run_id))


def restore(folder: RunFolder, wanted: str, paths: list[str]) -> Restored:
    """Roll back an ended run; a live one does it itself."""
    with open_checkpoints(folder) as found:
        target = found.get(wanted).id
        return found.restore(target, paths, own_changes=found.own_changes(target, folder.run_id))


@contextmanager
def open_checkpoints(folder: RunFolder) -> Iterator[Checkpoints]:
    """The checkpoints of a run's workspace."""
    workspace = folder.spec().workspace
    if workspace is None:
        raise NotFound(f"run {folder.run_id} has no workspace", todo="Only runs with a workspace have checkpoints.")
    with Checkpoints.open(resolved(Path(workspace)), config=load().checkpoints, clock=SystemClock()) as found:
        yield found


def _pair(found: Checkpoints, info: CheckpointInfo, against: str) -> tuple[str, str | None]:
    if against == "now":
        return info.id, None
    ids = [each.id for each in found.list()]
    at = ids.index(info.id)
    if against == "after":
        return info.id, ids[at + 1] if at + 1 < len(ids) else None
    if at == 0:
        raise NotFound("this is the first checkpoint: there is none before it", todo="Compare it with now.")
    return ids[at - 1], info.id


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.(png|jpe?g|webp)")
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}
MAX_BYTES = 32 * 1024 * 1024


class StoredPicture(Struct, frozen=True):
    """One picture: name, time and size."""

    name: str
    time: float
    bytes: int


def list_pictures(folder: RunFolder) -> list[StoredPicture]:
    """All pictures of a run, oldest first."""
    found = []
    try:
        with os.scandir(folder.pictures) as entries:
            for entry in entries:
                if NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    found.append(StoredPicture(entry.name, about.st_mtime, about.st_size))
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda picture: (picture.time, picture.name))


def read_picture(folder: RunFolder, name: str) -> tuple[str, bytes]:
    """A picture's type and content; NotFound for anything that is not a picture of this run."""
    matched = NAME.fullmatch(name)
    if matched is None:
        raise NotFound("there is no such picture")
    try:
        return TYPES[matched[1]], read_small(folder.pictures / name, MAX_BYTES)
    except OSError:
        raise NotFound("there is no such picture", todo="Old screenshots are deleted after a while.") from None
