"""Glance: review and detection of a call in one go, where nothing has to be done between the two."""

from __future__ import annotations

from msgspec import Struct

from ..core import Review, Step
from .checkpointing import may_change
from .judgement import Judgement
from .watch import Watch


class Glance(Struct, frozen=True):
    """A call's review; and what the call led to, where it was clear that it may run."""

    review: Review | None
    judgement: Judgement | None = None


def glance(
    watch: Watch, step: Step, absent: tuple[str, ...] | None, *, free: bool, whatever_verdict: bool = False
) -> Glance:
    """Review a call; one that only reads, and that nothing holds back (`free`), is counted and observed at once."""
    review = watch.review(step)
    allowed = whatever_verdict or (review is not None and review.verdict == "allow")
    if not free or not allowed or may_change(review):
        return Glance(review)
    watch.guard.part("supervisor", watch.count, 0.0, step)
    return Glance(review, watch.observe(step, review, absent=absent))


def look_back(watch: Watch, step: Step, absent: tuple[str, ...] | None) -> Glance:
    """What a step that has happened led to. A call is reviewed after the fact: nobody had asked about it."""
    review = watch.review(step)
    return Glance(review, watch.observe(step, review, absent=absent))
