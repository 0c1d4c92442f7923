"""HubTrouble: what is wrong between a run and its hub, counted, and recorded in the run's journal."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from ..control import TransportNoted

TELL_AFTER_S = 10.0
"""A hub that is away for less than this is not worth a row."""

TELL_EVERY_S = 60.0
"""Of the same kind of trouble one row a minute; the next one says how many there were."""


class HubTrouble:
    """Has audit rows written: few, whatever happens. `tell` must not block."""

    def __init__(self, tell: Callable[[TransportNoted], object], counts: Counter[tuple[str, str]]) -> None:
        self.problem = "not connected yet"
        self._tell, self._counts = tell, counts
        self._since = time.monotonic()
        self._told = False
        self._last: dict[str, float] = {}
        self._more: Counter[str] = Counter()

    def set(self, problem: str) -> None:
        """The run is not on the hub, for this reason."""
        if not self.problem:
            self._since = time.monotonic()
        changed, self.problem = problem != self.problem, problem
        if time.monotonic() - self._since >= TELL_AFTER_S and (changed or not self._told):
            self._told = True
            self._write("hub_away", problem)

    def clear(self) -> None:
        """The run is on the hub."""
        if self._told:
            self._write("hub_back", "the run is on the hub again")
        self.problem, self._told = "", False

    def quarantine(self, why: str, subject: str, data: bytes = b"") -> None:
        """Something was put aside and is not acted upon."""
        now = time.monotonic()
        if now - self._last.get(why, -TELL_EVERY_S) < TELL_EVERY_S or len(self._last) > 100:
            self._more[why] += 1
            self._counts["", "quarantined"] += 1
            return
        self._last[why] = now
        more = self._more.pop(why, 0)
        self._write("quarantined", f"{subject}: {why}" + (f", and {more:,} more like it" if more else ""), len(data))

    def _write(self, what: str, problem: str, size: int = 0) -> None:
        self._tell(TransportNoted(what, problem[:500], size or None, "hub"))
