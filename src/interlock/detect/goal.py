"""Goal: the words and paths that a task names, and how far a turn is about them."""

from __future__ import annotations

from functools import lru_cache

from ..core import Context
from .fingerprint import words

STEM = 6
"""Letters of a word that are compared: enough to distinguish words, few enough to ignore endings."""
SHORT = 4
"""Minimum length of a significant word."""
GOAL = 4000
"""Characters of a task that are read."""

_COMMON = frozenset(
    word[:STEM].encode()
    for word in (
        "about", "above", "after", "again", "also", "always", "another", "answer", "anything", "around", "because",
        "been", "before", "being", "below", "between", "both", "bring", "call", "came", "cannot", "change", "check",
        "come", "complete", "could", "create", "created", "data", "does", "doing", "done", "each", "either", "else",
        "ensure", "every", "example", "file", "files", "find", "first", "follow", "following", "from", "fully",
        "further", "give", "given", "goal", "going", "good", "have", "having", "help", "here", "however",
        "implement", "instead", "into", "issue", "just", "keep", "know", "last", "later", "least", "like", "list",
        "look", "made", "make", "many", "might", "more", "most", "must", "name", "need", "never", "next", "nothing",
        "number", "only", "open", "other", "over", "path", "paths", "please", "possible", "problem", "project",
        "provide", "question", "read", "repository", "request", "require", "result", "return", "right", "running",
        "same", "script", "search", "should", "show", "since", "some", "something", "source", "start", "state",
        "step", "steps", "still", "such", "sure", "take", "task", "tasks", "tell", "test", "tests", "than", "that",
        "their", "them", "then", "there", "these", "they", "thing", "this", "those", "through", "time", "tool",
        "tools", "true", "under", "until", "update", "upon", "used", "user", "uses", "using", "value", "very",
        "view", "want", "well", "were", "what", "when", "where", "whether", "which", "while", "will", "with",
        "within", "without", "work", "working", "would", "write", "written", "your",
    )
)  # fmt: skip
"""Words that say nothing about a task."""


def stems(text: bytes) -> set[bytes]:
    """The first letters of the significant words."""
    return {word[:STEM] for word in words(text) if len(word) >= SHORT} - _COMMON


@lru_cache(maxsize=2048)
def path_stems(path: str) -> tuple[bytes, ...]:
    """The stems of a path, sorted; cached, since runs name the same paths repeatedly."""
    return tuple(sorted(stems(path.encode("utf-8", "replace"))))


def goal_text(context: Context, prompt: str = "") -> str:
    """All text about the run's goal; without a task, the first prompt is the task."""
    goals = " ".join(goal.text for goal in context.goals)
    task = f"{context.original_prompt[:GOAL] or prompt} {context.instructions[:GOAL]}"
    return f"{context.primary_goal} {goals} {task}".strip()


def goal_stems(context: Context, prompt: str = "") -> list[bytes]:
    """The stems of the goal, sorted."""
    return list(_sorted_stems(goal_text(context, prompt)))


@lru_cache(maxsize=16)
def _sorted_stems(text: str) -> tuple[bytes, ...]:
    """Cached, since all detectors and agents share one goal."""
    return tuple(sorted(stems(text.encode("utf-8", "replace"))))
