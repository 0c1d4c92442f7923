"""Verdict: from risk and rationality to allow, warn, modify or block."""

from __future__ import annotations

from functools import lru_cache

from ..config import RationalityLevels, RiskLevels
from ..core import VERDICTS, Level, Verdict

TABLE: dict[tuple[Level, Level], Verdict] = {
    ("low", "high"): "allow", ("low", "medium"): "allow", ("low", "low"): "warn",
    ("medium", "high"): "allow", ("medium", "medium"): "warn", ("medium", "low"): "modify",
    ("high", "high"): "warn", ("high", "medium"): "modify", ("high", "low"): "block",
    ("critical", "high"): "block", ("critical", "medium"): "block", ("critical", "low"): "block",
}  # fmt: skip
"""(risk level, rationality level) to verdict."""

OUTSIDE = 0.3
"""Added when a step leaves the expected paths."""

FAILURES = (0.0, 0.1, 0.2, 0.4)
"""Added by the number of earlier failures of the same action; the last counts for three and more."""

JUST_BELOW = 0.01
"""How far below critical additions may lift a step: critical comes from a rule alone."""


def risk_level(risk: float, levels: RiskLevels) -> Level:
    if risk >= levels.critical:
        return "critical"
    if risk >= levels.high:
        return "high"
    return "medium" if risk >= levels.medium else "low"


def rationality_level(rationality: float, levels: RationalityLevels) -> Level:
    if rationality >= levels.high:
        return "high"
    return "medium" if rationality >= levels.medium else "low"


def with_additions(base: float, *, outside: bool, failures: int, levels: RiskLevels) -> float:
    """The risk of a step before any rule: never critical."""
    return added(base, outside, failures, levels.critical)


@lru_cache(256)
def added(base: float, outside: bool, failures: int, critical: float) -> float:
    """The same from plain values, remembered: few steps differ in them."""
    if outside or failures:
        base += (OUTSIDE if outside else 0.0) + FAILURES[min(failures, len(FAILURES) - 1)]
    return max(0.0, round(min(base, critical - JUST_BELOW), 4))


def decide(risk: float, rationality: float, risks: RiskLevels, rationalities: RationalityLevels) -> Verdict:
    """What the table says."""
    return TABLE[risk_level(risk, risks), rationality_level(rationality, rationalities)]


def strongest(one: Verdict, other: Verdict) -> Verdict:
    """Block before modify before warn before allow."""
    return one if one == other or VERDICTS.index(one) > VERDICTS.index(other) else other
