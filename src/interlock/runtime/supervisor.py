"""Supervisor: before(step) and after(step) return decisions without waiting; a failure here never stops the agent."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from msgspec.structs import replace

from ..config import Config
from ..control import ABORT_REASONS, DONE_REASONS
from ..core import (
    PROCEED,
    Applied,
    CheckpointInfo,
    Context,
    Decision,
    Hold,
    InterlockError,
    Limits,
    Notify,
    Restore,
    Status,
    Step,
    Stop,
)
from ..journal import RunFolder, is_viewed
from ..journal_records import Fault, PersonRecord, SnapshotRecord, StepRecord
from ..redact import StepRedactor, redact_text, withhold
from .approvals import ApprovalAnswer, Approvals
from .budgets import open_budgets
from .call_permission import Permission, degrade, observe_result, refusal
from .checkpointing import UNDO_LOST, Checkpointing, may_change
from .contract_enforcer import ContractEnforcer
from .decision_pipeline import DecisionPipeline
from .directive_executor import DirectiveExecutor, DirectiveRunner
from .drift import Drift
from .fail_open import Guard, PartFailed
from .late_results import LateResults
from .limit_enforcer import LimitEnforcer
from .open_calls import OpenCalls
from .pipeline_values import AFTER_STEP, END_OF_TURN, Plugins, StepOutcome
from .run import Run
from .run_proof import RunProof
from .step_client import StepClient
from .step_recorder import StepRecorder
from .stop_gate import StopGate
from .surroundings import is_contained, missing_files

if TYPE_CHECKING:
    from ..review import Level
    from .assembly import Options
    from .model_judge import Judge
    from .usage_tracker import Prices

log = logging.getLogger("interlock")

SNAPSHOT_EVERY = 500
"""Steps between two snapshots of the supervision state: a successor replays at most this many."""

PERSON_EVERY_S = 2.0
"""How often to check whether the dashboard is open."""

ALLOWING = ("proceed", "rewrite")
"""The actions that allow a call."""


class Supervisor(StepClient):
    """Review, detection, decision and intervention for one Run. Thread-safe; created by `Supervisor.open`."""

    def __init__(
        self,
        run: Run,
        config: Config,
        executor: DirectiveExecutor,
        *,
        context: Context | None = None,
        plugins: Plugins | None = None,
        approvals: Approvals | None = None,
        level: Level = "off",
        late: bool = False,
    ) -> None:
        super().__init__(run)
        self.config = config
        self.executor = executor
        self.context = context or Context(original_prompt=run.spec.task, workspace=run.spec.workspace)
        self.approvals = approvals or Approvals()
        self.approvals.hours, self.approvals.clock = config.review.approval_hours, run.clock.time
        self.faults = 0
        self._observe = config.interventions.observe
        self._redactor = StepRedactor()
        self._lock = threading.RLock()
        closed = config.runtime.fail == "closed"
        self._guard = Guard(config.runtime.step_timeout_ms / 1000, self._note_fault, closed=closed)
        self.pipeline = DecisionPipeline(
            run.spec.run_id,
            config,
            self.context,
            model=run.spec.model,
            capabilities=executor.adapter.capabilities,
            plugins=plugins,
            guard=self._guard,
            restorable=executor.workspace is not None,
            contained=is_contained(),
            level=level,
            attended=self.approvals.needed,
            changed=executor.workspace.changed_since if executor.workspace is not None else None,
            late=True,
        )
        self.context = self.pipeline.context
        if not late:
            self.pipeline.prepare()
        self.recorder = StepRecorder(run, self.pipeline, executor.notifier)
        self.runner = DirectiveRunner(run, executor, self._guard)
        budgets = open_budgets(run, config)
        if budgets is not None:
            run.on_close(lambda: budgets.close(self.pipeline.ledger.spend, run.clock.time(), ended=run.ended))
        self._limiting = LimitEnforcer(run, self.pipeline, executor, self.recorder, self._guard, self._hold, budgets)
        self._checkpointing = Checkpointing(run, self.pipeline, executor, self._guard, self.context)
        self._enforcer = ContractEnforcer(
            run, self.pipeline, executor, self._checkpointing, self._guard, observe=self._observe
        )
        self._drift = Drift(run, self.pipeline, executor.workspace)
        self.proof = RunProof(run, self.pipeline, executor.workspace, self._guard)
        self.on_result: Callable[[Step], None] = lambda step: None
        self.stop_gate = StopGate(
            run, self.pipeline, executor, self._checkpointing, self.proof, config.contract, self._lock,
            self._enforcer.git, observe=self._observe,
        )  # fmt: skip
        self._since_snapshot = 0
        judge = _judge(config, self.pipeline.prices)
        self._permission = Permission(
            run, self.pipeline, self._guard, self._limiting, self.approvals, observe=self._observe
        )
        self._judged: OpenCalls[Decision] = OpenCalls()
        self._reported_faults: set[str] = set()
        self.late_results = LateResults(run, self.pipeline, self._record_and_act, self.recorder.describe, judge)
        self._asks_for_viewer = executor.notifier is None and not self.approvals.needed
        if not self._asks_for_viewer:
            self.pipeline.note_person(True)
        self._viewer_checked = -PERSON_EVERY_S
        executor.on_limits = lambda order: self.process_limits
        executor.on_stop = lambda stop: run.stop(stop.reason)
        executor.on_not_stopped = self._note_not_stopped
        executor.on_hold = self._hold
        executor.on_restored = self._checkpointing.note_restored
        run.on_close(self._guard.close)
        run.on_close(self.late_results.close)

    @classmethod
    def open(cls, **options: Unpack[Options]) -> Supervisor:
        """Start supervising a new run: `with Supervisor.open(task=..., workspace=...) as supervisor:`, plain or async.

        The run ends with the block. See `Options` for the arguments.
        """
        from .assembly import open_supervisor

        return open_supervisor(options)

    @classmethod
    def reopen(cls, folder: RunFolder, **options: Unpack[Options]) -> Supervisor:
        """Continue a run whose owner is gone, from its journal."""
        from .assembly import reopen_supervisor

        return reopen_supervisor(folder, options)

    def close(self, error: BaseException | None = None) -> None:
        """End the run, if it has not ended, and close it."""
        status: Status = "done" if error is None else "aborted"
        message = "" if error is None else redact_text(f"{type(error).__name__}: {error}")
        if error is None and self.run.reason is None:
            message = self._guard.part("contract", self.check_done, "")
        reason = "ERROR" if error is not None else "UNPROVEN" if message else "COMPLETE"
        with self._lock:
            self._guard.part("journal", self.late_results.settle, None)
            self.proof.record(settled=True, by_itself=error is None and self.run.reason is None)
        # A journal that cannot be written is our problem, not the agent's.
        self._guard.part("journal", lambda: self.run.end(status, reason, message, self.checkpoint_problem), None)
        if self.executor.notifier is not None:
            self.executor.notifier.close()
        self._guard.part("journal", self.run.close, None)
        folder, wanted = self.run.folder, self.config.interventions.emergency_stop.auto_cleanup
        if wanted and folder is not None and self.run.reason == "EMERGENCY_STOP":
            from .continuation import settle_stop

            try:
                settle_stop(folder)
            except (InterlockError, OSError):
                log.exception("run %s: cleaning up after the emergency stop failed", self.run.spec.run_id)

    def before(self, step: Step) -> Decision:
        """Whether this step may run. A hold is not recorded: ask again with the same step when it is over."""
        begin = time.perf_counter()
        with self._lock:
            self._report_journal_problem()
            self.late_results.catch_up()
            self._check_viewer()
            if self.approvals.remember(step):
                self._judged.end(step)
                self._permission.forget(step)
            original, step = step, self._admit(step)
            whole = self._guard.part("redaction", lambda: self._redactor.whole(original), None)
            if whole is not None:
                self._permission.review_whole(step, replace(whole, time=step.time))
            decision = self._permission.wait_for_person(step) or self.run.gate.enter(step)
            if decision.action == "proceed":
                decision = self._before(step, whole=original.tool == step.tool)
                if decision.action not in ALLOWING:
                    self.run.gate.leave(step)
                elif decision.delay_s:
                    self.run.gate.delay(step, decision.delay_s)
            elif self.run.ended:
                decision = Decision("stop", reason=self.run.why_ended)
            self._time(begin)
            return degrade(decision, self.executor.adapter.capabilities)

    def before_request(self) -> None:
        """Called before a model request, which costs money: an exhausted budget holds or ends the run."""
        with self._lock:
            if not self._observe and self.run.gate.status == "running":
                self._limiting.check_budgets(reserve=True)

    def abandon(self, step: Step) -> None:
        """Forget a step that will not run: it is not in progress, and needs no approval."""
        with self._lock:
            self.run.gate.leave(step)
            if self._permission.withdraw(step):
                self._guard.part("journal", self.run.stop_waiting, None, step.index, self.approvals.next_waiting)

    def after(self, step: Step) -> Decision:
        """The decision after a step: messages for the agent, or a stop. A pause takes effect at the next `before`."""
        begin = time.perf_counter()
        with self._lock:
            self._report_journal_problem()
            self.late_results.catch_up()
            self._check_viewer()
            step = self._admit(step)
            review = None
            if step.kind == "tool_result":
                self.run.gate.leave(step)
                self._judged.end(step)
                review = self._permission.forget(step)
            self._guard.part("supervisor", self.pipeline.count, 0.0, step)
            absent = self._guard.part("disk", missing_files, None, step, self.run.spec.workspace)
            try:
                seen = self._guard.run(lambda: observe_result(self.pipeline, step, absent))
            except PartFailed as broken:
                return self._broken(broken, StepRecord(step, absent=absent), ran=True)
            assert seen.judgement is not None
            self.late_results.record_late()
            works = step.kind == "tool_result" and may_change(review)
            rolls_back = any(isinstance(directive, Restore) for directive in seen.judgement.directives)
            if works and rolls_back:
                # Before a rollback: otherwise this call's changes would not count as the run's and be left alone.
                self._checkpointing.make(cause=AFTER_STEP, step=step.index + 1)
            self._record_and_act(StepRecord(step, seen.review, absent=absent), seen.judgement)
            self._guard.part("proof", self.proof.note, None, step)
            if step.kind == "tool_result":
                self._guard.part("journal", self.on_result, None, step)
            if works:
                # Also after a rollback: restored earlier work of the run is the run's own.
                before = self._checkpointing.newest
                now = self._checkpointing.make(cause=AFTER_STEP, step=step.index + 1)
                self._enforcer.after(step, before, now)
                self._guard.part("drift", self._drift.after, None, step, self._checkpointing.start, before, now)
            used_up = None if self._observe else self._limiting.check_spend()
            self._time(begin)
            return degrade(self._standing(used_up or PROCEED, before=False), self.executor.adapter.capabilities)

    def checkpoint(self, *, cause: str, step: int, label: str = "") -> CheckpointInfo | None:
        """Snapshot the workspace; None if there is none, or if it failed (the failure is recorded)."""
        with self._lock:
            return self._checkpointing.make(cause=cause, step=step, label=label)

    @property
    def checkpoint_problem(self) -> str:
        """Why the last checkpoint could not be made; empty if it was."""
        return self._checkpointing.problem

    def hold_without_undo(self) -> bool:
        """Pause once if the checkpoints were removed; called before each step that may change files."""
        with self._lock:
            return not self._observe and self._checkpointing.hold_if_lost()

    @property
    def process_limits(self) -> Limits:
        """The current limits on the agent's processes."""
        return self.pipeline.meter.for_processes(self.pipeline.ledger.spend.memory_mb)

    def check_usage(self, memory_mb: float, elapsed_s: float) -> None:
        """Check a sample of the agent's processes against the limits; an exceeded limit ends the run."""
        with self._lock:
            if not self._observe and not self.run.ended and self.run.gate.status == "running":
                self._limiting.check_use(memory_mb, elapsed_s)

    def check_done(self) -> str:
        """The agent has ended: returns why the run is unproven or violated its contract; empty if neither.

        Reverts remaining violations of the contract, and runs `done_when` unless the run was stopped. Call it
        before `finish`.
        """
        contract = self.pipeline.context.contract
        if not (contract.enforced or contract.done_when):
            return ""
        with self._lock:
            now = self._checkpointing.make(cause=END_OF_TURN, step=self.next_index)
            left = self._enforcer.settle(self._checkpointing.start(), now, self.next_index)
            broken = self._enforcer.settle_git(self.next_index)
        why = "" if self.run.ended else self.stop_gate.settle()
        if self._observe:
            return ""
        if left:
            broken = (f"{', '.join(left[:4])} changed and could not be restored", *broken)
        if broken:
            why = "; ".join((*([why] if why else []), f"against the contract: {'; '.join(broken[:4])}"))
        return why

    def record_contract(self) -> None:
        """Record the run's contract."""
        self._guard.part("journal", self._enforcer.record_contract, None)

    def finish(self, status: Status, reason: str, message: str) -> None:
        """The agent has ended by itself; if it was stopped, wait for that end, which takes precedence.

        A driver of the agent may use more reasons than COMPLETE and ERROR: MAX_ITERATIONS, STUCK, NO_MORE_ISSUES or
        MAX_ISSUES for `done`, CRITICAL_FAILURE for `aborted`.
        """
        reasons = ABORT_REASONS if status == "aborted" else DONE_REASONS if status == "done" else ()
        if reason not in reasons:
            raise ValueError(f"a run cannot end as {status!r} with the reason {reason!r}; known: {', '.join(reasons)}")
        with self._lock:
            self._guard.part("journal", self.late_results.settle, None)
            self.proof.record(settled=False, by_itself=status == "done" and self.run.reason is None)
            if self.run.reason is None:
                self.run.end(status, reason, message, self.checkpoint_problem)
        if self.run.steering is not None:
            self.run.steering.settle()

    def resume(self) -> bool:
        """End Interlock's own hold; False if the run has ended, or a person paused it."""
        resumed = self.run.resume()
        if resumed:
            self.note_status("running")
        return resumed

    def note_status(self, status: Status) -> None:
        """Note that the run was paused or resumed, without waiting: the next step applies it."""
        self.late_results.note_status(status)

    def answer(self, step: int | None, said: ApprovalAnswer, reason: str = "", digest: str | None = None) -> str:
        """Record a person's answer to a waiting step; without a number, to the one that has waited longest.

        With a `digest`, the answer is for that call only, and is refused if the step's call has changed.
        """
        waiting = self.approvals.waiting
        number = next(iter(waiting), -1) if step is None else step
        what = self.approvals.answer(number, said, reason, digest)
        self.run.update(waiting=self.approvals.next_waiting)
        self.run.gate.notify()
        return f"step {number} {said}: {what}"

    def restore(self, order: Restore) -> Applied:
        """Restore a checkpoint, as a person ordered."""
        with self._lock:
            return self.executor.carry_out(order)

    def _before(self, step: Step, *, whole: bool) -> Decision:
        known = self._judged.get(step)
        if known is not None:
            return self._standing(known, before=True)
        absent = self._guard.part("disk", missing_files, None, step, self.run.spec.workspace)
        record = StepRecord(step, absent=absent)
        try:
            seen = self._permission.review_and_observe(step, absent)
            review, judgement = seen.review, seen.judgement
            # Never rewrite a call from redacted or shortened arguments.
            can = self.executor.adapter.capabilities - (frozenset() if whole else {"rewrite"})
            decision = PROCEED if judgement is not None else self._permission.decide(step, review, can)
            if decision.action == "hold":
                return decision
            if decision.action in ALLOWING and may_change(review) and self.hold_without_undo():
                return Decision("hold", reason=UNDO_LOST)
            review = self._permission.settle(step, review)
            if decision.action in ALLOWING:
                self._enforcer.approve(step, review)
            if decision.action in ALLOWING and may_change(review):
                self._checkpointing.make(cause="before step", step=step.index)
            record = StepRecord(step, review, None if decision is PROCEED else decision, absent=absent)
            self._judged.begin(step, decision)
            if judgement is None:
                self._guard.part("supervisor", self.pipeline.count, 0.0, step)
                prevented = decision.action not in ALLOWING
                judgement = self._guard.run(
                    lambda: self.pipeline.observe(step, review, prevented=prevented, absent=absent)
                )
        except PartFailed as broken:
            return self._broken(broken, record)
        self.late_results.record_late()
        self._record_and_act(record, judgement)
        return self._standing(decision, before=True)

    def _record_and_act(self, record: StepRecord, judgement: StepOutcome) -> None:
        """Record, then act: an action that cannot be recorded durably is not taken. An emergency stop acts first."""
        acts = bool(judgement.directives)
        stopping = any(isinstance(directive, Stop) for directive in judgement.directives)
        if stopping:
            self.runner.stop_first(judgement)
        durable = acts and not stopping
        kept = self._guard.part("journal", lambda: self.recorder.write(record, judgement, durable=durable) or 1, 0)
        if acts and (kept or stopping):
            self.runner.carry_out(judgement)
        self.late_results.consult(record.step, judgement)
        self._since_snapshot += 1
        if self._since_snapshot >= SNAPSHOT_EVERY:
            self._since_snapshot = 0
            self.run.record(SnapshotRecord(self.pipeline.save(), self.next_index))

    def _standing(self, decision: Decision, *, before: bool) -> Decision:
        """The decision with pending messages, the end of the run, or a delay if a call is about to start."""
        if decision.action in ALLOWING and not self.run.ended and self.run.gate.status != "running":
            # Keep messages and delay for the decision that allows the call.
            return Decision("hold", reason=self.run.summary.waiting or "the run is paused") if before else decision
        messages = (*decision.messages, *self.executor.messages)
        self.executor.messages.clear()
        if self.run.ended:
            return Decision("stop", messages, reason=self.run.why_ended)
        delay = decision.delay_s
        if before and decision.action in ALLOWING:
            delay, self.executor.delay_s = max(delay, self.executor.delay_s), 0.0
        if messages == decision.messages and delay == decision.delay_s:
            return decision
        return replace(decision, messages=messages, delay_s=delay)

    def _broken(self, broken: PartFailed, record: StepRecord, *, ran: bool = False) -> Decision:
        """Fail open, or closed if configured; late results are still applied."""
        if broken.late is not None and record.decision is None:
            self.late_results.wait_for(record, broken.late)
        else:
            self.run.record(replace(record, unobserved=True))
        if self._observe:
            return PROCEED
        if record.decision is not None and record.decision.action not in ALLOWING:
            return record.decision
        if ran:
            return PROCEED
        if self.config.runtime.fail != "closed":
            # Not judged in time: a rough review blocks what is obviously dangerous.
            try:
                from ..review import rough_review
            except Exception as error:  # noqa: BLE001  half of an installation may raise anything
                why = f"The call reviewer cannot be loaded ({error}), so every call is blocked. Reinstall Interlock."
                return Decision("deny", reason=why) if record.step.kind == "tool_call" else PROCEED
            unseen = record.step.kind == "tool_call" and record.review is None
            rough = rough_review(record.step) if unseen else None
            return Decision("deny", reason=refusal(rough)) if rough and rough.verdict == "block" else PROCEED
        return Decision("deny", reason=f"Supervision failed ({broken}) and is configured to fail closed.")

    def _admit(self, step: Step) -> Step:
        # Do not use the agent's own time, because limits depend on it.
        step = replace(step, time=self.run.steady.time())
        self._guard.part("supervisor", self.pipeline.prepare, None)
        self.pipeline.prices.warm()
        self.count_from(step.index + 1)
        return self.redacted(step)

    def redacted(self, step: Step) -> Step:
        """The step as it is judged and recorded: without secrets, bounded."""
        return self._guard.part("redaction", lambda: self._redactor.redact(step), withhold(step))

    def _note_fault(self, fault: Fault) -> None:
        self.faults += 1
        self.run.record(fault)
        if fault.part not in self._reported_faults:
            self._reported_faults.add(fault.part)
            log.warning("supervision of run %s is impaired: %s: %s", self.run.spec.run_id, fault.part, fault.why)

    def _note_not_stopped(self, processes: str) -> None:
        """Report processes that a pause or an end did not stop, in the journal, lists and alerts; empty: none."""
        if processes != (self.run.summary.unstopped or ""):
            self.run.update(unstopped=processes or None)
        if not processes:
            return
        self._note_fault(Fault("processes", processes))
        self.executor.carry_out(Notify("Not every process of the run could be stopped", processes, "critical"))

    def _report_journal_problem(self) -> None:
        """Report once that steps cannot be recorded; the agent continues."""
        problem = self.run.journal.problem()
        if problem is not None and not problem.over and "journal" not in self._reported_faults:
            self._note_fault(Fault("journal", problem.reason))

    def _check_viewer(self) -> None:
        """Check whether the dashboard is open, if no other channel reaches a person; recorded for replay."""
        now = time.monotonic()
        if not self._asks_for_viewer or now - self._viewer_checked < PERSON_EVERY_S or self.run.folder is None:
            return
        self._viewer_checked = now
        reachable = is_viewed(self.run.folder.path.parent)
        if reachable != self.pipeline.person_reachable:
            self.run.record(PersonRecord(reachable))
            self.pipeline.note_person(reachable)

    def _time(self, begin: float) -> None:
        self.run.metrics.stepped(time.perf_counter() - begin)

    def _hold(self, hold: Hold) -> str:
        self.note_status("paused")
        return self.run.hold(hold, self.next_index - 1)


def _judge(config: Config, prices: Prices) -> Judge | None:
    """The judge, if one is configured; its modules are loaded only then."""
    settings = config.detect.judging
    if not settings.enabled:
        return None
    from .model_judge import Judge

    return Judge(settings, prices)
