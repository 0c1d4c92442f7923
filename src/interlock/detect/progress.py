"""Progress: whether a turn made progress, judged by its result rather than by its request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct, field

from .tuning import ECHO, SHORT

if TYPE_CHECKING:
    from .completed_call import CompletedCall

KNOWN = 8192
"""Words remembered; the oldest are dropped first."""
SPARE = 2048
"""Words beyond that limit before the oldest are dropped."""
WRITES = 512
"""Writing calls remembered."""


class Knowledge(Struct):
    """Words seen in results (`known`) and in calls (`named`), each with its turn, oldest first; calls that wrote."""

    turns: int = 0
    known: dict[bytes, int] = field(default_factory=dict)
    named: dict[bytes, int] = field(default_factory=dict)
    written: dict[int, None] = field(default_factory=dict)

    def writes_anew(self, key: int) -> bool:
        """Record a call that writes; whether no equal one has written before."""
        if key in self.written:
            return False
        self.written[key] = None
        if len(self.written) > WRITES:
            del self.written[next(iter(self.written))]
        return True

    def targets(self, asked: set[bytes]) -> bool:
        """Record a call's words; whether it names something that no call had named before."""
        fresh = asked.difference(self.named)
        self.turns += 1
        if not fresh:
            return False
        self.named.update(dict.fromkeys(fresh, self.turns))
        if len(self.named) > KNOWN + SPARE:
            _trim(self.named)
        return True

    def learn(self, found: set[bytes], asked: set[bytes]) -> tuple[float, bool]:
        """Record a result's words; return the share that is new, and whether they only repeat the call."""
        if not found:
            return 0.0, False
        # An intersection iterates over the smaller set, which is the call's words.
        echo = len(found) > SHORT and (len(found) - len(found & asked)) / len(found) < ECHO
        fresh = found.difference(self.known)
        if not fresh:
            return 0.0, echo
        self.known.update(dict.fromkeys(fresh, self.turns))
        if len(self.known) > KNOWN + SPARE:
            _trim(self.known)
        return (len(fresh) - len(fresh & asked)) / len(found), echo


def gained(turn: CompletedCall, before: Sequence[CompletedCall], known: Knowledge) -> bool:
    """Whether a turn made progress.

    Progress means that something was written that the run had not written before, new information came in, something
    not yet named was dealt with, or a failure differs from the previous one of the same call. An edit/test round whose
    failures change or shrink is progress; so is a poll whose answer changes, or a batch that goes from file to file.
    Where the same call is repeated, numbers count only as N of M, per cent or counts of failures.
    """
    key = turn.key
    new = turn.wrote and not turn.failed and known.writes_anew(key)
    for last in reversed(before):
        if last.key == key and not last.refused:
            return last.moved != turn.moved or new
    if turn.failed:
        error = turn.error
        for one in before:  # noqa: SIM110 (any() is slower)
            if one.error == error:
                return False
        return True
    return new or turn.taught or (turn.target and not turn.echo)


def _trim(learnt: dict[bytes, int]) -> None:
    """Drop the oldest words, many at a time, so that only one step in hundreds pays for it.

    Words of one turn are dropped together, because their order within it differs between processes.
    """
    oldest = next(islice(learnt.values(), len(learnt) - KNOWN, None))
    for word in [word for word, turn in learnt.items() if turn < oldest]:
        del learnt[word]
