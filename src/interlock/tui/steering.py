"""Steering: what was asked of runs from here, each on its way in a thread of its own."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from ..control import Answer, Command, Request, new_request
from ..core import Clock, InterlockError

Ask = Callable[[Request, Callable[[str], None]], Answer]
"""Sends a request and waits for its one answer; the callback hears of trouble on the way."""

Outcome = Literal["sending", "success", "failure", "unknown"]

KEPT = 200

DOING: dict[str, str] = {
    "pause": "pausing…",
    "resume": "resuming…",
    "cancel": "ending…",
    "escalate": "escalating",
    "approve": "approving",
    "reject": "rejecting…",
    "rollback": "going back",
}
"""What a run is shown as while it has not answered: never as what was asked for."""


class Wish(Struct, frozen=True, kw_only=True):
    """One request of ours. `unknown` is an answer of its own: neither done nor failed."""

    request_id: str
    run_id: str
    command: Command
    sent: float
    reason: str = ""
    outcome: Outcome = "sending"
    message: str = ""
    code: str | None = None


class Steering:
    """Sends requests and remembers what became of them. `told` hears of every change, in any thread."""

    def __init__(self, ask: Ask, clock: Clock, told: Callable[[Wish], None]) -> None:
        self._ask, self._clock, self._told = ask, clock, told
        self._wishes: dict[str, Wish] = {}
        self._lock = threading.Lock()

    def send(
        self, command: Command, run_id: str, payload: dict[str, object] | None = None, reason: str | None = None
    ) -> Wish:
        """Ask a run for something; returns at once."""
        request = new_request(str(uuid.uuid4()), command, run_id, payload or {}, reason=reason or None)
        wish = Wish(
            request_id=request.request_id,
            run_id=run_id,
            command=command,
            sent=self._clock.time(),
            reason=reason or "",
        )
        self._keep(wish)
        threading.Thread(target=self._wait, args=(request, wish), name=f"interlock-{command}", daemon=True).start()
        return wish

    def of(self, run_id: str) -> list[Wish]:
        """What was asked of a run from here, oldest first."""
        with self._lock:
            return [wish for wish in self._wishes.values() if wish.run_id == run_id]

    def doing(self, run_id: str) -> str:
        """A word for what a run was asked and has not answered yet; empty where there is nothing."""
        open_wishes = [wish for wish in self.of(run_id) if wish.outcome == "sending"]
        return DOING[open_wishes[-1].command] if open_wishes else ""

    def _wait(self, request: Request, wish: Wish) -> None:
        def notice(words: str) -> None:
            self._keep(replace(wish, message=words))

        try:
            answer = self._ask(request, notice)
        except (InterlockError, OSError) as error:
            # Whether it arrived cannot be said.
            self._keep(replace(wish, outcome="unknown", message=str(error)))
            return
        self._keep(replace(wish, outcome=answer.outcome, message=answer.message, code=answer.code))

    def _keep(self, wish: Wish) -> None:
        with self._lock:
            self._wishes[wish.request_id] = wish
            while len(self._wishes) > KEPT:
                del self._wishes[next(iter(self._wishes))]
        self._told(wish)
