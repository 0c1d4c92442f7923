"""Every threshold in one place, each with its reason."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ..core import Severity

Sensitivity = Literal["low", "medium", "high"]


class Tuning(Struct, frozen=True, kw_only=True):
    """What it takes to raise an alarm. The defaults are sensitivity medium."""

    medium_after: int = 3
    """Twice is a retry, three times is a pattern."""
    high_after: int = 5
    """Nobody retries five times and means it."""
    critical_after: int = 8
    """By now every further call is waste."""
    certain_after: int = 5
    """Confidence is n / 5, at most 1."""

    error_window: int = 10
    """The same failure again within this many turns belongs to the same trouble, whatever lay between."""

    @classmethod
    def for_sensitivity(cls, sensitivity: Sensitivity) -> Tuning:
        """Low wants one repetition more than medium, high one less."""
        shift = {"low": 1, "medium": 0, "high": -1}[sensitivity]
        base = cls()
        return msgspec.structs.replace(base, medium_after=base.medium_after + shift)

    def severity(self, count: int) -> Severity | None:
        """How bad the count-th repetition is; None below the first alarm."""
        if count >= self.critical_after:
            return "critical"
        if count >= self.high_after:
            return "high"
        return "medium" if count >= self.medium_after else None

    def confidence(self, count: int) -> float:
        """How sure the count-th repetition makes us."""
        return min(count / self.certain_after, 1.0)
