"""How much the figures depend on each threshold: other values, one at a time, on every trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING
from unittest.mock import patch

import msgspec

import interlock.detect.completed_call
import scoring
from interlock.detect import Tuning
from scoring import Alarm
from traces import Trace

if TYPE_CHECKING:
    from detection import Question

Alarms = dict[str, list[Alarm]]
Detect = Callable[[Sequence[Trace], Tuning | None], Alarms]

TRIED: dict[str, tuple[float, ...]] = {
    "medium_after": (2, 4),
    "error_window": (8, 12),
    "error_noise": (1, 2, 5),
    "loop_noise": (0, 2),
    "round_span": (3, 7, 8),
    "sentence_times": (2, 4),
    "sentence_window": (6, 12),
    "idle_turns": (5, 8),
    "query_alike": (0.4, 0.6),
    "query_news": (0.5, 0.6, 0.8),
    "query_stale": (0.4, 0.5, 0.8),
    "contradictions": (1, 3),
}
"""Fields of `Tuning`, and what they are set to instead."""

READING: dict[str, tuple[float, ...]] = {
    "NEWS": (0.17, 0.18, 0.26, 0.3),
    "ALIKE": (0.45, 0.62, 0.65),
    "ALIKE_LONG": (0.7, 0.85, 0.9),
    "LONG": (30, 40, 80),
}
"""The same for what is fixed when a turn is read."""

HEADER = ["threshold", "value", "strict", "any", "spiral", "hallucination", "drift", "successful", "differ"]
NOTES = """\
One threshold at a time, everything else as shipped: precision / recall for each pattern, successful traces with an
alarm, and how many of all traces are flagged (or not) other than as shipped.
"""


def measure(
    detect: Detect, every: Sequence[Trace], asked: Sequence[Question], healthy: Sequence[Trace], quick: bool = False
) -> list[list[str]]:
    """One row as shipped and one for each value; `asked` are the questions that have a target."""
    shipped = detect(every, None)

    def row(name: str, value: str, alarms: Alarms) -> list[str]:
        figures = []
        for question in asked:
            got = scoring.score(question.cases(alarms))
            figures.append(f"{got.precision:.2f} / {got.recall:.2f}")
        flagged = sum(bool(alarms[trace.trace_id]) for trace in healthy)
        differ = sum(bool(alarms[name]) != bool(shipped[name]) for name in shipped)
        return [name, value, *figures, str(flagged), str(differ)]

    rows = [row("as shipped", "", shipped)]
    for name, values in TRIED.items():
        for value in values[:1] if quick else values:
            alarms = detect(every, msgspec.structs.replace(Tuning(), **{name: value}))
            rows.append(row(f"{name} {getattr(Tuning(), name):g}", f"{value:g}", alarms))
    for name, values in READING.items():
        for value in values[:1] if quick else values:
            usual = getattr(interlock.detect.completed_call, name)
            with patch.object(interlock.detect.completed_call, name, value):
                rows.append(row(f"{name} {usual:g}", f"{value:g}", detect(every, None)))
    return rows
