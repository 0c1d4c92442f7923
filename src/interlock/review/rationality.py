"""Rationality: does a step make sense here? Goal alignment, logical progression, efficiency.

Deliberately slow to doubt: one weak part leaves a step at high, two bring it to medium, only a step that leaves the
expected paths, fails again and again and repeats itself is low.
"""

from __future__ import annotations

from ..core import Context

ALIGNMENT, PROGRESSION, EFFICIENCY = 0.4, 0.4, 0.2
"""Weights: where it acts and whether it has just failed say more than how often it was done."""

OUTSIDE = 0.5
"""Alignment of a step that acts only outside the expected paths."""

AFTER_FAILURES = (1.0, 0.9, 0.7, 0.5, 0.5, 0.5, 0.2)
"""Progression by the number of earlier failures with nothing written since."""

AFTER_REPEATS = (1.0, 1.0, 1.0, 1.0, 1.0, 0.5)
"""Efficiency by how often the same step was done with nothing written since: a few times may be a check or a poll."""


def rationality(*, outside: bool, failures: int, repeats: int) -> float:
    """The three parts together, from 0 to 1; for a context that a step can be held against."""
    aligned = OUTSIDE if outside else 1.0
    progressing = AFTER_FAILURES[min(failures, len(AFTER_FAILURES) - 1)]
    efficient = AFTER_REPEATS[min(repeats, len(AFTER_REPEATS) - 1)]
    return round(ALIGNMENT * aligned + PROGRESSION * progressing + EFFICIENCY * efficient, 4)


def has_substance(context: Context) -> bool:
    """Whether the context says anything that a step can be held against."""
    return bool(context.original_prompt or context.primary_goal or context.goals or context.expected_paths)
