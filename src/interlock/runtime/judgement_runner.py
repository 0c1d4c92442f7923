"""DirectiveRunner: carries out what a judgement asks for, in the right order, and records how each went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core import Applied, Directive, Stop
from ..journal_records import AppliedRecord, IncidentRecord
from .directive_executor import DirectiveExecutor, with_timeout
from .fail_open import Guard
from .run import Run
from .step_outcome import StepOutcome

if TYPE_CHECKING:
    from ..decide import Ruling
    from ..intervene import Stopped

SAVE_PATIENCE_S = 5.0
"""How long saving an incident may take; the agent is stopped by then."""


class DirectiveRunner:
    """For one run. A directive that fails is recorded as such and does not keep the others from being carried out."""

    def __init__(self, run: Run, executor: DirectiveExecutor, guard: Guard) -> None:
        self.run = run
        self.executor = executor
        self._guard = guard
        self._stopped: set[str] = set()

    def stop_first(self, judgement: StepOutcome) -> None:
        """Stop the agent before anything is written."""
        for ruling in judgement.rulings:
            for directive in ruling.directives:
                if isinstance(directive, Stop):
                    self.run.reason = self.run.reason or "EMERGENCY_STOP"
                    self._stopped.add(ruling.intervention.id)
                    self._do(directive, ruling)

    def carry_out(self, judgement: StepOutcome) -> None:
        """Everything that is still to be done."""
        from ..intervene import Continue, RecoveryNeeded, Stopped

        for ruling in judgement.rulings:
            if isinstance(ruling.answer, Stopped):
                self._save(ruling.answer)
            elif isinstance(ruling.answer, RecoveryNeeded) and ruling.directives:
                self.run.record(ruling.answer.plan)
            elif isinstance(ruling.answer, Continue):
                for entry in ruling.answer.history:
                    self.run.record(entry)
            for directive in ruling.directives:
                if not (isinstance(directive, Stop) and ruling.intervention.id in self._stopped):
                    self._do(directive, ruling)

    def _do(self, directive: Directive, ruling: Ruling) -> Applied:
        applied = self._guard.part(
            "supervisor",
            lambda: self.executor.carry_out(directive),
            Applied(False, "it failed; see the fault record"),
        )
        self.run.record(AppliedRecord(directive, applied, ruling.intervention.id))
        return applied

    def _save(self, stopped: Stopped) -> None:
        """The incident on disk, best effort and timed: a full disk or a hanging one must not undo the stop."""
        from ..intervene import offered, with_files
        from .incidents import save_stop

        folder = self.run.folder
        unknown: tuple[str, ...] = ()
        changed = with_timeout(self._changed_files, SAVE_PATIENCE_S, unknown)
        options = offered(stopped.recovery_options, self.run.spec, self.executor.adapter.capabilities)
        stopped = replace(stopped, report=with_files(stopped.report, changed), recovery_options=options)
        if folder is not None:
            saved = with_timeout(lambda: str(save_stop(folder.incidents, stopped)), SAVE_PATIENCE_S, "")
            where = saved or "it could not be saved"
        else:
            where = "kept in memory only"
        self.run.record(IncidentRecord(stopped.incident_id, where, stopped.report.summary))
        self._guard.part("journal", lambda: self.run.end("aborted", "EMERGENCY_STOP", stopped.report.summary), None)

    def _changed_files(self) -> tuple[str, ...]:
        """What the run has changed in its workspace since it began."""
        if self.executor.workspace is None:
            return ()
        kept = self.executor.workspace.checkpoints
        own = [info for info in kept.list() if info.run_id == self.run.spec.run_id]
        first = min(own, key=lambda info: info.time, default=None)
        if first is None:
            return ()
        return tuple(change.path for change in kept.diff(first.id) if change.kind != "touched")
