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
    """One call with one result more than five times in the last ten: a nudge; when that happens again, stop.

    Counted as crush does (`internal/agent/loop_detection.go`), which stops at once; the nudge is Gemini CLI's. The
    count starts anew after the nudge, in the peer's favour: an agent that heeds is not ended for what it did before.
    """

    WINDOW, REPEATS = 10, 5

    def __init__(self) -> None:
        super().__init__()
        self._nudged = False
        self._recent: list[bytes] = []

    def after(self, turn: Turn) -> Decision:
        self._recent = [*self._recent, _call(turn) + turn.output.encode()][-self.WINDOW :]
        if len(self._recent) < self.WINDOW or max(map(self._recent.count, self._recent)) <= self.REPEATS:
            return PROCEED
        if self._nudged:
            return Decision("stop", reason="the same call with the same result, again after a nudge")
        self._nudged = True
        self._recent.clear()
        return Decision(messages=(_nudge(self._step),))


class GeminiCalls(Unsupervised):
    """Gemini CLI's rule for calls (`loopDetectionService.ts`): the very same call five times in a row is not run and
    gives a nudge; the next time the run ends. Its rule for repeated text and the model that it asks are left out."""

    TIMES = 5

    def __init__(self) -> None:
        super().__init__()
        self._last, self._count, self._nudged = b"", 0, False

    def before(self, turn: Turn) -> Decision:
        if not turn.tool:
            return PROCEED
        call = _call(turn)
        self._count = self._count + 1 if call == self._last else 1
        self._last = call
        if self._count < self.TIMES:
            return PROCEED
        if self._nudged:
            return Decision("stop", reason="the same call again after a nudge")
        self._nudged = True
        return Decision("deny", messages=(_nudge(self._step),), reason=NUDGE)


def _nudge(step: int) -> Message:
    meta = MessageMeta(intervention=RUNGS[0], issue="loop", time=0.0, run_id="peer", step=step)
    return Message(NUDGE, meta=meta)


PEERS: dict[str, Callable[[], Keeper]] = {
    "no supervision": Unsupervised,
    "stop at three": StopAtThree,
    "nudge, then stop": NudgeThenStop,
    "Gemini CLI's rule for calls": GeminiCalls,
}


def play_peer(agent: Agent, pace: float, under: str) -> Game:
    """Under a peer."""
    with workspace() as (folder, _):
        return play(agent, pace, under, PEERS[under](), ManualClock(), folder)


def _call(turn: Turn) -> bytes:
    return msgspec.json.encode([turn.agent, turn.tool, turn.arguments, "" if turn.tool else turn.said])
