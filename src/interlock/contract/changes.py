"""Changes: the paths that a call would change, by its reading; the checkpoint after it shows the rest."""

from __future__ import annotations

from msgspec import Struct

from ..calls import CHANGING, CallReading
from ..core import relative

MOST = 256
"""Paths checked per call."""


class ChangedPath(Struct, frozen=True):
    """A path in the workspace that would change; `whole` if everything below it would be removed or moved."""

    path: str
    whole: bool = False


def changed_by(reading: CallReading, workspace: str | None) -> list[ChangedPath]:
    """The paths that a call would change, relative to the workspace where they are in it."""
    paths: dict[ChangedPath, None] = {}
    for effect in reading.effects:
        if not effect.file or effect.verb not in CHANGING or effect.target[:1] == "$":
            continue
        path = relative(effect.target, workspace)
        # What a search of the whole workspace selects, only the checkpoint can tell.
        if not path.startswith("**"):
            paths[ChangedPath(path, effect.verb in ("delete", "move"))] = None
    return list(paths)[:MOST]
