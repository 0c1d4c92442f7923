"""The decision whether to act on a verdict: pure."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ...config import Gui
from ..analyzer.result import AnalysisResult
from .pacing import Pacing


class RecoveryDecision(Struct, frozen=True):
    """Act, or what becomes of the check instead and why."""

    outcome: Literal["act", "none", "skipped", "no_action"]
    reason: str = ""


def decide(result: AnalysisResult, config: Gui, pacing: Pacing | None) -> RecoveryDecision:
    """Act on a problem that is sure enough, has steps, and is not too soon after the last recovery."""
    if not result.is_problem:
        return RecoveryDecision("none")
    if result.confidence < config.confidence_threshold:
        return RecoveryDecision("skipped", f"confidence {result.confidence:g} is below {config.confidence_threshold:g}")
    if not result.recovery_actions:
        return RecoveryDecision("no_action", "no steps are known")
    left = pacing.cooldown_left() if pacing is not None else 0.0
    if left > 0:
        return RecoveryDecision("skipped", f"cooldown: {left:.1f} s left")
    return RecoveryDecision("act")
