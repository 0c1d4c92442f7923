"""Goal: the words and places that a task names, and how far a turn is about them."""

from __future__ import annotations

import re
from functools import lru_cache

from ..core import Context
from .fingerprint import words

STEM = 6
"""Letters of a word that are compared: enough to tell words apart, few enough to let endings go."""
SHORT = 4
"""Letters from which a word says something."""
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
_ABSOLUTE = re.compile(r"(/(?<![\w.:/<]/)(?:[\w.@+-]+/)+[\w.@+-]+)")
"""Begins with its slash, which is quickly found; what is before it is looked at then."""


def stems(text: bytes) -> set[bytes]:
    """The beginnings of the words that say something."""
    return {word[:STEM] for word in words(text) if len(word) >= SHORT} - _COMMON


@lru_cache(maxsize=2048)
def path_stems(path: str) -> tuple[bytes, ...]:
    """The stems of a path, in a fixed order; runs name the same ones again and again."""
    return tuple(sorted(stems(path.encode("utf-8", "replace"))))


def goal_text(context: Context, prompt: str = "") -> str:
    """Everything that says what the run is for; without it the first prompt is the task."""
    goals = " ".join(goal.text for goal in context.goals)
    task = f"{context.original_prompt[:GOAL] or prompt} {context.instructions[:GOAL]}"
    return f"{context.primary_goal} {goals} {task}".strip()


def goal_stems(context: Context, prompt: str = "") -> list[bytes]:
    """The stems of the goal, in a fixed order."""
    return list(_sorted_stems(goal_text(context, prompt)))


@lru_cache(maxsize=16)
def _sorted_stems(text: str) -> tuple[bytes, ...]:
    """The same for every detector and agent that asks."""
    return tuple(sorted(stems(text.encode("utf-8", "replace"))))


def named_places(text: str) -> list[str]:
    """The absolute paths of more than one part that a task names."""
    return list(dict.fromkeys(_ABSOLUTE.findall(text[: 2 * GOAL])))[:16]
