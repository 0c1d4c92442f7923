"""What a hint can say: its placeholders, filled from the issue, the context and the run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..core import Context, Goal, Issue, RunState, Spend
from .message import one_line

PLACEHOLDERS: dict[str, str] = {
    "description": "what was found",
    "issue": "the issue's type",
    "severity": "low, medium, high or critical",
    "error": "the error",
    "path": "the path that it is about",
    "tool": "the tool that was called",
    "command": "the command that was run",
    "count": "how often",
    "task": "the original request",
    "goal": "the primary goal",
    "progress": "what has been done so far",
    "next_step": "the first goal that is not reached",
    "expected_paths": "where the task takes place",
    "outside_path": "the path outside of them",
    "constraints": "the constraints of the run",
    "usage": "what the run has used so far",
    "growth": "which resources grow, and by how much",
    "claim": "what the agent stated",
    "observed": "what the trace or the disk says",
    "instead": "what to do instead",
    "evidence": "the steps that prove it",
    "step": "the step of the alarm",
}
"""Every placeholder of a template with its meaning."""

DETAILS: dict[str, tuple[str, ...]] = {
    "error": ("error", "last_error", "failure", "message"),
    "path": ("path", "file", "file_path", "target", "paths", "files"),
    "tool": ("tool", "call", "action", "pattern"),
    "command": ("command", "argv"),
    "count": ("count", "repeats", "repetitions", "n"),
    "next_step": ("next_step",),
    "outside_path": (
        "outside_path",
        "out_of_scope_path",
        "outside",
        "outside_paths",
        "critical_path",
        "critical",
        "path",
        "paths",
    ),
    "usage": ("usage",),
    "claim": ("claim", "claimed", "claims", "stated"),
    "instead": ("instead", "alternative"),
    "observed": ("observed", "actual", "fact", "contradiction", "contradictions"),
}
"""Which of an issue's details a placeholder is taken from; the first one that is there."""

FALLBACKS: dict[str, tuple[str, ...]] = {"expected_paths": ("roots",), "growth": ("growth", "growing")}
"""The same for what the run itself knows better, if it knows it."""


def values_for(issue: Issue, state: RunState, wanted: Collection[str] = PLACEHOLDERS) -> dict[str, str]:
    """The value of every placeholder that is wanted and has one."""
    context = state.context
    found: dict[str, object] = {
        "description": issue.description,
        "issue": issue.type,
        "severity": issue.severity,
        "step": str(issue.step),
        "task": context.original_prompt or context.primary_goal,
        "goal": goal_of(context),
        "progress": progress_of(context),
        "next_step": next_goal(context),
        "expected_paths": context.places,
        "constraints": context.constraints,
        "usage": usage_of(state.spend),
        "growth": growth_of(state),
        "evidence": [str(step) for step in issue.evidence[-8:]],
    }
    given = {**DETAILS, **{name: keys for name, keys in FALLBACKS.items() if not found[name]}}
    for name in given.keys() & wanted:
        for key in given[name]:
            if issue.details.get(key) not in (None, "", [], (), {}):
                found[name] = issue.details[key]
                break
    if isinstance(found["growth"], float | int):
        found["growth"] = f"what a bit of progress costs, x{found['growth']:g}"
    return {name: text for name, value in found.items() if name in wanted and (text := as_text(value))}


def goal_of(context: Context) -> str:
    """The primary goal, or the nearest thing to one."""
    if context.primary_goal:
        return context.primary_goal
    first = by_priority(context.goals)
    return first[0].text if first else context.original_prompt


def next_goal(context: Context) -> str:
    """The most important goal that is not reached yet, alongside the primary one."""
    goal = goal_of(context)
    unreached = (one for one in by_priority(context.goals) if one.progress is None or one.progress < 1)
    return next((one.text for one in unreached if one.text != goal), "")


def progress_of(context: Context) -> str:
    """What is done, in a line."""
    parts = []
    if context.completed_subtasks:
        parts.append("done: " + ", ".join(context.completed_subtasks))
    parts += [f"{goal.text}: {goal.progress:.0%}" for goal in by_priority(context.goals) if goal.progress is not None]
    return "; ".join(parts)


def by_priority(goals: tuple[Goal, ...]) -> list[Goal]:
    """Goals, the most important first."""
    return sorted(goals, key=lambda goal: goal.priority)


def usage_of(spend: Spend) -> str:
    """What was used, in a line; nothing where nothing is known."""
    parts = []
    if spend.tokens:
        parts.append(f"{spend.tokens:,} tokens")
    if spend.cost_usd:
        parts.append(f"${spend.cost_usd:.2f}")
    if spend.calls:
        parts.append(f"{spend.calls:,} calls")
    if spend.file_operations:
        parts.append(f"{spend.file_operations:,} file operations")
    if spend.memory_mb:
        parts.append(f"{spend.memory_mb:,.0f} MB of memory")
    if spend.execution_time:
        parts.append(f"{spend.execution_time:,.0f} s of execution")
    return ", ".join(parts)


def growth_of(state: RunState) -> str:
    """Which uses grew in the last window."""
    names = ("tokens", "file_operations", "memory_mb", "execution_time")
    grown = [(name, getattr(state.growth, name)) for name in names]
    return ", ".join(f"{name.replace('_', ' ')} x{value:.1f}" for name, value in grown if value > 1)


def as_text(value: object) -> str:
    """Any plain value as one bounded line."""
    if value is None or isinstance(value, bool):
        return ""
    if isinstance(value, Mapping):
        return one_line(", ".join(f"{key}: {as_text(item)}" for key, item in list(value.items())[:8]))
    if isinstance(value, list | tuple | set | frozenset):
        items = [as_text(item) for item in list(value)[:8]]
        return one_line(", ".join(item for item in items if item) + (", ..." if len(value) > 8 else ""))
    return one_line(value)
