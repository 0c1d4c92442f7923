"""Peers: what others do about a stuck agent, played with the same scripts."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from interlock.core import PROCEED, Decision, ManualClock, Message, MessageMeta, Usage

from .driver import Game, Keeper, play, workspace
from .script import RUNGS, Agent, Turn

NUDGE = "You repeat the same call with the same result. Stop and try something else."


class Unsupervised:
    """Says nothing."""

    def __init__(self) -> None:
        self._step = -1

    def ask(self, turn: Turn, usage: Usage) -> tuple[Decision, int]:
        self._step += 1
        return self.before(turn), self._step

    def tell(self, turn: Turn) -> tuple[Decision, int]:
        self._step += 1
        return self.after(turn), self._step

    def before(self, turn: Turn) -> Decision:
        return PROCEED

    def after(self, turn: Turn) -> Decision:
        return PROCEED


class StopAtThree(Unsupervised):
    """The very same call three times in a row: stop."""

    def __init__(self, times: int = 3) -> None:
        super().__init__()
        self._times, self._last, self._count = times, b"", 0

    def before(self, turn: Turn) -> Decision:
        call = _call(turn)
        self._count = self._count + 1 if call == self._last else 1
        self._last = call
        return Decision("stop", reason="the same call again") if self._count >= self._times else PROCEED


class NudgeThenStop(Unsupervised):
    """The same call with the same result five times in the last ten: one nudge; when it happens again, stop.

    The window and the count are those of a published coding agent's loop detection.
    """

    def __init__(self, window: int = 10, times: int = 5) -> None:
        super().__init__()
        self._window, self._times, self._nudged = window, times, False
        self._recent: list[bytes] = []

    def before(self, turn: Turn) -> Decision:
        return self.after(turn) if not turn.tool else PROCEED

    def after(self, turn: Turn) -> Decision:
        seen = _call(turn) + turn.output.encode()
        self._recent = [*self._recent, seen][-self._window :]
        if self._recent.count(seen) < self._times:
            return PROCEED
        if self._nudged:
            return Decision("stop", reason="the same call with the same result, again after a nudge")
        self._nudged = True
        self._recent.clear()
        meta = MessageMeta(intervention=RUNGS[0], issue="loop", time=0.0, run_id="peer", step=self._step)
        return Decision(messages=(Message(NUDGE, meta=meta),))


PEERS: dict[str, Callable[[], Keeper]] = {
    "no supervision": Unsupervised,
    "stop at three": StopAtThree,
    "nudge, then stop": NudgeThenStop,
}


def play_peer(agent: Agent, pace: float, under: str) -> Game:
    """Under a peer."""
    with workspace() as (folder, _):
        return play(agent, pace, under, PEERS[under](), ManualClock(), folder)


def _call(turn: Turn) -> bytes:
    return msgspec.json.encode([turn.agent, turn.tool, turn.arguments, "" if turn.tool else turn.said])
