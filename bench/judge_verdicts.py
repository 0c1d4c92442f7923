"""Verdicts of a model beside those of the rules, where a key is present."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import scoring
from interlock.config.model import Judge as Settings
from interlock.core import Step
from interlock.runtime.judge import RECENT, shown
from interlock.runtime.judge_client import ask_model
from interlock.runtime.judge_prompt import Question as Asked
from interlock.runtime.judge_prompt import read_verdicts, write_prompt
from traces import Trace

if TYPE_CHECKING:
    from detection import Question

NOT_ASKED = (
    "Not measured here: neither ANTHROPIC_API_KEY nor INTERLOCK_JUDGE_URL (with INTERLOCK_JUDGE_MODEL) is set. With "
    "one of them, the judge looks at the course of every trace of the drift and hallucination rows, and its verdicts "
    "stand here beside the rules'.\n"
)
PATTERNS = ("goal_drift", "hallucination")


def measure(asked: list[Question], alarms: dict[str, list[scoring.Alarm]]) -> str:
    """The section of the report."""
    settings = _settings()
    if settings is None:
        return NOT_ASKED
    said: dict[str, str] = {}
    failed = 0
    rows = ["| pattern | rules (P / R) | judge (P / R) | both agree |", "| --- | --- | --- | --- |"]
    for question in asked:
        if question.pattern not in PATTERNS:
            continue
        for trace in question.traces:
            if trace.trace_id not in said:
                verdict = ask(settings, trace)
                failed += verdict is None
                said[trace.trace_id] = verdict or ""
        rules = question.cases(alarms)
        judge = [
            scoring.Case(case.trace_id, case.group, case.positive, said[case.trace_id] == question.pattern)
            for case in rules
        ]
        same = sum(one.told == other.told for one, other in zip(rules, judge, strict=True))
        figures = [f"{got.precision:.2f} / {got.recall:.2f}" for got in map(scoring.score, (rules, judge))]
        rows.append(f"| {question.title} | {' | '.join(figures)} | {same} of {len(rules)} |")
    note = f"{settings.model}, one question for each trace; {failed} of {len(said)} without a usable answer.\n\n"
    return note + "\n".join(rows) + "\n"


def ask(settings: Settings, trace: Trace) -> str | None:
    """The pattern that the judge sees in a trace, empty for none; None where its answer is not usable."""
    steps: list[Step] = list(trace.read())
    evidence = "\n".join((f"Task: {trace.task}", "", "Latest steps:", *map(shown, steps[-RECENT:])))
    prompt = write_prompt([Asked("course", trace.trace_id, "Do the latest steps still serve the task?", evidence)])
    try:
        answer, _ = ask_model(settings, prompt.system, prompt.text)
    except (OSError, ValueError):
        return None
    verdict = read_verdicts(answer, prompt, 1).get(1)
    if verdict is None:
        return None
    return verdict.pattern if verdict.holds and verdict.confidence >= settings.threshold else ""


def _settings() -> Settings | None:
    url, model = os.environ.get("INTERLOCK_JUDGE_URL"), os.environ.get("INTERLOCK_JUDGE_MODEL")
    if url:
        return Settings(enabled=True, api="openai", url=url, model=model or "local")
    return Settings(enabled=True, model=model or Settings().model) if os.environ.get("ANTHROPIC_API_KEY") else None
