"""Observation: review and detection of a call in one go, where nothing has to be done between the two."""

from __future__ import annotations

from msgspec import Struct

from ..core import Review, Step
from .checkpointing import may_change
from .decision_pipeline import DecisionPipeline
from .step_outcome import StepOutcome


class Observation(Struct, frozen=True):
    """A call's review; and what the call led to, where it was clear that it may run."""

    review: Review | None
    judgement: StepOutcome | None = None


def review_and_observe(
    pipeline: DecisionPipeline,
    step: Step,
    absent: tuple[str, ...] | None,
    *,
    free: bool,
    whatever_verdict: bool = False,
) -> Observation:
    """Review a call; one that only reads, and that nothing holds back (`free`), is counted and observed at once."""
    review = pipeline.review(step)
    allowed = whatever_verdict or (review is not None and review.verdict == "allow")
    if not free or not allowed or may_change(review):
        return Observation(review)
    pipeline.guard.part("supervisor", pipeline.count, 0.0, step)
    return Observation(review, pipeline.observe(step, review, absent=absent))


def observe_result(pipeline: DecisionPipeline, step: Step, absent: tuple[str, ...] | None) -> Observation:
    """What a step that has happened led to. A call is reviewed after the fact: it was not asked about."""
    review = pipeline.review(step)
    return Observation(review, pipeline.observe(step, review, absent=absent))
