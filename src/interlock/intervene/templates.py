"""Templates: the text of a soft correction, built in or from a file, and its placeholders, filled from the run."""

from __future__ import annotations

import string
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from msgspec import Struct

from ..core import ISSUE_TYPES, BadInput, Context, Goal, Issue, RunState, Spend
from .advice import DEFAULT, HINTS
from .message import one_line

LAST_RESORT = "Stop and check what you are doing before you continue."
"""Used when an issue has neither a description nor anything else to say."""


class Templates(Struct, frozen=True):
    """A hint for each type of issue; `default` for the rest."""

    by_type: dict[str, str]

    def render(self, issue_type: str, values: Mapping[str, str]) -> str:
        """The hint for a type, without lines whose values are missing. Never fails and is never empty."""
        for name in (issue_type, DEFAULT):
            text = self.by_type.get(name)
            if text is not None and (filled := fill(text, values)):
                return filled
        return values.get("description", "").strip() or LAST_RESORT

    def placeholders(self, issue_type: str) -> frozenset[str]:
        """The placeholders that the hint for a type may use."""
        texts = (self.by_type.get(issue_type, ""), self.by_type.get(DEFAULT, ""), "{description}")
        return frozenset(name for text in texts for name in _placeholders(text))


BUILT_IN = Templates(HINTS)


def parse_templates(text: str, where: str, issue_types: Iterable[str] = ISSUE_TYPES) -> Templates:
    """The user's templates over the built-in ones; any mistake raises one clear error.

    The file is YAML: a type of issue (or `default`) to its text. `where` names the file in errors; `issue_types` are
    the known types, so that a misspelt one is found while a plug-in's own is accepted.
    """
    import yaml

    try:
        loaded = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}:{mark.line + 1}" if mark else where
        raise BadInput(f"this is not YAML: {getattr(error, 'problem', error)}", where=place) from None
    if loaded is None:
        return BUILT_IN
    if not isinstance(loaded, dict):
        raise BadInput(
            f"expected types of issues with their texts, found a {type(loaded).__name__}",
            where=where,
            todo="Write e.g. 'loop: Take a different approach.'",
        )
    known = {*issue_types, DEFAULT}
    made = {name: _checked(name, value, where, known) for name, value in loaded.items()}
    return Templates({**HINTS, **made})


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled; a line with a missing value is omitted."""
    lines = [
        line.format_map(values)
        for line in text.splitlines()
        if all(values.get(name, "").strip() for name in _placeholders(line))
    ]
    return "\n".join(lines).strip()


@lru_cache(256)
def _placeholders(text: str) -> tuple[str, ...]:
    """The names in a template or a line; cached, since there are few and they are filled repeatedly."""
    return tuple(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


def _checked(name: object, value: object, where: str, known: set[str]) -> str:
    if not isinstance(name, str):
        raise BadInput(f"{name!r} is not an issue type", where=where, todo=f"Known: {_list(known)}")
    if name not in known and (near := _nearest(name, known, 80)):
        raise BadInput(f"there is no issue type {name!r}", where=where, todo=f"Did you mean {near!r}?")
    if not isinstance(value, str) or not value.strip():
        raise BadInput("a template must be a non-empty text", where=f"{where}: {name}")
    for number, line in enumerate(value.splitlines(), 1):
        _check_line(line, f"{where}: {name}, line {number}")
    return value


def _check_line(line: str, where: str) -> None:
    try:
        fields = list(string.Formatter().parse(line))
    except ValueError as error:
        raise BadInput(f"{error}", where=where, todo="Write {{ and }} for literal braces.") from None
    for _, name, spec, conversion in fields:
        if name is None:
            continue
        if name not in PLACEHOLDERS:
            near = _nearest(name, set(PLACEHOLDERS), 60)
            todo = f"Did you mean {{{near}}}?" if near else f"Known: {_list(PLACEHOLDERS)}"
            raise BadInput(f"there is no placeholder {{{name}}}", where=where, todo=todo)
        if spec or conversion:
            raise BadInput(f"the placeholder {{{name}}} does not take a format", where=where, todo=f"Write {{{name}}}.")


def _nearest(name: str, known: set[str], cutoff: int) -> str | None:
    from rapidfuzz import process

    found = process.extractOne(name, sorted(known), score_cutoff=cutoff)
    return str(found[0]) if found else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


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
        "outside_path", "out_of_scope_path", "outside", "outside_paths", "critical_path", "critical", "path", "paths",
    ),
    "usage": ("usage",),
    "claim": ("claim", "claimed", "claims", "stated"),
    "instead": ("instead", "alternative"),
    "observed": ("observed", "actual", "fact", "contradiction", "contradictions"),
}  # fmt: skip
"""The issue details that a placeholder can use; the first one present wins."""

FALLBACKS: dict[str, tuple[str, ...]] = {"expected_paths": ("roots",), "growth": ("growth", "growing")}
"""The same for values that the run itself knows better, if it has them."""


def values_for(issue: Issue, state: RunState, wanted: Collection[str] = PLACEHOLDERS) -> dict[str, str]:
    """The values of the wanted placeholders that have one."""
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
        found["growth"] = f"the cost of progress, x{found['growth']:g}"
    return {name: text for name, value in found.items() if name in wanted and (text := as_text(value))}


def goal_of(context: Context) -> str:
    """The primary goal, or the closest substitute."""
    if context.primary_goal:
        return context.primary_goal
    first = by_priority(context.goals)
    return first[0].text if first else context.original_prompt


def next_goal(context: Context) -> str:
    """The most important unreached goal other than the primary one."""
    goal = goal_of(context)
    unreached = (one for one in by_priority(context.goals) if one.progress is None or one.progress < 1)
    return next((one.text for one in unreached if one.text != goal), "")


def progress_of(context: Context) -> str:
    """The completed work, in one line."""
    parts = []
    if context.completed_subtasks:
        parts.append("done: " + ", ".join(context.completed_subtasks))
    parts += [f"{goal.text}: {goal.progress:.0%}" for goal in by_priority(context.goals) if goal.progress is not None]
    return "; ".join(parts)


def by_priority(goals: tuple[Goal, ...]) -> list[Goal]:
    """Goals, the most important first."""
    return sorted(goals, key=lambda goal: goal.priority)


def usage_of(spend: Spend) -> str:
    """The resources used, in one line; empty if nothing is known."""
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
    """The resources whose usage grew in the last window."""
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
