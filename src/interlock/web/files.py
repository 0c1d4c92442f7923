"""Files of a run: what a checkpoint changed, what going back would do, and going back where no one runs any more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from ..checkpoint import Change, Checkpoints, Restored, RestorePlan, resolved
from ..config import load
from ..core import CheckpointInfo, NotFound, SystemClock
from ..journal import RunFolder

MAX_PATCH = 400_000
"""Characters of a diff that a page gets; what is longer is for a terminal."""

MAX_CHANGES = 2_000


class FileDifference(Struct, frozen=True, kw_only=True):
    """What changed from one moment to another; `b` None is now."""

    a: str
    b: str | None
    changes: tuple[Change, ...]
    patch: str
    total: int
    cut: bool


def show_difference(folder: RunFolder, wanted: str, against: str) -> FileDifference:
    """What a checkpoint's files are against the one before (`before`), the one after (`after`) or the disk (`now`)."""
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
    """What going back would do: only what the run itself changed."""
    with open_checkpoints(folder) as found:
        info = found.get(wanted)
        return found.preview(info.id, paths, own_changes=found.own_changes(info.id, folder.run_id))


def restore(folder: RunFolder, wanted: str, paths: list[str]) -> Restored:
    """Go back, for a run that has ended; a live one is asked to do it itself."""
    with open_checkpoints(folder) as found:
        info = found.get(wanted)
        return found.restore(info.id, paths, own_changes=found.own_changes(info.id, folder.run_id))


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
