"""Weighing: risk, rationality and verdict of a call before any rule; remembered, for few calls differ in them."""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from ..config.model import RationalityLevels, RiskLevels
from ..core import Review, Verdict
from .judgement import Judgement
from .programs import Action
from .rationality import rationality
from .report import as_review
from .verdict import decide, with_additions


class Weight(Struct, frozen=True):
    """What the numbers of a call say, and the review that it gets if no rule says more."""

    risk: float
    rationality: float
    verdict: Verdict
    unruled: Review


class Scales:
    """Weighs calls under one configuration; `measured` where the context says what a call is held against."""

    def __init__(self, risks: RiskLevels, rationalities: RationalityLevels, measured: bool) -> None:
        self._risks, self._rationalities, self._measured = risks, rationalities, measured
        self.weigh = lru_cache(1024)(self._weigh)

    def _weigh(self, action: Action, base: float, outside: bool, failures: int, repeats: int) -> Weight:
        risk = with_additions(base, outside=outside, failures=failures, levels=self._risks)
        sense = rationality(outside=outside, failures=failures, repeats=repeats) if self._measured else 1.0
        verdict = decide(risk, sense, self._risks, self._rationalities)
        nothing = Judgement(action, base, (), ())
        review = as_review(nothing, verdict, risk, sense, action=action, outside=outside, failures=failures)
        return Weight(risk, sense, verdict, review)


scales = lru_cache(8)(Scales)
"""The scales of a configuration, shared by all runs that have it."""
