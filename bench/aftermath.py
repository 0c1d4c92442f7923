"""What follows the third identical failing call in recorded traces: is that the time to intervene?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from interlock.detect.agent_history import AgentHistory
from interlock.detect.completed_call import CompletedCall
from traces import Trace

TIMES = 3
AGAIN, OTHERWISE, LAST, THROUGH = "made again", "another call failed", "the run's last", "another call came through"


def after_the_third(traces: Iterable[Trace]) -> Counter[str]:
    """How often the third time in a row was followed by what."""
    return Counter(what for trace in traces for what in _followed(_turns(trace)))


def _turns(trace: Trace) -> list[CompletedCall]:
    history, turns = AgentHistory(), []
    for step in trace.read():
        history.record(step)
        if history.turn is not None:
            turns.append(history.turn)
    return turns


def _followed(turns: Sequence[CompletedCall]) -> Iterator[str]:
    count = 0
    for at, turn in enumerate(turns):
        before = turns[at - 1] if at else None
        same = before is not None and before.failed and turn.failed and _same(before, turn)
        count = count + 1 if same else 1
        if count == TIMES:
            yield _next(turn, turns[at + 1] if at + 1 < len(turns) else None)


def _next(third: CompletedCall, after: CompletedCall | None) -> str:
    if after is None:
        return LAST
    if after.failed:
        return AGAIN if _same(third, after) else OTHERWISE
    return THROUGH


def _same(one: CompletedCall, other: CompletedCall) -> bool:
    return one.key == other.key and one.error == other.error
