"""CommandExecutor: what a person's command means for a supervised run."""

from __future__ import annotations

import threading
from collections.abc import Callable

from ..control import Execute, Executed
from ..core import Applied, InvalidState, NotFound, Restore, Status, Stop
from .approvals import ApprovalAnswer
from .checkpointing import PERSON
from .supervisor import Supervisor

Poster = Callable[[Executed], None]


class CommandExecutor:
    """Approve, reject, roll back, cancel, and knowing that the run was paused or continues."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._done: dict[str, Executed] = {}

    def note_status(self, status: Status, *, shut: bool) -> str:
        """The run was paused or resumed; returns processes that are still running but should be stopped."""
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
        """End the agent, politely then firmly; not done where a process is left, which is named."""
        executor = self._supervisor.executor
        done = executor.carry_out(Stop("cancelled by a person"))
        left = executor.processes.left() if executor.processes is not None else ""
        return Applied(False, left) if left else Applied(True, done.how)

    def execute(self, order: Execute, post: Poster) -> Executed | None:
        """Carry an order out, once per request. A rollback takes its time, in its own thread."""
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
