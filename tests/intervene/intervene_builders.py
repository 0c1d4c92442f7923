"""Tiny builders for the tests of interventions."""

from __future__ import annotations

from typing import Any

from interlock.core import CheckpointInfo, Context, Goal, Growth, Issue, RunState, Spend

NOW = 1_700_000_000.0


def issue(kind: str = "loop", **changes: Any) -> Issue:
    return Issue(**{"id": f"{kind}:1:9", "type": kind, "step": 9, "description": f"a case of {kind}", **changes})


def run(**changes: Any) -> RunState:
    return RunState(**{"run_id": "run-1", "step": 9, **changes})


def checkpoint(name: str = "c1", **changes: Any) -> CheckpointInfo:
    return CheckpointInfo(**{"id": name, "time": NOW - 100, "step": 3, **changes})


def growing(factor: float, use: int = 100) -> Growth:
    window = Spend(
        input_tokens=use, file_operations=use, memory_mb=float(use), execution_time=float(use), calls=use, steps=use
    )
    return Growth(tokens=factor, file_operations=factor, memory_mb=factor, execution_time=factor, last_window=window)


FULL = Context(
    original_prompt="Fix the failing tests in src/app",
    primary_goal="All tests pass",
    goals=(
        Goal("Write the changelog", priority=3),
        Goal("All tests pass", priority=1, progress=0.4),
        Goal("Keep the API", priority=2),
    ),
    completed_subtasks=("found the failing test",),
    constraints=("Do not change the public API", "Use only files in src/app", "Keep memory below 1 GB"),
    boundaries=("No network",),
    expected_paths=("src/app", "tests"),
    examples=("A good commit message: 'Fix rounding'",),
)
