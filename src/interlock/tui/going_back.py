"""Going back: the difference to a checkpoint, the preview of a rollback, and the rollback itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core import SystemClock
from .line import Line
from .pager import patch_lines
from .place import Place
from .words import plural

if TYPE_CHECKING:
    from ..checkpoint import Checkpoints, Plan, Restored


@contextmanager
def open_checkpoints(place: Place, run_id: str) -> Iterator[Checkpoints]:
    """The checkpoints of a run's workspace."""
    # Not needed until somebody asks, and slow to import.
    from ..checkpoint import Checkpoints

    workspace = place.workspace(run_id)
    settings = place.config.checkpoints
    with Checkpoints.open(workspace, place.checkpoint_store, config=settings, clock=SystemClock()) as found:
        yield found


def read_patch(place: Place, run_id: str, a: str, b: str | None) -> list[Line]:
    """What changed from a checkpoint to another, or to the workspace now."""
    with open_checkpoints(place, run_id) as found:
        return patch_lines(found.patch(a, b))


def preview(place: Place, run_id: str, checkpoint_id: str) -> Plan:
    """What taking the run's own changes back would do."""
    with open_checkpoints(place, run_id) as found:
        return found.preview(checkpoint_id, own_changes=found.own_changes(checkpoint_id, run_id))


def go_back(place: Place, run_id: str, checkpoint_id: str) -> str:
    """Take back what a run that nobody owns any more has changed; says what was done."""
    with open_checkpoints(place, run_id) as found:
        own = found.own_changes(checkpoint_id, run_id)
        return _told(found.restore(checkpoint_id, own_changes=own))


def _told(done: Restored) -> str:
    checked = "verified" if done.verified else f"NOT verified: {plural(len(done.wrong), 'path')} differ"
    left = f", {plural(len(done.left_alone), 'path')} left alone" if done.left_alone else ""
    return f"{plural(len(done.changed), 'path')} went back{left}, {checked}. Take it back with interlock undo."
