"""Checkpointing: makes a run's checkpoints, which include the state of the run."""

from __future__ import annotations

from msgspec.structs import replace

from ..checkpoint import Restored
from ..core import CheckpointInfo, Context, Hold, InterlockError, Restore, Review
from ..journal_records import RestoredRecord
from .decision_pipeline import DecisionPipeline
from .directive_executor import PERSON, DirectiveExecutor
from .fail_open import Guard
from .run import Run
from .workspace import RunWorkspace

UNDO_LOST = "the checkpoints were removed: changes of this run can no longer be undone"


class Checkpointing:
    """For one run; the caller holds the supervisor's lock."""

    def __init__(
        self, run: Run, pipeline: DecisionPipeline, executor: DirectiveExecutor, guard: Guard, context: Context
    ) -> None:
        self._run, self._pipeline, self._executor, self._guard, self._context = run, pipeline, executor, guard, context
        self._recorded = ""
        self.newest: CheckpointInfo | None = None
        self.problem = ""
        """Why the last checkpoint could not be made; empty if it was."""
        self._lost = False

    def make(self, *, cause: str, step: int, label: str = "") -> CheckpointInfo | None:
        """Snapshot the workspace; None if there is none, or if it failed (the failure is recorded)."""
        workspace = self._executor.workspace
        if workspace is None:
            return None
        made = self._guard.part("checkpoints", lambda: self._create(workspace, label, step, cause), None)
        if made is None:
            return None
        self.problem = ""
        ledger = self._pipeline.ledger
        info = replace(
            made,
            success_rate=ledger.success_rate,
            last_error_time=ledger.last_error_time,
            limits=self._pipeline.meter.limits,
            context=self._context,
        )
        if info.id != self._recorded:
            # If nothing has changed, this is the previous checkpoint.
            self._run.record(info)
            self._recorded = info.id
        self._pipeline.mark(info)
        self.newest = info
        return info

    def _create(self, workspace: RunWorkspace, label: str, step: int, cause: str) -> CheckpointInfo:
        try:
            return workspace.create(label, step, cause)
        except InterlockError as error:
            self.problem = str(error)
            raise

    def hold_if_lost(self) -> bool:
        """Pause the run once if its checkpoints are gone; if it is resumed, it continues without undo."""
        workspace = self._executor.workspace
        if self._lost or workspace is None or not workspace.checkpoints.removed:
            return False
        self._lost = True
        if not self._run.ended:
            self._executor.carry_out(Hold(UNDO_LOST, "recovery"))
        return not self._run.ended

    def start(self) -> str | None:
        """The run's first checkpoint, or None."""
        workspace = self._executor.workspace
        if workspace is None:
            return None
        try:
            return workspace.checkpoints.default_target(self._run.spec.run_id).id
        except InterlockError:
            return None

    def note_restored(self, order: Restore, restored: Restored) -> None:
        """The workspace was restored: restore the supervision state with it."""
        self._pipeline.go_back(order.checkpoint_id)
        self._run.record(
            RestoredRecord(
                checkpoint_id=order.checkpoint_id,
                safety_id=restored.safety_id,
                changed=tuple(change.path for change in restored.changed),
                left_alone=tuple(left.path for left in restored.left_alone),
                by="a person" if order.reason == PERSON else "interlock",
            )
        )


def may_change(review: Review | None) -> bool:
    """Whether a call may change files. A checkpoint is made before and after it, so that changes in between are known
    to be the run's own work, unlike changes at other times."""
    return review is None or review.action != "read"
