"""DirectiveExecutor: carries out directives through adapter, processes and workspace, in order, and records each."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec.structs import replace

from ..checkpoint import Restored
from ..core import (
    Adapter,
    Applied,
    Defer,
    Delay,
    Deny,
    Directive,
    Hold,
    Inject,
    Limits,
    Message,
    Notify,
    Restore,
    Rewrite,
    SetLimits,
    Stop,
    SwitchModel,
)
from ..journal_records import AppliedRecord, IncidentRecord
from .alerts import Alerts
from .fail_open import Guard
from .pipeline_values import StepOutcome
from .run import Run
from .workspace import RunWorkspace

if TYPE_CHECKING:
    from ..decide import Ruling
    from ..intervene import Stopped


T = TypeVar("T")


PERSON = "a person's order"
"""The cause of a restore that a person requested."""

CONVERSATION_BACK = "Your conversation was rolled back to the same point: what came after it is gone."
CONVERSATION_STAYS = "Your conversation was not rolled back: what it says about the files may be outdated."
"""Tells the agent after a rollback that its conversation was not rolled back."""


class ProcessControl(Protocol):
    """The run's process tree; None if the agent runs in this process."""

    def frozen(self) -> AbstractContextManager[None]: ...

    def hold(self) -> str: ...

    def release(self) -> None: ...

    def limit(self, limits: Limits) -> str: ...

    def end(self, grace_s: float) -> str: ...

    def left(self) -> str: ...


class DirectiveExecutor:
    """Carries out a run's directives; each returns an Applied."""

    def __init__(
        self,
        adapter: Adapter,
        *,
        workspace: RunWorkspace | None = None,
        processes: ProcessControl | None = None,
        notifier: Alerts | None = None,
    ) -> None:
        self.adapter = adapter
        self.workspace = workspace
        self.processes = processes
        self.notifier = notifier
        self.messages: list[Message] = []
        self.delay_s = 0.0
        self._after_restore = ""
        self.on_hold: Callable[[Hold], str] = lambda hold: ""
        self.on_limits: Callable[[SetLimits], Limits] = lambda order: order.limits
        self.on_stop: Callable[[Stop], str] = lambda stop: ""
        self.on_restored: Callable[[Restore, Restored], None] = lambda order, restored: None
        self.on_not_stopped: Callable[[str], None] = lambda processes: None

    def carry_out(self, directive: Directive) -> Applied:
        """Carry out a directive; returns the result."""
        match directive:
            case Inject(message):
                return self._inject(message)
            case SetLimits():
                limits = self.on_limits(directive)
                held = self.processes.limit(limits) if self.processes is not None else ""
                return Applied(True, "enforced from the next call on" + (f"; {held}" if held else ""))
            case Delay(seconds):
                self.delay_s = max(self.delay_s, seconds)
                return Applied(True, f"the next call waits {seconds:g} s")
            case Hold():
                return Applied(True, self.on_hold(directive) or "the gate is shut")
            case Restore():
                return self._restore(directive)
            case Stop():
                return self._stop(directive)
            case Notify():
                if self.notifier is None:
                    return Applied(False, "no channel is configured")
                self.notifier.send(directive)
                return Applied(True, "handed to the channels")
            case Deny() | Rewrite() | Defer() | SwitchModel():
                return self._ask_adapter(directive)

    def _inject(self, message: Message) -> Applied:
        if "inject" not in self.adapter.capabilities:
            return Applied(False, f"{self.adapter.name} cannot take messages")
        if self._after_restore and message.meta is not None and message.meta.checkpoint_id is not None:
            message = replace(message, content=f"{message.content}\n{self._after_restore}")
        self._after_restore = ""
        self.messages.append(message)
        return Applied(True, "sent with the next reply to the agent")

    def _restore(self, order: Restore) -> Applied:
        if self.workspace is None:
            return Applied(False, "the run has no workspace with checkpoints")
        frozen = self.processes.frozen() if self.processes is not None else nullcontext()
        with frozen:
            paths = order.paths
            if paths and order.reason != PERSON:
                # The last call may have changed more since the decision.
                paths = self.workspace.changed_since(order.checkpoint_id).files
            restored = self.workspace.restore(order.checkpoint_id, paths)
        self.on_restored(order, restored)
        conversation = self._ask_adapter(order) if "conversation" in self.adapter.capabilities else None
        self._after_restore = CONVERSATION_BACK if conversation is not None and conversation.ok else CONVERSATION_STAYS
        words = f"{len(restored.changed)} paths restored, undo with checkpoint {restored.safety_id}"
        if restored.left_alone:
            words += f", {len(restored.left_alone)} left alone: not known to be this run's work, or not covered"
        if conversation is not None and not conversation.ok:
            words += f"; the conversation stays ({conversation.how})"
        return Applied(True, words)

    def _stop(self, order: Stop) -> Applied:
        """First the gate, which cannot fail; then the processes; then the adapter, with a short timeout."""
        shut = self.on_stop(order)
        grace_s = EMERGENCY_GRACE_S if order.incident_id is not None else GRACE_S
        ended = self.processes.end(grace_s) if self.processes is not None else ""
        if self.processes is not None:
            self.on_not_stopped(self.processes.left())
        asked = Applied(False, "")
        if "stop" in self.adapter.capabilities:
            asked = with_timeout(
                lambda: self._ask_adapter(order), STOP_PATIENCE_S, Applied(False, "the adapter did not respond")
            )
        return Applied(asked.ok or bool(ended) or bool(shut), "; ".join(filter(None, (shut, ended, asked.how))))

    def _ask_adapter(self, directive: Directive) -> Applied:
        answer: object = self.adapter.apply(directive)
        if isinstance(answer, Applied):
            return answer
        return Applied(False, f"{self.adapter.name} answered with {type(answer).__name__}")


GRACE_S = 3.0
"""How long processes may take to end after SIGTERM; then they are killed."""

EMERGENCY_GRACE_S = 0.2
"""The same for an emergency stop, which must finish within a second."""

STOP_PATIENCE_S = 0.3
"""How long an adapter may take to stop: an emergency stop must finish within a second, even if something hangs."""


def with_timeout(work: Callable[[], T], seconds: float, otherwise: T) -> T:
    """The result of third-party code, or `otherwise` if it takes too long or raises."""
    answer: queue.SimpleQueue[T] = queue.SimpleQueue()

    def attempt() -> None:
        with suppress(Exception):
            answer.put(work())

    threading.Thread(target=attempt, name="interlock-timed", daemon=True).start()
    try:
        return answer.get(timeout=seconds)
    except queue.Empty:
        return otherwise


SAVE_PATIENCE_S = 5.0
"""How long saving an incident may take; the agent is already stopped."""


class DirectiveRunner:
    """For one run. If a directive fails, the failure is recorded and the others are still carried out."""

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
        """Carry out all other directives."""
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
            "supervisor", lambda: self.executor.carry_out(directive), Applied(False, "it failed; see the fault record")
        )
        self.run.record(AppliedRecord(directive, applied, ruling.intervention.id))
        return applied

    def _save(self, stopped: Stopped) -> None:
        """Save the incident with a timeout: a full or hanging disk must not prevent the stop."""
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
        """Files in the workspace that the run has changed since it began."""
        if self.executor.workspace is None:
            return ()
        kept = self.executor.workspace.checkpoints
        own = [info for info in kept.list() if info.run_id == self.run.spec.run_id]
        first = min(own, key=lambda info: info.time, default=None)
        if first is None:
            return ()
        return tuple(change.path for change in kept.diff(first.id) if change.kind != "touched")
