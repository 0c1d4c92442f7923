"""How detection is scored: which alarms count, which traces are positive, and how sure the figures are."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from traces import Trace

COUNTS: dict[str, frozenset[str]] = {
    "loop": frozenset(("loop", "repetitive_errors")),
    "resource_spiral": frozenset(("loop", "repetitive_errors", "resource_spiral")),
    "goal_drift": frozenset(("goal_drift", "scope_creep")),
    "hallucination": frozenset(("hallucination",)),
}
"""The alarm types that count for a labelled pattern."""

SAMPLES = 1000


class Alarm(Struct):
    """One alarm as scoring sees it."""

    type: str
    step: int
    severity: str
    description: str


class Case(Struct):
    """One trace under one question: was it there, was it flagged."""

    trace_id: str
    group: str
    positive: bool
    flagged: bool


class Score(Struct):
    """Precision, recall and F1 with what they rest on."""

    precision: float
    recall: float
    f1: float
    hits: int
    false: int
    missed: int


def labelled(trace: Trace, pattern: str) -> bool:
    return any(label.pattern == pattern for label in trace.labels)


def labelled_steps(trace: Trace, pattern: str) -> list[int]:
    return sorted({label.step for label in trace.labels if label.pattern == pattern and label.step is not None})


def strict(trace: Trace) -> bool:
    """Two or more turns in a row labelled as a loop."""
    turns = {step.index: at for at, step in enumerate(step for step in trace.steps if step.role == "assistant")}
    positions = sorted(turns[step] for step in labelled_steps(trace, "loop") if step in turns)
    return any(after == before + 1 for before, after in pairwise(positions))


def flagged(alarms: Sequence[Alarm], pattern: str) -> bool:
    return any(alarm.type in COUNTS[pattern] for alarm in alarms)


def score(cases: Sequence[Case]) -> Score:
    hits = sum(case.positive and case.flagged for case in cases)
    false = sum(case.flagged and not case.positive for case in cases)
    missed = sum(case.positive and not case.flagged for case in cases)
    precision = hits / (hits + false) if hits + false else 1.0
    recall = hits / (hits + missed) if hits + missed else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return Score(precision, recall, f1, hits, false, missed)


def interval(cases: Sequence[Case], figure: Callable[[Score], float], seed: int = 7) -> tuple[float, float]:
    """The middle 95% of the figure when whole groups are drawn anew."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    drawn, names = random.Random(seed), sorted(groups)
    values = sorted(
        figure(score([case for name in drawn.choices(names, k=len(names)) for case in groups[name]]))
        for _ in range(SAMPLES)
    )
    return values[int(0.025 * SAMPLES)], values[int(0.975 * SAMPLES)]


def delays(traces: Sequence[Trace], alarms: dict[str, list[Alarm]], pattern: str = "loop") -> list[int]:
    """Steps from the second labelled repetition to the first alarm; an earlier alarm is a negative number."""
    found = []
    for trace in traces:
        steps = labelled_steps(trace, pattern)
        rose = [alarm.step for alarm in alarms[trace.trace_id] if alarm.type in COUNTS[pattern]]
        if len(steps) >= 2 and rose:
            found.append(min(rose) - steps[1])
    return found


def median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None
