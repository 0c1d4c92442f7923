"""Progress: the work that the agent has finished, according to its own task lists and to checks that pass."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from ..core import Context, Goal, Step

MOST = 64
"""Finished work items remembered."""
LENGTH = 120
_LISTS = ("todos", "plan", "items", "tasks", "steps", "todo_list")
_TEXTS = ("content", "step", "text", "title", "task", "description", "subject", "name")
_DONE = frozenset(("completed", "complete", "done", "finished"))
_BOX = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+\[([ xX~-])\]\s+(.{3,200})$", re.MULTILINE)
_WORD = re.compile(r"[a-z0-9_]{4,}")
SHARED = 0.75
"""The share of a goal's words that a finished work item must contain to complete it."""


class WorkItem(Struct, frozen=True):
    """One item of a task list."""

    text: str
    done: bool


def work_items(step: Step) -> list[WorkItem]:
    """The items of the task list that a step writes; empty if it writes none."""
    if step.kind not in ("message", "tool_call") or step.origin != "agent" or step.role == "user":
        return []
    found: list[WorkItem] = []
    if step.kind == "message":
        found += _boxed(step.content)
    elif step.tool is not None:
        for name, value in step.tool.arguments.items():
            if isinstance(value, str):
                found += _boxed(value)
            elif isinstance(value, list) and name in _LISTS:
                found += _listed(value)
    return found


def _boxed(text: str) -> list[WorkItem]:
    if "[x]" not in text and "[X]" not in text:
        return []
    return [WorkItem(_short(words), mark in "xX") for mark, words in _BOX.findall(text[:20_000])]


def advance(context: Context, done: list[str]) -> Context:
    """The context with more finished work and updated goals; unchanged if nothing is new."""
    known = dict.fromkeys(context.completed_subtasks)
    new = [text for text in dict.fromkeys(done) if text and text not in known]
    if not new:
        return context
    finished = (*context.completed_subtasks, *new)[-MOST:]
    return replace(
        context, completed_subtasks=finished, goals=tuple(_measured(goal, finished) for goal in context.goals)
    )


def _measured(goal: Goal, finished: tuple[str, ...]) -> Goal:
    """A goal is complete when a finished work item contains enough of its words."""
    words = set(_WORD.findall(goal.text.lower()))
    if not words or goal.progress == 1.0:
        return goal
    best = max(len(words & set(_WORD.findall(text.lower()))) / len(words) for text in finished)
    return replace(goal, progress=1.0) if best >= SHARED else goal


def _listed(value: list[object]) -> Iterator[WorkItem]:
    for item in value[:200]:
        if isinstance(item, dict):
            text = next((item[key] for key in _TEXTS if isinstance(item.get(key), str) and item[key]), "")
            if text:
                yield WorkItem(_short(text), str(item.get("status", "")).lower() in _DONE or item.get("done") is True)


def _short(text: str) -> str:
    return " ".join(text.split())[:LENGTH].rstrip(" .*_")
