"""CheckpointKeys: what can be done with the checkpoint under the cursor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core import SystemClock
from .line import Line
from .pager import patch_lines
from .run_source import RunSource
from .words import plural

if TYPE_CHECKING:
    from ..checkpoint import Checkpoints, Restored, RestorePlan

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from ..core import CheckpointInfo
from ..report import RunRow
from .background_tasks import run_errand
from .checkpoint_rows import plan_words
from .control_keys import LIVE, Steered
from .listing import Listing
from .pager import Pager
from .question import Answers, Question

if TYPE_CHECKING:
    from ..checkpoint import RestorePlan


class CheckpointKeys(Steered):
    """Differences, and going back: previewed, confirmed, and done by the run itself while it lives."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "diff", "Diff"),
        Binding("D", "diff_before", "Diff with previous", show=False),
        Binding("b", "go_back", "Roll back"),
    ]

    def checkpoints(self) -> Listing[CheckpointInfo]:
        """The list that the cursor is in, the newest first."""
        raise NotImplementedError

    def action_diff(self) -> None:
        info = self.checkpoints().item
        if info is not None:
            self._page_patch(f"From {info.id} to the workspace now", info.id, None)

    def action_diff_before(self) -> None:
        listing = self.checkpoints()
        info, earlier = listing.item, listing.items[listing.cursor + 1 :]
        if info is not None and earlier:
            self._page_patch(f"From {earlier[0].id} to {info.id}", earlier[0].id, info.id)
        elif info is not None:
            self.top.notify("This is the first checkpoint.", markup=False)

    def action_go_back(self) -> None:
        info, run = self.checkpoints().item, self.chosen()
        if info is None or run is None:
            return
        self.top.notify(f"Checking what a rollback to {info.id} would change …", markup=False, timeout=2)
        run_errand(
            "interlock-preview",
            lambda: preview(self.top.place, run.run_id, info.id),
            lambda plan: self.top.call_later(self._confirm, info, plan),
            lambda error: self.top.call_later(self.top.complain, str(error)),
        )

    def _page_patch(self, title: str, a: str, b: str | None) -> None:
        run = self.chosen()
        if run is None:
            return
        pager = Pager(title, waiting="Comparing …")
        self.top.push_screen(pager)
        run_errand(
            "interlock-diff",
            lambda: read_patch(self.top.place, run.run_id, a, b),
            lambda lines: self.top.call_later(partial(pager.fill, lambda _: lines, none="No difference.")),
            lambda error: self.top.call_later(pager.fail, str(error)),
        )

    def _confirm(self, info: CheckpointInfo, plan: RestorePlan) -> None:
        run = self.chosen()
        if run is None:
            return
        live = run.status in LIVE and run.owner_pid is not None
        words = plan_words(plan, live=live)
        if not plan.changes:
            self.top.push_screen(Question(f"Nothing to roll back to {info.id}", words, yes="Good", no="Back"))
            return
        question = Question(f"Roll back to {info.id}?", words, yes="Roll back", no="Cancel", hurts=True)
        self.top.push_screen(question, lambda answers: self._roll_back(info, run, live, answers))

    def _roll_back(self, info: CheckpointInfo, run: RunRow, live: bool, answers: Answers | None) -> None:
        if answers is None:
            return
        if live:
            self.top.send("rollback", run, {"to": info.id})
            return
        run_errand(
            "interlock-rollback",
            lambda: go_back(self.top.place, run.run_id, info.id),
            lambda words: self.top.call_later(partial(self.top.notify, words, markup=False, timeout=10)),
            lambda error: self.top.call_later(self.top.complain, str(error)),
        )


@contextmanager
def open_checkpoints(place: RunSource, run_id: str) -> Iterator[Checkpoints]:
    """The checkpoints of a run's workspace."""
    # Not needed until someone asks, and slow to import.
    from ..checkpoint import Checkpoints

    workspace = place.workspace(run_id)
    settings = place.config.checkpoints
    with Checkpoints.open(workspace, place.checkpoint_store, config=settings, clock=SystemClock()) as found:
        yield found


def read_patch(place: RunSource, run_id: str, a: str, b: str | None) -> list[Line]:
    """What changed from a checkpoint to another, or to the workspace now."""
    with open_checkpoints(place, run_id) as found:
        return patch_lines(found.patch(a, b))


def preview(place: RunSource, run_id: str, checkpoint_id: str) -> RestorePlan:
    """What taking the run's own changes back would do."""
    with open_checkpoints(place, run_id) as found:
        return found.preview(checkpoint_id, own_changes=found.own_changes(checkpoint_id, run_id))


def go_back(place: RunSource, run_id: str, checkpoint_id: str) -> str:
    """Take back what a run that no one owns any more has changed; says what was done."""
    with open_checkpoints(place, run_id) as found:
        own = found.own_changes(checkpoint_id, run_id)
        return _told(found.restore(checkpoint_id, own_changes=own))


def _told(done: Restored) -> str:
    checked = "verified" if done.verified else f"NOT verified: {plural(len(done.wrong), 'path')} differ"
    left = f", {plural(len(done.left_alone), 'path')} left alone" if done.left_alone else ""
    return f"{plural(len(done.changed), 'path')} restored{left}, {checked}. Revert with interlock undo."
