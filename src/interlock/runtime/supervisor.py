"""Supervisor: before(step) and after(step) give decisions at once; nothing that breaks in here stops the agent."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from msgspec.structs import replace

from ..checkpoint import Restored
from ..config import Config
from ..core import (
    PROCEED,
    Applied,
    CheckpointInfo,
    Context,
    Decision,
    Hold,
    Limits,
    Restore,
    Review,
    SetLimits,
    Status,
    Step,
    Stop,
)
from ..journal import RunFolder
from .answers import Answers
from .approvals import Answer, Approvals
from .asking import Asking
from .border import Border
from .guard import Broken, Fault, Guard
from .hands import Hands
from .limiting import Limiting
from .metrics import Metrics
from .records import RestoredRecord, SnapshotRecord, StepRecord
from .run import Run
from .scribe import Scribe
from .verdict import decide_call, degrade
from .watch import Judgement, Plugins, Watch
from .workspace import AFTER_STEP

if TYPE_CHECKING:
    from .opening import Options

SNAPSHOT_EVERY = 500
"""Steps between two snapshots of supervision: a successor replays at most this many."""


class Supervisor(Asking):
    """Review, detection, decision and intervention over one Run. Thread-safe; made by `Supervisor.open`."""

    def __init__(
        self,
        run: Run,
        config: Config,
        hands: Hands,
        *,
        context: Context | None = None,
        plugins: Plugins | None = None,
        metrics: Metrics | None = None,
        approvals: Approvals | None = None,
    ) -> None:
        super().__init__(run)
        self.config = config
        self.hands = hands
        self.context = context or Context(original_prompt=run.spec.task, workspace=run.spec.workspace)
        self.approvals = approvals or Approvals()
        self.faults = 0
        self._border = Border()
        self._lock = threading.RLock()
        self._guard = Guard(config.runtime.step_timeout_ms / 1000, self._note_fault)
        self.watch = Watch(
            run.spec.run_id,
            config,
            self.context,
            capabilities=hands.adapter.capabilities,
            plugins=plugins,
            guard=self._guard,
            restorable=hands.workspace is not None,
        )
        self.scribe = Scribe(run, self.watch, metrics)
        self.answers = Answers(run, hands, self._guard)
        self._limiting = Limiting(run, self.watch, hands, self.scribe, self._hold)
        self._metrics = metrics
        self._observe = config.interventions.observe
        self._since_snapshot = 0
        self._reviews: dict[str, Review | None] = {}
        self._judged: dict[str, tuple[int, Decision]] = {}
        hands.on_limits = self._set_limits
        hands.on_stop = self._shut
        hands.on_hold = self._hold
        hands.on_restored = self._note_restored
        run.on_close(self._guard.close)

    @classmethod
    def open(cls, **options: Unpack[Options]) -> Supervisor:
        """Start supervising a new run: `with Supervisor.open(task=..., workspace=...) as supervisor:`, plain or async.

        The run ends with the block. See `Options` for what can be given.
        """
        from .opening import open_supervisor

        return open_supervisor(options)

    @classmethod
    def reopen(cls, folder: RunFolder, **options: Unpack[Options]) -> Supervisor:
        """Go on with a run whose owner is gone, from its journal."""
        from .opening import reopen_supervisor

        return reopen_supervisor(folder, options)

    def close(self, error: BaseException | None = None) -> None:
        """End the run, if it has not ended, and let go of it."""
        if error is None:
            self.run.end("done", "COMPLETE")
        else:
            self.run.end("aborted", "ERROR", f"{type(error).__name__}: {error}")
        if self.hands.notifier is not None:
            self.hands.notifier.close()
        self.run.close()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(error)

    async def __aenter__(self) -> Supervisor:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close(error)

    def before(self, step: Step) -> Decision:
        """May this step run? A hold is recorded nowhere: ask again with the same step when it is over."""
        begin = time.perf_counter()
        with self._lock:
            step = self._admit(step)
            passage = self.run.gate.enter(step)
            if passage.action == "proceed":
                decision = self._before(step)
                if decision.action not in ("proceed", "rewrite"):
                    self.run.gate.leave(step)
            else:
                decision = degrade(passage, self.hands.adapter.capabilities)
            self._time(begin)
            return decision

    def after(self, step: Step) -> Decision:
        """What a step that ran led to: messages for the agent, a delay, a stop. A pause is met at the next `before`."""
        begin = time.perf_counter()
        with self._lock:
            step = self._admit(step)
            review = None
            if step.kind == "tool_result":
                self.run.gate.leave(step)
                review = self._reviews.pop(step.agent or "", None)
            try:
                # A call that comes here was not asked about: what would have been blocked is seen after the fact.
                late = self._guard.run(lambda: self.watch.review(step)) if step.kind == "tool_call" else None
                judgement = self._guard.run(lambda: self.watch.observe(step, late))
            except Broken as broken:
                self.run.record("step", StepRecord(step, unobserved=True))
                return self._broken(broken.fault, ran=True)
            self._take(StepRecord(step, late), judgement)
            if step.kind == "tool_result" and _may_change(review):
                self.checkpoint(cause=AFTER_STEP, step=step.index + 1)
            self._time(begin)
            return self._standing(PROCEED, before=False)

    def checkpoint(self, *, cause: str, step: int, label: str = "") -> CheckpointInfo | None:
        """Snapshot the workspace; None where there is none, or where it failed (which is recorded)."""
        workspace = self.hands.workspace
        if workspace is None:
            return None
        made = self._guard.part("checkpoints", lambda: workspace.create(label, step, cause), None)
        if made is None:
            return None
        ledger = self.watch.ledger
        info = replace(
            made,
            success_rate=ledger.success_rate,
            last_error_time=ledger.last_error_time,
            limits=self.watch.meter.limits,
            context=self.context,
        )
        self.run.record("checkpoint", info)
        self.watch.mark(info)
        return info

    @property
    def process_limits(self) -> Limits:
        """What the agent's processes are held to now."""
        return self.watch.meter.for_processes(self.watch.ledger.spend.memory_mb)

    def look(self, memory_mb: float, elapsed_s: float) -> None:
        """Take a sample of the agent's processes into account; a limit that is used up ends the run."""
        with self._lock:
            if not self._observe and not self.run.ended and self.run.gate.status == "running":
                self._limiting.check_use(memory_mb, elapsed_s)

    def finish(self, status: Status, reason: str, message: str) -> None:
        """The agent has ended by itself; where it was made to, that stands, and is waited for."""
        with self._lock:
            if self.run.reason is None:
                self.run.end(status, reason, message)
        if self.run.steering is not None:
            self.run.steering.settle()

    def resume(self) -> bool:
        """Go on after a hold; False where the run has ended."""
        self.note_status("running")
        return self.run.resume()

    def note_status(self, status: Status) -> None:
        """Know that the run is paused or goes on; a successor reads it from the journal."""
        self.watch.be(status)
        self.run.record("status", {"status": status})

    def answer(self, step: int | None, said: Answer, reason: str = "") -> str:
        """Take a person's answer to a waiting step; without a number, to the one that waits longest."""
        waiting = self.approvals.waiting
        number = next(iter(waiting), -1) if step is None else step
        what = self.approvals.answer(number, said, reason)
        self.run.update(waiting=next(iter(self.approvals.waiting.values()), None))
        self.run.gate.notify()
        return f"step {number} {said}: {what}"

    def restore(self, order: Restore) -> Applied:
        """Go back to a checkpoint, as a person ordered."""
        with self._lock:
            return self.hands.carry_out(order)

    def _before(self, step: Step) -> Decision:
        known = self._judged.get(step.agent or "")
        if known is not None and known[0] == step.index:
            return self._standing(known[1], before=True)
        capabilities = self.hands.adapter.capabilities
        try:
            review = self._guard.run(lambda: self.watch.review(step))
            asked = step.index in self.approvals.waiting
            held = self.approvals.check(step, review)
            if held is not None and held.action == "hold" and not self._observe:
                if not asked:
                    self.run.wait_for_person(step.index, self.approvals.waiting[step.index])
                return degrade(held, capabilities)
            limited = None if self._observe else self._limiting.check_call()
            decision = held or limited or decide_call(review, step, capabilities, observe=self._observe)
            if decision.action in ("proceed", "rewrite") and _may_change(review):
                self.checkpoint(cause="before step", step=step.index)
            prevented = decision.action == "deny"
            judgement = self._guard.run(lambda: self.watch.observe(step, review, prevented=prevented))
        except Broken as broken:
            self.run.record("step", StepRecord(step, unobserved=True))
            return self._broken(broken.fault)
        self._reviews[step.agent or ""] = review
        self._judged[step.agent or ""] = (step.index, decision)
        self._take(StepRecord(step, review, None if decision is PROCEED else decision), judgement)
        return self._standing(decision, before=True)

    def _take(self, record: StepRecord, judgement: Judgement) -> None:
        """Record, then act; an emergency stop acts first."""
        acts = bool(judgement.directives)
        stopping = any(isinstance(directive, Stop) for directive in judgement.directives)
        if stopping:
            self.answers.stop_first(judgement)
        self.scribe.write(record, judgement, durable=acts and not stopping)
        if acts:
            self.answers.carry_out(judgement)
        self._since_snapshot += 1
        if self._since_snapshot >= SNAPSHOT_EVERY:
            self._since_snapshot = 0
            self.run.record("snapshot", SnapshotRecord(self.watch.save(), self.next_index))

    def _standing(self, decision: Decision, *, before: bool) -> Decision:
        """The decision with what waits for the agent: messages, the end, and a delay where a call is about to start."""
        capabilities = self.hands.adapter.capabilities
        messages = tuple(self.hands.messages)
        self.hands.messages.clear()
        delay = decision.delay_s
        if before:
            delay, self.hands.delay_s = max(delay, self.hands.delay_s), 0.0
        if self.run.ended:
            return degrade(Decision("stop", messages, reason=self.run.why_ended), capabilities)
        if decision.action == "proceed" and self.run.gate.status != "running":
            return degrade(
                Decision("hold", messages, reason=self.run.summary.waiting or "the run is paused"), capabilities
            )
        if not messages and not delay:
            return decision
        return replace(decision, messages=(*decision.messages, *messages), delay_s=delay)

    def _broken(self, fault: Fault, *, ran: bool = False) -> Decision:
        """Fail open, or closed where that is configured."""
        if self.config.runtime.fail == "open" or ran:
            return PROCEED
        reason = f"Supervision is broken ({fault.part}: {fault.why}) and is configured to fail closed."
        return degrade(Decision("deny", reason=reason), self.hands.adapter.capabilities)

    def _admit(self, step: Step) -> Step:
        if step.time is None:
            step = replace(step, time=self.run.clock.time())
        self.count_from(step.index + 1)
        return self._guard.part("border", lambda: self._border.admit(step), step)

    def _note_fault(self, fault: Fault) -> None:
        self.faults += 1
        self.run.record("fault", fault)

    def _time(self, begin: float) -> None:
        if self._metrics is not None:
            self._metrics.stepped(time.perf_counter() - begin)

    def _set_limits(self, order: SetLimits) -> Limits:
        self.watch.tighten(order)
        return self.process_limits

    def _shut(self, stop: Stop) -> str:
        return self.run.stop(stop.reason)

    def _hold(self, hold: Hold) -> str:
        self.note_status("paused")
        return self.run.hold(hold, self.next_index - 1)

    def _note_restored(self, order: Restore, restored: Restored) -> None:
        self.watch.go_back(order.checkpoint_id)
        self.run.record(
            "restored",
            RestoredRecord(
                checkpoint_id=order.checkpoint_id,
                safety_id=restored.safety_id,
                changed=tuple(change.path for change in restored.changed),
                left_alone=tuple(left.path for left in restored.left_alone),
            ),
            durable=True,
        )


def _may_change(review: Review | None) -> bool:
    """Whether a call may change files. Before it and after it a checkpoint is made, so that what changed in between
    is known to be the run's own work, and what changed meanwhile somebody else's."""
    return review is None or review.action != "read"
