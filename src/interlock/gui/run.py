"""RunLike: what a GUI session needs of the run that it belongs to."""

from __future__ import annotations

from typing import Literal, Protocol

from ..journal_records import RecordBody

Passage = Literal["proceed", "stop"]


class RunLike(Protocol):
    """A run: its journal, and the gate that pause, resume and cancel close and open."""

    def record(self, body: RecordBody) -> None:
        """Write a record to the run's journal."""
        ...

    def gate(self) -> Passage:
        """Ask before each chunk; waits while the run is paused, and says stop when it was cancelled."""
        ...

    def is_paused(self) -> bool:
        """Whether nothing may be typed now, not even by a recovery."""
        ...

    def checkpoint(self, label: str) -> None:
        """Keep the workspace as it is now."""
        ...


class NoRun:
    """A session on its own: nothing is recorded, no one pauses it."""

    def record(self, body: RecordBody) -> None:
        return

    def gate(self) -> Passage:
        return "proceed"

    def is_paused(self) -> bool:
        return False

    def checkpoint(self, label: str) -> None:
        return
