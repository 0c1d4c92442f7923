"""Measure detection on recorded traces, and write bench/DETECTION.md.

Usage: python bench/detection.py [--traces DIR] [--peers] [--quick]
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import msgspec

import judge_verdicts
import report
import rivals
import scoring
import sensitivity
import solved
import unsolved
from interlock.config.schema import Detect, Review
from interlock.core import Seen
from interlock.detect import Detectors, Tuning
from interlock.review import Reviewer
from scoring import Alarm, Case
from traces import DEFAULT, ROOT, SOURCES, Trace, load

OUTPUT = ROOT / "bench" / "DETECTION.md"
SUCCESSFUL = ("openhands", "tau", "intercode")
FOLDS = 5
ALLOWED = 0.02
"""Successful traces with an alarm that choosing thresholds may cost; beyond it each costs dearly."""

GRID: dict[str, tuple[float, ...]] = {
    "error_noise": (1, 3, 5),
    "sentence_times": (3, 4),
    "query_alike": (0.4, 0.5, 0.6),
    "query_stale": (0.4, 0.5, 0.6),
}
"""What is chosen on the folds; the first alarms after three, five and eight are not up for choice."""

Alarms = dict[str, list[Alarm]]
Tried = list[tuple[dict[str, float], Alarms]]


def detect(traces: Sequence[Trace], tuning: Tuning | None = None) -> Alarms:
    """Every alarm of the product's own detectors, trace by trace, step by step, never ahead."""
    return {trace.trace_id: _alarms(trace, tuning) for trace in traces}


def _alarms(trace: Trace, tuning: Tuning | None) -> list[Alarm]:
    """The alarms of one trace. With thresholds that no detector asked for, they are those of another setting."""
    if tuning is not None:
        for asked, alarms in _FOUND.get(trace.trace_id, ()):
            if all(getattr(tuning, name) == value for name, value in asked.items()):
                return alarms
    watched = None if tuning is None else Watched(tuning)
    detectors = Detectors(Detect(), trace.context(), tuning=watched)  # type: ignore[arg-type]
    found = [issue for seen in reviewed(trace) for issue in detectors.observe(seen)]
    NOTES[trace.trace_id] = {issue.type for issue in found if issue.is_note}
    alarms = [
        Alarm(issue.type, issue.step, issue.severity or "medium", issue.description)
        for issue in found
        if issue.severity != "low"
    ]
    if watched is not None:
        _FOUND.setdefault(trace.trace_id, []).append((watched.asked, alarms))
    return alarms


NOTES: dict[str, set[str]] = {}
"""The types of each trace's notes: what rests on words alone."""


class Watched:
    """Thresholds that remember which of them were asked for."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self.asked: dict[str, object] = {}

    def __getattr__(self, name: str) -> object:
        if name not in Tuning.__struct_fields__:
            return getattr(Tuning, name).__get__(self)
        value = self.asked[name] = getattr(self.tuning, name)
        return value


_FOUND: dict[str, list[tuple[dict[str, object], list[Alarm]]]] = {}


def reviewed(trace: Trace) -> list[Seen]:
    """The steps with the review that each call gets in a run; thresholds of detection do not change it."""
    known = _REVIEWED.get(trace.trace_id)
    if known is None:
        reviewer = Reviewer(Review(), trace.context())
        known = _REVIEWED[trace.trace_id] = []
        for step in trace.read():
            known.append(Seen(step, reviewer.review(step) if step.kind == "tool_call" else None))
            reviewer.observe(step)
    return known


_REVIEWED: dict[str, list[Seen]] = {}


class Question(msgspec.Struct):
    """One row of the table: which traces, which of them are positive, which alarms count."""

    title: str
    pattern: str
    traces: list[Trace]
    positive: list[bool]

    def cases(self, alarms: Alarms) -> list[Case]:
        return [
            Case(trace.trace_id, trace.group, positive, scoring.flagged(alarms[trace.trace_id], self.pattern))
            for trace, positive in zip(self.traces, self.positive, strict=True)
        ]


def questions(traces: dict[str, list[Trace]]) -> list[Question]:
    """Every question that the labels can answer, in the order of the report."""
    asked = []
    sola = [trace for trace in traces["sola"] if "loop" in trace.judged]
    clear = [trace for trace in sola if scoring.strict(trace) or not scoring.labelled(trace, "loop")]
    asked.append(Question("loop, sola strict", "loop", clear, [scoring.strict(trace) for trace in clear]))
    asked.append(
        Question(
            "loop, sola strict, single labels as negative", "loop", sola, [scoring.strict(trace) for trace in sola]
        )
    )
    asked.append(Question("loop, sola any", "loop", sola, [scoring.labelled(trace, "loop") for trace in sola]))
    for agent in sorted({str(trace.meta.get("agent")) for trace in sola}):
        some = [trace for trace in sola if trace.meta.get("agent") == agent]
        asked.append(
            Question(f"loop, sola any, {agent}", "loop", some, [scoring.labelled(trace, "loop") for trace in some])
        )
    for source, pattern in (
        ("trail", "resource_spiral"),
        ("trail", "hallucination"),
        ("trail", "goal_drift"),
        ("agentrx", "hallucination"),
        ("agentrx", "goal_drift"),
    ):
        some = [trace for trace in traces[source] if pattern in trace.judged]
        asked.append(
            Question(f"{pattern}, {source}", pattern, some, [scoring.labelled(trace, pattern) for trace in some])
        )
    return [question for question in asked if question.traces]


def try_settings(asked: list[Question], healthy: list[Trace], quick: bool) -> Tried:
    """The alarms of every trace that has labels or succeeded, with each combination of thresholds."""
    every = {trace.trace_id: trace for question in asked for trace in question.traces}
    every.update({trace.trace_id: trace for trace in healthy})
    grid = {name: values[:2] for name, values in GRID.items()} if quick else GRID
    settings = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    return [
        (setting, detect(list(every.values()), msgspec.structs.replace(Tuning(), **setting))) for setting in settings
    ]


def cross_validate(tried: Tried, asked: list[Question], healthy: list[Trace]) -> tuple[Alarms, list[str]]:
    """Alarms of each trace with the thresholds that were best on the folds it is not in; and which these were."""
    groups = {trace.trace_id: trace.group for question in asked for trace in question.traces}
    groups.update({trace.trace_id: trace.group for trace in healthy})
    fold = {name: zlib.crc32(group.encode()) % FOLDS for name, group in groups.items()}
    chosen: Alarms = {}
    said = []
    for held in range(FOLDS):
        kept = {name for name in groups if fold[name] != held}
        setting, alarms = max(tried, key=lambda one: _worth(one, asked, healthy, kept))
        said.append(named(setting))
        chosen.update({name: alarms[name] for name in groups if name not in kept})
    return chosen, said


class LeftOut(msgspec.Struct):
    """One question answered with thresholds that were chosen without its source.

    `worst` and `best` are the F1 of all settings that are as good on the other sources.
    """

    question: Question
    setting: str
    alarms: Alarms
    worst: float
    best: float


def leave_out(tried: Tried, asked: list[Question], healthy: list[Trace]) -> list[LeftOut]:
    """Each question with a target, with thresholds chosen on the other sources alone."""
    found = []
    for question in asked:
        if question.title not in report.TARGETS:
            continue
        own = {_family(trace) for trace in question.traces}
        kept = {
            trace.trace_id
            for some in (*(one.traces for one in asked), healthy)
            for trace in some
            if _family(trace) not in own
        }
        worths = [_worth(one, asked, healthy, kept) for one in tried]
        top = max(worth[0] for worth in worths)
        equal = [one for one, worth in zip(tried, worths, strict=True) if worth[0] == top]
        scores = [scoring.score(question.cases(alarms)).f1 for _, alarms in equal]
        setting, alarms = max(tried, key=lambda one: _worth(one, asked, healthy, kept))
        found.append(LeftOut(question, named(setting), alarms, min(scores), max(scores)))
    return found


def _family(trace: Trace) -> str:
    """The source of a trace as its file is called."""
    return trace.source.partition("-")[0]


def named(setting: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in setting.items())


def _worth(
    tried: tuple[dict[str, float], Alarms], asked: list[Question], healthy: list[Trace], kept: set[str]
) -> tuple[float, int]:
    """How good a setting is on the traces that are kept; of equals the one nearest to what ships."""
    setting, alarms = tried
    total = 0.0
    for question in asked:
        cases = [case for case in question.cases(alarms) if case.trace_id in kept]
        if question.title in report.TARGETS and cases:
            total += scoring.score(cases).f1
    others = [trace for trace in healthy if trace.trace_id in kept]
    flagged = sum(bool(alarms[trace.trace_id]) for trace in others) / max(1, len(others))
    shipped = Tuning()
    return round(total - 10 * max(0.0, flagged - ALLOWED), 6), sum(getattr(shipped, k) == v for k, v in setting.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path, default=DEFAULT, help="folder with the trace files")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--peers", action="store_true", help="run Gemini CLI's detector too (needs node and npm)")
    parser.add_argument("--peer-folder", type=Path, default=None, help="where it is installed already")
    parser.add_argument("--quick", action="store_true", help="a smaller grid of thresholds")
    given = parser.parse_args()
    traces = {source: load(given.traces, source) for source in SOURCES}
    if not any(traces.values()):
        sys.exit(f"{given.traces}: no trace files there. Give the folder with --traces DIR (or TRACES=DIR for make).")
    every = [trace for source, some in traces.items() if source != "miniswe" for trace in some]
    asked = questions(traces)
    healthy = [trace for source in SUCCESSFUL for trace in traces[source] if trace.outcome == "success"]
    shipped = detect(every + traces["miniswe"])
    noted = report.notes(traces, NOTES)
    tried = try_settings(asked, healthy, given.quick)
    validated, settings = cross_validate(tried, asked, healthy)
    left_out = leave_out(tried, asked, healthy)
    others = {f"same call {times}x": {t.trace_id: rivals.same_call(t, times) for t in every} for times in (3, 4)}
    skipped = "not asked for (--peers)"
    if given.peers:
        peer, skipped = rivals.gemini(every, given.peer_folder)
        if peer:
            others["Gemini CLI"] = peer
    wanted = [question for question in asked if question.title in report.TARGETS]
    flat = sensitivity.measure(detect, [t for t in every if _family(t) != "stepshield"], wanted, healthy, given.quick)
    verdicts = judge_verdicts.measure(asked, shipped)
    text = report.write(
        traces,
        asked,
        healthy,
        shipped,
        validated,
        settings,
        left_out,
        others,
        skipped,
        flat,
        verdicts,
        given.traces,
        solved.section(traces["miniswe"]),
        noted + unsolved.section(every + traces["miniswe"], shipped),
    )
    given.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
