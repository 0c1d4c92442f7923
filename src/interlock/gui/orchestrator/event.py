"""InterventionEvent: what one check saw and did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import force_setattr

from ..analyzer.result import ReplayStatus

Outcome = Literal["none", "skipped", "no_action", "recovered", "failed"]


_ALSO: tuple[tuple[str, type, Callable[[Any], object]], ...] = (
    ("timestamp", datetime, datetime.timestamp),
    ("screenshot_path", Path, str),
    ("screenshot_after", Path, str),
)


class InterventionEvent(Struct, frozen=True):
    """One check. `outcome` says what came of it, `reason` why nothing was done or why it failed.

    `timestamp` is in seconds since 1970 and pictures are paths as text; a datetime and a Path may be given, and
    `time` and `screenshot` give them back. `screenshot_after` is the picture after a recovery.
    """

    timestamp: float
    status: ReplayStatus
    confidence: float = 0.0
    actions_taken: Sequence[str] = ()
    recovery_success: bool | None = None
    screenshot_path: str | None = None
    outcome: Outcome = "none"
    reason: str = ""
    description: str = ""
    raw_response: str = ""
    evidence: Sequence[str] = ()
    screenshot_after: str | None = None

    def __post_init__(self) -> None:
        for name, kind, convert in _ALSO:
            value = getattr(self, name)
            if isinstance(value, kind):
                force_setattr(self, name, convert(value))

    @property
    def time(self) -> datetime:
        """When the check was, in UTC."""
        return datetime.fromtimestamp(self.timestamp, UTC)

    @property
    def screenshot(self) -> Path | None:
        """The picture that was looked at, where one was saved."""
        return Path(self.screenshot_path) if self.screenshot_path is not None else None
