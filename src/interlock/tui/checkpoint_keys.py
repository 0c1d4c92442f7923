"""CheckpointKeys: the list of checkpoints, and the keys that diff and roll back to them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from ..checkpoint import Checkpoints, Restored, RestorePlan
from ..core import CheckpointInfo, SystemClock, printable_path
from ..report import RunRow, plural, size
from .background_tasks import run_in_background
from .control_keys import LIVE, Steered
from .line import Line, clean, fit, flat
from .pager import Pager, patch_lines
from .question import FieldValues, Question
from .row_list import RowList
from .run_reader import RunSource
from .words import clock_time


class CheckpointKeys(Steered):
    """Diff and rollback: previewed, confirmed, and done by the run itself while it is live."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "diff", "Diff"),
        Binding("D", "diff_before", "Diff with previous", show=False),
        Binding("b", "go_back", "Roll back"),
    ]

    def checkpoints(self) -> RowList[CheckpointInfo]:
        """The list with the cursor, newest first."""
        raise NotImplementedError

    def action_diff(self) -> None:
        info = self.checkpoints().item
        if info is not None:
            self._page_patch(f"From {info.id} to the workspace now", info.id, None)

    def action_diff_before(self) -> None:
        row_list = self.checkpoints()
        info, earlier = row_list.item, row_list.items[row_list.cursor + 1 :]
        if info is not None and earlier:
            self._page_patch(f"From {earlier[0].id} to {info.id}", earlier[0].id, info.id)
        elif info is not None:
            self.top.notify("This is the first checkpoint.", markup=False)

    def action_go_back(self) -> None:
        info, run = self.checkpoints().item, self.chosen()
        if info is None or run is None:
            return
        self.top.notify(f"Checking what a rollback to {info.id} would change …", markup=False, timeout=2)
        source = self.top.source
        self.in_background(
            "interlock-preview", lambda: preview(source, run.run_id, info.id), partial(self._confirm, info)
        )

    def _page_patch(self, title: str, a: str, b: str | None) -> None:
        run = self.chosen()
        if run is None:
            return
        pager = Pager(title, waiting="Comparing …")
        self.top.push_screen(pager)
        run_in_background(
            "interlock-diff",
            lambda: read_patch(self.top.source, run.run_id, a, b),
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

    def _roll_back(self, info: CheckpointInfo, run: RunRow, live: bool, answers: FieldValues | None) -> None:
        if answers is None:
            return
        if live:
            self.top.send("rollback", run, {"to": info.id})
            return
        source, show = self.top.source, partial(self.top.notify, markup=False, timeout=10)
        self.in_background("interlock-rollback", lambda: go_back(source, run.run_id, info.id), show)


@contextmanager
def open_checkpoints(source: RunSource, run_id: str) -> Iterator[Checkpoints]:
    """The checkpoints of a run's workspace."""
    workspace = source.workspace(run_id)
    settings = source.config.checkpoints
    with Checkpoints.open(workspace, source.checkpoint_store, config=settings, clock=SystemClock()) as found:
        yield found


def read_patch(source: RunSource, run_id: str, a: str, b: str | None) -> list[Line]:
    """What changed from a checkpoint to another, or to the workspace now."""
    with open_checkpoints(source, run_id) as found:
        return patch_lines(found.patch(a, b))


def preview(source: RunSource, run_id: str, checkpoint_id: str) -> RestorePlan:
    """What undoing the run's own changes would do."""
    with open_checkpoints(source, run_id) as found:
        return found.preview(checkpoint_id, own_changes=found.own_changes(checkpoint_id, run_id))


def go_back(source: RunSource, run_id: str, checkpoint_id: str) -> str:
    """Undo what a run without an owner has changed; returns what was done, in words."""
    with open_checkpoints(source, run_id) as found:
        own = found.own_changes(checkpoint_id, run_id)
        return _restored_words(found.restore(checkpoint_id, own_changes=own))


def _restored_words(done: Restored) -> str:
    checked = "verified" if done.verified else f"NOT verified: {plural(len(done.wrong), 'path')} differ"
    left = f", {plural(len(done.left_alone), 'path')} left alone" if done.left_alone else ""
    return f"{plural(len(done.changed), 'path')} restored{left}, {checked}. Revert with interlock undo."


SHOWN = 14
"""Paths that are listed; the rest is counted."""

_SIGNS = {"created": ("+", "$success"), "deleted": ("-", "$error"), "content": ("~", "$warning")}


def checkpoint_heading(width: int) -> Line:
    return (
        (fit("TIME", 10), ""),
        (fit("CHECKPOINT", 16), ""),
        (fit("STEP", 6, right=True), ""),
        (fit("FILES", 8, right=True), ""),
        (fit("SIZE", 9, right=True), ""),
        ("  WHY", ""),
    )


def draw_checkpoint(info: CheckpointInfo, width: int) -> Line:
    why = ": ".join(filter(None, (info.cause, info.label)))
    left_out = f"  ({len(info.not_covered)} not covered)" if info.not_covered else ""
    return (
        (fit(clock_time(info.time), 10), "dim"),
        (fit(info.id, 16), "link"),
        (fit(str(info.step), 6, right=True), ""),
        (fit(f"{info.files:,}", 8, right=True), ""),
        (fit(size(info.bytes), 9, right=True), ""),
        (f"  {flat(why)}", "strong" if info.cause == "start" else ""),
        (left_out, "warn"),
    )


def plan_words(plan: RestorePlan, *, live: bool) -> Content:
    """What a rollback would do, for the person who has to confirm it."""
    parts: list[Content] = []
    if not plan.changes:
        parts.append(Content("Nothing that this run changed differs from the checkpoint."))
    else:
        parts.append(Content(f"{plural(len(plan.changes), 'path')} would be restored:"))
        for change in plan.changes[:SHOWN]:
            sign, style = _SIGNS.get(change.kind, ("~", "$warning"))
            parts.append(Content.styled(f"  {sign} {printable_path(change.path)}", style))
        if len(plan.changes) > SHOWN:
            parts.append(Content(f"  and {len(plan.changes) - SHOWN:,} more"))
    if plan.left_alone:
        parts.append(Content(f"{plural(len(plan.left_alone), 'path')} would be left alone:"))
        parts += [
            Content.styled(f"  {clean(left.path)}: {left.reason}", "$text-muted") for left in plan.left_alone[:SHOWN]
        ]
    if plan.locks:
        parts.append(Content.styled(f"A git command seems to be running: {clean(', '.join(plan.locks))}", "$error"))
    parts.append(Content(""))
    who = "The run does this itself: its agent is held in the meantime, then informed." if live else ""
    parts.append(Content(f"{who} The current state is saved first: interlock undo reverts this.".strip()))
    return Content("\n").join(parts)
