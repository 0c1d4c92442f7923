"""SafePoint: where a replay stops typing, so that a recovery has keyboard focus for itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

PARK_S = 10.0
"""How long a recovery waits for the replay to stop typing; it looks up every few characters."""


class Disturbed(Exception):
    """Raised in the replay when a recovery has had the keyboard: what was typed last may be anywhere."""


class SafePoint:
    """Joins the thread that types with the one that recovers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._typing_thread: int | None = None
        self._wanted = False
        self._parked = False
        self.recoveries = 0
        """How often the keyboard has been someone else's."""

    def begin(self) -> None:
        """The calling thread types from now on; waits while a recovery has keyboard focus."""
        with self._changed:
            self._changed.wait_for(lambda: not self._wanted)
            self._typing_thread = threading.get_ident()

    def end(self) -> None:
        """No one types any more."""
        with self._changed:
            self._typing_thread = None
            self._changed.notify_all()

    @property
    def is_wanted(self) -> bool:
        """Whether a recovery waits for the keyboard of the calling thread."""
        return self._wanted and self._typing_thread == threading.get_ident()

    def pass_by(self) -> None:
        """Called by the typing thread: stop here while a recovery wants the keyboard."""
        with self._changed:
            if self._wanted:
                self._parked = True
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._wanted)
                self._parked = False

    @contextmanager
    def hold(self) -> Iterator[bool]:
        """The keyboard for a recovery; False if the replay did not release it in time."""
        with self._changed:
            self._wanted = True
            free = self._changed.wait_for(lambda: self._parked or self._typing_thread is None, PARK_S)
        try:
            yield free
        finally:
            with self._changed:
                self.recoveries += free
                self._wanted = False
                self._changed.notify_all()
