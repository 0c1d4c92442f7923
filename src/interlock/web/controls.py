"""Controls: requests on their way to runs, and what is known of each: sent, accepted, done, failed or unknown."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..control import Answer, Command, Request, new_request
from ..control.messages import PAYLOADS
from ..core import BadInput, InterlockError
from ..core.typed import from_plain
from ..link.owner import Notice

ACTOR = "dashboard"
TIMEOUT_S = 60.0
AT_ONCE = 16
KEPT = 500
"""Requests that are remembered; the journal has all that reached a run."""

SentState = Literal["sent", "success", "failure", "unknown"]


class Sent(Struct, frozen=True, kw_only=True):
    """A request of this dashboard. `unknown` is neither done nor failed; `accepted` says whether the run has it."""

    request_id: str
    run_id: str
    command: Command
    payload: dict[str, object]
    reason: str | None
    time: float
    state: SentState = "sent"
    accepted: bool = False
    attempts: int = 1
    code: str | None = None
    message: str = ""
    notice: str = ""
    answered: float | None = None


class Asking(Protocol):
    """How a request reaches a run."""

    def ask(self, request: Request, timeout: float, notice: Notice) -> Answer: ...


class Order(Struct, frozen=True, kw_only=True):
    """What a page asks for."""

    command: Command
    payload: dict[str, object] = {}
    reason: str | None = None


class Controls:
    """Sends requests in threads of its own; nobody waits for an answer here, everybody can look."""

    def __init__(self, source: Asking, timeout: float = TIMEOUT_S) -> None:
        self._source, self._timeout = source, timeout
        self._sent: OrderedDict[str, Sent] = OrderedDict()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="interlock-control")
        self.version = 0

    def send(self, run_id: str, order: Order) -> Sent:
        """Send a request to a run; gives it as it stands now."""
        try:
            from_plain(order.payload, PAYLOADS[order.command])
        except msgspec.ValidationError as error:
            raise BadInput(f"the payload of {order.command} is wrong: {error}") from None
        sent = Sent(
            request_id=str(uuid.uuid4()),
            run_id=run_id,
            command=order.command,
            payload=order.payload,
            reason=order.reason or None,
            time=time.time(),
        )
        self._keep(sent)
        self._pool.submit(self._ask, sent)
        return sent

    def of(self, run_id: str) -> list[Sent]:
        """What was sent to a run, the newest last."""
        with self._lock:
            return [sent for sent in self._sent.values() if sent.run_id == run_id]

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, sent: Sent) -> None:
        request = new_request(
            sent.request_id, sent.command, sent.run_id, dict(sent.payload), actor=ACTOR, reason=sent.reason
        )
        try:
            answer = self._source.ask(request, self._timeout, lambda words: self._change(sent, notice=words))
        except (InterlockError, OSError) as error:
            # The way to the run broke, after a copy may have gone out: nobody can say what became of it.
            self._change(sent, state="unknown", message=str(error), answered=time.time())
            return
        self._change(
            sent,
            state=answer.outcome,
            accepted=answer.accepted,
            attempts=answer.attempts,
            code=answer.code,
            message=answer.message,
            answered=time.time(),
        )

    def _change(self, sent: Sent, **changes: object) -> None:
        with self._lock:
            known = self._sent.get(sent.request_id, sent)
        self._keep(replace(known, **changes))

    def _keep(self, sent: Sent) -> None:
        with self._lock:
            self._sent[sent.request_id] = sent
            while len(self._sent) > KEPT:
                self._sent.popitem(last=False)
            self.version += 1
