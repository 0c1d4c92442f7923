"""Runs: runs of this machine and of a hub, behind one interface; Requests: requests sent to them from here."""

from __future__ import annotations

import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..control import PAYLOADS, Command, Request, RequestOutcome, new_request
from ..core import BadInput, InterlockError, InvalidState, NotFound, from_plain
from ..journal import RunFolder, Store
from .local_request import ask_run, see_named
from .owner_client import Notice

if TYPE_CHECKING:
    from .hub_client import HubClient


TIMEOUT_S = 60.0
"""How long to wait for an answer; then the outcome is unknown."""

KEPT = 500
"""Requests that are remembered; a run's journal has all that reached it."""

SentState = Literal["sent", "success", "failure", "unknown"]


class SentRequest(Struct, frozen=True, kw_only=True):
    """One request that we sent. `unknown` is neither done nor failed; `accepted` says whether the run has it.

    `notice` is what went wrong in transit so far.
    """

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


class RequestSender(Protocol):
    """How a request reaches a run: see `Runs`."""

    def ask(self, request: Request, timeout: float, notice: Notice) -> RequestOutcome: ...


class Requests:
    """Sends requests and tracks their outcomes. `changed` is called for every change, in any thread."""

    def __init__(
        self,
        runs: RequestSender,
        *,
        timeout: float = TIMEOUT_S,
        actor: str | None = None,
        changed: Callable[[SentRequest], object] = lambda sent: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._runs, self.timeout, self._actor = runs, timeout, actor
        self._changed, self._now = changed, now
        self._sent: OrderedDict[str, SentRequest] = OrderedDict()
        self._lock = threading.Lock()
        self.version = 0

    def send(
        self, command: Command, run_id: str, payload: dict[str, object] | None = None, reason: str | None = None
    ) -> SentRequest:
        """Send a request to a run; returns at once."""
        payload = payload or {}
        try:
            from_plain(payload, PAYLOADS[command])
        except msgspec.ValidationError as error:
            raise BadInput(f"the payload of {command} is wrong: {error}") from None
        sent = SentRequest(
            request_id=str(uuid.uuid4()),
            run_id=run_id,
            command=command,
            payload=payload,
            reason=reason or None,
            time=self._now(),
        )
        self._keep(sent)
        threading.Thread(target=self._ask, args=(sent,), name=f"interlock-{command}", daemon=True).start()
        return sent

    def of(self, run_id: str) -> list[SentRequest]:
        """The requests sent to a run from here, newest last."""
        with self._lock:
            return [sent for sent in self._sent.values() if sent.run_id == run_id]

    def _ask(self, sent: SentRequest) -> None:
        request = new_request(
            sent.request_id, sent.command, sent.run_id, dict(sent.payload), actor=self._actor, reason=sent.reason
        )
        try:
            answer = self._runs.ask(request, self.timeout, lambda words: self._change(sent, notice=words))
        except (InterlockError, OSError) as error:
            # The connection broke after a copy may have been sent: whether it was carried out is unknown.
            self._change(sent, state="unknown", message=str(error), answered=self._now())
            return
        self._change(
            sent,
            state=answer.outcome,
            accepted=answer.accepted,
            attempts=answer.attempts,
            code=answer.code,
            message=answer.message,
            answered=self._now(),
        )

    def _change(self, sent: SentRequest, **changes: object) -> None:
        with self._lock:
            known = self._sent.get(sent.request_id, sent)
        self._keep(replace(known, **changes))

    def _keep(self, sent: SentRequest) -> None:
        with self._lock:
            self._sent[sent.request_id] = sent
            while len(self._sent) > KEPT:
                self._sent.popitem(last=False)
            self.version += 1
        self._changed(sent)


class Runs:
    """Finds runs and sends them requests. `ask` blocks: do not call it in a UI thread."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        self.store, self.hub = store, hub

    def is_here(self, run_id: str) -> bool:
        """Whether the run's folder is in this machine's store."""
        return is_plain_name(run_id) and (self.store.root / run_id).is_dir()

    def host_of(self, run_id: str) -> str | None:
        """The other machine that a run is on; None if it is here or unknown."""
        if self.hub is None or self.is_here(run_id):
            return None
        return next((run.host for run in self.hub.runs() if run.summary.run_id == run_id), None)

    def folder(self, run_id: str) -> RunFolder:
        """The folder of a run of this machine, by its whole id."""
        if self.is_here(run_id):
            return RunFolder(self.store.root / run_id)
        host = self.host_of(run_id)
        if host is not None:
            raise InvalidState(f"the files of this run are on {host}", todo=f"Look at them on {host}.")
        raise NotFound(f"there is no run {run_id[:80]!r}", todo="It may have been removed.")

    def ask(self, request: Request, timeout: float, notice: Notice) -> RequestOutcome:
        """Send a request to its run, here or elsewhere, and wait for its answer."""
        run_id = request.target.run_id
        if self.hub is not None and not self.is_here(run_id):
            return see_named(self.hub.ask(request, timeout=timeout, notice=notice), request.command, notice)
        return ask_run(self.folder(run_id), request, timeout, notice)

    def close(self) -> None:
        if self.hub is not None:
            self.hub.close()


def is_plain_name(name: str) -> bool:
    """Whether a name can be a run's folder, and cannot lead outside the store."""
    return bool(name) and name[0] != "." and not any(c in name for c in "/\\\0") and len(name) <= 200
