"""Alone: what the front still does for a run when no owner stays alive: it says so, and holds the run to its time."""

from __future__ import annotations

import contextlib
import sys
import time

from ...config import Config
from ...core import InterlockError
from ...journal import JournalReader, RunFolder
from ...runtime.run import rest_in

AGAIN_S = 1.0
"""How often at most it is looked again whether the time is up: a pause makes it longer."""


class Alone:
    """One run without an owner. `begun` is on the monotonic clock."""

    def __init__(self, config: Config, folder: RunFolder, begun: float) -> None:
        self.closed = config.runtime.fail == "closed"
        self._folder, self._begun = folder, begun
        # Who only observes is held to nothing.
        self._seconds = None if config.interventions.observe else config.limits.max_execution_time
        self.look_at = self._end_at()
        """When to look whether the time is up; None where it never is."""

    def say(self, why: str) -> None:
        """Tell whoever reads stderr, at once, what this means."""
        if self.closed:
            what = "The command is ended, as runtime.fail is closed."
        else:
            time_limit = "" if self._seconds is None else f"max_execution_time ({self._seconds:g} s), "
            what = (
                "The command goes on, and nobody watches it: no reviews, no checkpoints, no interlock pause or cancel. "
                f"Still held: {time_limit}memory and processes. Ctrl-C twice or SIGTERM ends it."
            )
        if sys.stderr is not None:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"interlock: {why}. {what}\n")
                sys.stderr.flush()

    def time_is_up(self) -> bool:
        """Whether the run has had its time; else `look_at` says when to ask again."""
        now, end = time.monotonic(), self._end_at()
        self.look_at = None if end is None else max(end, now + AGAIN_S)
        return end is not None and now >= end

    @property
    def limit_words(self) -> str:
        return f"the limit max_execution_time of {self._seconds:g} s is reached"

    def _end_at(self) -> float | None:
        return None if self._seconds is None else self._begun + self._seconds + self._rested()

    def _rested(self) -> float:
        """How long it was paused, which no limit counts."""
        try:
            with JournalReader.open(self._folder) as reader:
                return rest_in(reader, time.time())
        except InterlockError:
            return 0.0
