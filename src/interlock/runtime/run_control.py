"""RunControl: applies the control protocol to one run: its gate, agent and workspace."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from ..config import Config, Models
from ..control import (
    Actuated,
    ControlRules,
    ControlState,
    Desired,
    Execute,
    Executed,
    Held,
    ModelSeen,
    PersonAnswered,
    Released,
    Result,
    RunEnded,
    Tick,
    Waiting,
    WaitingForPerson,
    new_state,
)
from ..control import LogEntry as Record
from ..core import (
    ENDED,
    Adapter,
    Applied,
    Hold,
    InterlockError,
    InvalidState,
    NotFound,
    Restore,
    RunSpec,
    Status,
    Step,
    Stop,
    SwitchModel,
    from_json,
)
from ..journal import JournalEntry, RunFolder
from ..link import ControlServer, Endpoint, FileGate, JournalLog
from .approvals import ApprovalAnswer
from .directive_executor import PERSON
from .ending import BY_REASON
from .run import Run
from .supervisor import Supervisor

log = logging.getLogger("interlock")

GUI = "gui"
"""The adapter of GUI sessions, whose frames have their own mode."""

CANCELLED = "USER_CANCELLED"
"""The protocol's reason for a run that a person ended."""


class RunControl:
    """A run's endpoint, socket and actuator; `orders` carries out the supervisor's part of an order.

    Locks are acquired in this order: supervisor, endpoint's turn, gate. Nothing here may therefore acquire the
    supervisor's lock: a rollback has its own thread, and the next step applies a new status.
    """

    def __init__(
        self,
        run: Run,
        folder: RunFolder,
        config: Config,
        adapter: Adapter,
        listener: socket.socket | None = None,
    ) -> None:
        self.run = run
        self.adapter = adapter
        self.orders: CommandExecutor | None = None
        self._file = FileGate(folder.gate)
        self._worker = ThreadPoolExecutor(1, "interlock-command")
        self._acting: Future[None] | None = None
        self._model = run.spec.model
        rules = ControlRules(
            strict_ids=config.control.strict_ids,
            models=Models.from_config(config) if config.models else None,
            cannot_switch=""
            if "switch_model" in adapter.capabilities
            else f"the agent's adapter ({adapter.name}) cannot switch models",
        )
        fresh = new_state(
            run.spec.run_id,
            rules=rules,
            model=run.spec.model,
            mode=_mode(run.spec),
            max_iterations=config.limits.max_steps,
            issue_id=run.spec.issue_id,
        )
        self._seen, self._has_switched, self._cancelled = run.spec.model, False, False
        self.endpoint = Endpoint(fresh, ControlLog(run), self, clock=run.clock)
        # The endpoint admits steps shortly after the gate opens: wake callers that asked in between.
        self.endpoint.when_open(run.gate.notify)
        self.server = ControlServer(self.endpoint, folder.path, listener)
        # We can tell the agent's processes from a person's if we started them, or if the agent's hooks fire.
        self.server.authority.knows_by_peer = bool(run.spec.argv or run.spec.session_id)

    def mend_gate(self) -> bool:
        """Restore the gate file if it was changed or removed; returns whether it was."""
        return self._file.mend()

    def start(self) -> None:
        """Restore the state from the journal, and start listening."""
        self.endpoint.start()
        self.run.gate.through(self.endpoint)
        self.server.open()

    def close(self) -> None:
        self._worker.shutdown()
        self.server.close()
        self.endpoint.close()

    def pause(self, hold: Hold, step: int) -> str:
        """Pause for the supervisor, under the same rules as for a person."""
        self._finish_command()
        self.endpoint.post(Held(Waiting(hold.kind, step, hold.reason, until=hold.until)))
        return f"paused: {hold.reason}"

    def wait(self, step: int, what: str, digest: str, until: float) -> None:
        """Announce a step that waits for approve or reject."""
        self.endpoint.post(WaitingForPerson(Waiting("approval", step, what, digest, until)))

    def stop_waiting(self, step: int) -> None:
        """A step no longer needs an answer, because its client is gone."""
        self.endpoint.post(PersonAnswered(step))

    def see_model(self, step: Step) -> None:
        """Note the model that the agent's steps name. A side call, for example for a title, may use a different one."""
        if step.model is None or step.model == self._seen or self._has_switched:
            # An answer that was in progress during a switch still names the previous model.
            return
        if self._seen is None or (step.agent is None and step.kind != "usage"):
            self._seen = step.model
            self.endpoint.post(ModelSeen(step.model))

    def resume(self) -> bool:
        """End the supervisor's own pause, but not a person's; returns whether the run continues."""
        self._finish_command()
        self.endpoint.post(Released())
        return self.run.gate.status == "running"

    def end(self, reason: str) -> None:
        """Report that the run ended by itself or was ended by the supervisor."""
        self._finish_command()
        self.endpoint.post(RunEnded(reason))  # type: ignore[arg-type]

    def settle(self) -> None:
        """Return when all pending work is done and reported."""
        self._finish_command()
        self.endpoint.post(Tick())

    @property
    def revision(self) -> int:
        """The revision of the newest order that reached the gate."""
        return max(self._file.revision, self.run.gate.revision)

    def set_desired(self, desired: Desired) -> Applied | None:
        """Reach this state: first in the gate file, which outlives us; then at the gate; then in the agent.

        A person's command is carried out in a thread of its own: processes may take seconds to end, and meanwhile
        others get their answers.
        """
        try:
            applied = self._file.set_desired(desired)
        except OSError as error:
            # Obey a person even if the file cannot be written: the journal has the state.
            applied = Applied(True, f"the gate file could not be written ({error.strerror})")
        if desired.status in ENDED:
            self.run.gate.close(desired.status)
            # A run that ended by itself or by the supervisor already has a reason; otherwise a person ended it.
            self.run.reason = self.run.reason or CANCELLED
        if self.endpoint.state.asked == desired:
            # A program that is ending can start no more threads.
            with suppress(RuntimeError):
                self._acting = self._worker.submit(self._act_and_report, desired, applied)
                return None
        return self._act(desired, applied)

    def _finish_command(self) -> None:
        """Return when no command is being carried out: the supervisor's own orders come after it."""
        while self._acting is not None and not self._acting.done():
            self._acting.result()

    def _act_and_report(self, desired: Desired, applied: Applied) -> None:
        try:
            applied = self._act(desired, applied)
        except Exception as error:
            # Whoever sent the command waits for its result, whatever goes wrong.
            log.warning("run %s: a command failed", self.run.spec.run_id, exc_info=True)
            applied = Applied(False, str(error) or type(error).__name__)
        # If the result cannot be written, the endpoint repeats the command.
        with suppress(InterlockError):
            self.endpoint.post(Actuated(desired.revision, applied.ok, applied.how))

    def _act(self, desired: Desired, applied: Applied) -> Applied:
        """Switch the model, end the agent, or pause or continue it."""
        if desired.model is not None and desired.model != self._model:
            switched = self.adapter.apply(SwitchModel(desired.model))
            if not switched.ok:
                return switched
            self._model, self._has_switched = desired.model, True
        if desired.status in ENDED:
            if self.orders is None or self._cancelled or self.run.reason != CANCELLED:
                return applied
            self._cancelled = True
            return self.orders.cancel()
        self.run.gate.set_status("paused" if desired.shut else desired.status, desired.revision)
        done = self.orders.note_status(desired.status, shut=desired.shut) if self.orders is not None else ""
        return Applied(True, done)

    def execute(self, order: Execute) -> Executed | None:
        """Approve, reject or roll back."""
        if self.orders is None:
            return Executed(order.request_id, False, f"not supported here: {order.command}", "invalid_state")
        return self.orders.execute(order, self.endpoint.post)

    def rest(self) -> None:
        """Do deferred work while nothing is pending."""
        self._file.rest()


def _mode(spec: RunSpec) -> str:
    """The mode of the run's first frame."""
    if spec.adapter == GUI:
        return "gui"
    return "issue" if spec.issue_id is not None else "loop"


class ControlLog(JournalLog):
    """The run's journal: every record of the protocol also updates the run's summary."""

    def __init__(self, run: Run) -> None:
        super().__init__(run.journal)
        self._run = run

    def append_atomic(self, entries: Sequence[Record], state: ControlState, *, durable: bool) -> int:
        seq = super().append_atomic(entries, state, durable=durable)
        for entry in entries:
            if entry.kind == "result":
                self._run.metrics.count(from_json(entry.body, Result))
        return seq

    def write(self, rows: list[JournalEntry], state: ControlState, durable: bool) -> int:
        return self._run.append_entries(rows, durable, self._changes(state))

    def _changes(self, state: ControlState) -> dict[str, object]:
        waiting = state.waiting[0] if state.waiting else state.held
        changes: dict[str, object] = {"status": state.status, "waiting": waiting.text if waiting is not None else None}
        if state.model is not None:
            # A run that has ended has no frames; keep the model it ran with.
            changes["model"] = state.model
        if state.ended:
            changes["ended"] = self._run.clock.time()
            # Recorded before it takes effect: if something else ended the run, the reason is already set.
            changes["reason"] = reason = self._run.reason or CANCELLED
            changes["ending"] = self._run.summary.ending or BY_REASON.get(reason)
            changes["cancelled_by"] = state.ended_by
        return changes


Poster = Callable[[Executed], None]


class CommandExecutor:
    """Carries out approve, reject, rollback and cancel, and reacts to pause and resume."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._done: dict[str, Executed] = {}

    def note_status(self, status: Status, *, shut: bool) -> str:
        """Handle a pause or resume; returns processes that still run but should be stopped."""
        self._supervisor.note_status(status)
        executor = self._supervisor.executor
        if executor.processes is not None and status == "paused":
            moving = executor.processes.hold()
            executor.on_not_stopped(moving)
            return moving
        if executor.processes is not None and not shut:
            executor.processes.release()
            executor.on_not_stopped("")
        return ""

    def cancel(self) -> Applied:
        """End the agent, first with SIGTERM; fails if a process is left, and names it."""
        executor = self._supervisor.executor
        done = executor.carry_out(Stop("cancelled by a person"))
        left = executor.processes.left() if executor.processes is not None else ""
        return Applied(False, left) if left else Applied(True, done.how)

    def execute(self, order: Execute, post: Poster) -> Executed | None:
        """Carry out an order, once per request. A rollback runs in its own thread."""
        known = self._done.get(order.request_id)
        if known is not None:
            return known
        if order.command == "rollback":
            threading.Thread(target=lambda: post(self._finish(order)), name="interlock-rollback", daemon=True).start()
            return None
        return self._finish(order)

    def _finish(self, order: Execute) -> Executed:
        try:
            applied = self._carry_out(order)
            done = Executed(order.request_id, applied.ok, applied.how, None if applied.ok else "failed")
        except NotFound as error:
            done = Executed(order.request_id, False, str(error), "not_found")
        except InvalidState as error:
            done = Executed(order.request_id, False, str(error), "invalid_state")
        except Exception as error:  # noqa: BLE001  whoever ordered it waits for an answer, and so does the next order
            done = Executed(order.request_id, False, f"{type(error).__name__}: {error}", "failed")
        self._done[order.request_id] = done
        return done

    def _carry_out(self, order: Execute) -> Applied:
        payload = order.payload
        if order.command == "rollback":
            paths = payload.get("paths")
            chosen = tuple(str(path) for path in paths) if isinstance(paths, list) else ()
            return self._supervisor.restore(Restore(str(payload["to"]), chosen, PERSON))
        said: ApprovalAnswer = "approved" if order.command == "approve" else "rejected"
        step = payload.get("step")
        reason = str(payload.get("reason") or "")
        digest = payload.get("digest")
        number = step if isinstance(step, int) else None
        return Applied(True, self._supervisor.answer(number, said, reason, str(digest) if digest else None))
