"""InterventionEvent: what one check saw and did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from ..analyzer.result import ReplayStatus

Outcome = Literal["none", "skipped", "no_action", "recovered", "failed"]


class InterventionEvent(Struct, frozen=True):
    """One check. `outcome` says what came of it, `reason` why nothing was done or why it failed.

    `screenshot_after` is the picture after a recovery.
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
