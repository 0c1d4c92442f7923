"""Waits: whether a call waits for other work, or polls its status."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ..calls import CallReading

LONG_SECONDS = 60.0
"""A call that takes this long and does not fail by itself was spent waiting."""
BUSY_POLLS = 30
"""Equal polls without a pause after which an agent polls instead of waiting ..."""
BUSY_SECONDS = 300.0
"""... within this time."""
POLLED = 8
"""Polled states remembered."""

Wait = Literal["", "sleeps", "asks"]
"""No wait; the call itself takes time; or it polls a status, and time passes only between two calls."""


def read_waits(reading: CallReading) -> Wait:
    """Whether a call waits or polls the state of something slow."""
    how = {wait.how for wait in reading.waits}
    return "sleeps" if "sleeps" in how else "asks" if "polls" in how else ""


def asks_state(reading: CallReading) -> bool:
    """Whether a call asks for the state of something that runs elsewhere."""
    return any(wait.how == "polls" for wait in reading.waits)


def limits_itself(reading: CallReading) -> bool:
    """Whether a call sets its own time limit."""
    return any(wait.how == "limits" for wait in reading.waits)


class Poll(Struct):
    """The last equal polls, and whether they are made without a pause."""

    times: list[float] = field(default_factory=list)
    busy: bool = False


class Polls(Struct):
    """The last polls, by what they asked and got."""

    last: dict[int, Poll] = field(default_factory=dict)

    def busy(self, poll: int, asked: float, now: float) -> bool:
        """Record a poll; whether it is one of more than 30 equal ones in five minutes without a pause.

        Only the time before a call is the agent's pause: the call itself may have been delayed.
        """
        known = self.last.pop(poll, None) or Poll()
        if known.times and asked - known.times[-1] > BUSY_SECONDS / BUSY_POLLS:
            known = Poll()
        known.times = [*known.times, now][-BUSY_POLLS - 1 :]
        known.busy = known.busy or (len(known.times) > BUSY_POLLS and now - known.times[0] <= BUSY_SECONDS)
        self.last[poll] = known
        if len(self.last) > POLLED:
            del self.last[next(iter(self.last))]
        return known.busy
