"""Recorded runs of other people's agents, with their labels (see tests/data/traces/NOTICE)."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from detecting import watch

from interlock.core import Context, Step, Tool, derive_kind

DATA = Path(__file__).parent.parent / "data" / "traces" / "extract.jsonl"
TRACES = {trace["trace_id"]: trace for trace in map(msgspec.json.decode, DATA.read_bytes().splitlines())}

COUNTS = {
    "loop": {"loop", "repetitive_errors"},
    "resource_spiral": {"loop", "repetitive_errors", "resource_spiral"},
    "goal_drift": {"goal_drift", "scope_creep"},
    "hallucination": {"hallucination"},
}
WORDS = ("goal_drift", "hallucination")
"""Told by words alone in these runs: notes, not issues."""

JUDGED = {
    (name, label["pattern"])
    for name, trace in TRACES.items()
    for label in trace["labels"]
    if label["pattern"] in trace["judged"] and label["pattern"] not in WORDS
}
LABELLED = sorted(JUDGED)
HEALTHY = sorted(name for name, trace in TRACES.items() if not trace["labels"])


def told(name: str) -> set[str]:
    trace = TRACES[name]
    made = []
    for raw in trace["steps"]:
        tool = Tool(raw["tool"]["name"], raw["tool"]["arguments"]) if "tool" in raw else None
        made.append(
            Step(
                run_id=name,
                index=raw["index"],
                role=raw["role"],
                kind=derive_kind(raw["role"], tool),
                content=raw["content"],
                tool=tool,
                error=raw.get("error"),
                agent=raw.get("agent"),
            )
        )
    return {issue.type for issue in watch(made, context=Context(original_prompt=trace["task"]))}


@pytest.mark.parametrize(("name", "pattern"), LABELLED)
def test_what_people_labelled_is_told(name: str, pattern: str) -> None:
    assert told(name) & COUNTS[pattern]


@pytest.mark.parametrize("name", HEALTHY)
def test_what_nobody_labelled_is_not(name: str) -> None:
    assert told(name) == set()
