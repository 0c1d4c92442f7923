"""ReplayStatus and AnalysisResult: what an analyzer says of a screen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from ...journal_records import ReplayStatus as ReplayStatus


class AnalysisResult(Struct, frozen=True):
    """A verdict on a screen, how sure it is (0 to 1), why, and what would help."""

    status: ReplayStatus
    confidence: float = 0.0
    description: str = ""
    recovery_actions: Sequence[str] = ()
    expected_file: str | None = None
    actual_file: str | None = None
    raw_response: str = ""
    evidence: Sequence[str] = ()

    @property
    def is_problem(self) -> bool:
        return self.status not in (ReplayStatus.NORMAL, ReplayStatus.UNKNOWN)


class ScreenSituation(Struct, frozen=True):
    """What should be on the screen.

    `typing` says that text is being typed right now, `operating` that the session itself has an input box open;
    `serial` changes with every such operation.
    """

    expected_file: str | None = None
    note: str = ""
    typing: bool = False
    operating: bool = False
    serial: int = 0


def situation_of(context: object) -> ScreenSituation:
    """A situation from what callers give: a situation, words, or {"expected_file", "note", "typing"}."""
    if context is None:
        return ScreenSituation()
    if isinstance(context, ScreenSituation):
        return context
    if isinstance(context, Mapping):
        expected = context.get("expected_file")
        return ScreenSituation(
            str(expected) if expected else None, str(context.get("note") or ""), bool(context.get("typing", False))
        )
    return ScreenSituation(note=str(context))


def parse_status(value: object) -> ReplayStatus:
    """A status by name or value, in any case; UNKNOWN for anything else."""
    text = str(value.value if isinstance(value, ReplayStatus) else value).strip().casefold()
    for status in ReplayStatus:
        if text in (status.value, status.name.casefold()):
            return status
    return ReplayStatus.UNKNOWN


def clamp_confidence(value: object) -> float:
    """A confidence from 0 to 1; a missing one is 0.5, one that is not a number 0."""
    if value is None:
        return 0.5
    try:
        number = float(str(value)) if not isinstance(value, bool) else float(value)
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(number) else min(1.0, max(0.0, number))


def unknown(description: str, raw_response: str = "", evidence: Sequence[str] = ()) -> AnalysisResult:
    """No verdict, and why."""
    return AnalysisResult(ReplayStatus.UNKNOWN, 0.0, description, (), None, None, raw_response, evidence)
