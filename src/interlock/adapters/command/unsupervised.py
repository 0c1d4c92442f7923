"""UnsupervisedRun: the front's work when no owner stays alive: reports it, enforces the time limit, cancels."""

from __future__ import annotations

import time

from ...config import Config
from ...core import InterlockError
from ...journal import RunFolder
from .terminal_approval import write_stderr

POLL_S = 1.0
"""How often to check for a reason to end the run."""

TIME_IS_UP, CANCELLED = 124, 130
"""The exit statuses of `interlock run` when the time limit is reached and when the run is cancelled."""


class UnsupervisedRun:
    """One run without an owner. `begun` is on the monotonic clock; `refuses`: its hooks fail closed."""

    def __init__(self, config: Config, folder: RunFolder, begun: float, *, refuses: bool = False) -> None:
        self.closed, self._refuses = config.runtime.fail == "closed", refuses
        self.check_at = time.monotonic()
        self._folder, self._begun = folder, begun
        # With `observe` nothing is enforced.
        self._seconds = None if config.interventions.observe else config.limits.max_execution_time

    def say(self, why: str) -> None:
        """Explain on stderr what is no longer supervised."""
        if self.closed:
            what = "Ending the command because runtime.fail is closed."
        else:
            time_limit = "" if self._seconds is None else f"max_execution_time ({self._seconds:g} s), "
            hooks = "its hooks block every step" if self._refuses else "no reviews, no checkpoints, no pause"
            what = (
                f"The command continues unsupervised: {hooks}. "
                f"Still enforced: {time_limit}memory and processes. interlock cancel or Ctrl-C twice ends it."
            )
        write_stderr(f"interlock: {why}. {what}\n")

    def check(self) -> tuple[int, str] | None:
        """The exit status and the reason if the run has to end now, else None."""
        now = time.monotonic()
        self.check_at = now + POLL_S
        if self._is_cancelled():
            return CANCELLED, "it was cancelled"
        if self._seconds is None:
            return None
        left = self._begun + self._seconds - now
        if left <= 0 and self._rested() + left <= 0:
            return TIME_IS_UP, f"the limit max_execution_time of {self._seconds:g} s is reached"
        if left > 0:
            self.check_at = now + min(POLL_S, left)
        return None

    def _is_cancelled(self) -> bool:
        """Whether the inbox contains a cancel request; the owner that records the end answers it."""
        from ...control import Request, decode_request
        from ...link import collect_requests

        requests = (decode_request(left.data) for left in collect_requests(self._folder.inbox))
        return any(isinstance(request, Request) and request.command == "cancel" for request in requests)

    def _rested(self) -> float:
        """How long the run was paused, which does not count towards the limit."""
        from ...journal import JournalReader
        from ...runtime import paused_seconds

        try:
            with JournalReader.open(self._folder) as reader:
                return paused_seconds(reader, time.time())
        except InterlockError:
            return 0.0
