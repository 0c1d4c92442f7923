"""What a type of issue adds to the constraints, and which constraints it makes relevant."""

from __future__ import annotations

import re

from ..core import Issue
from ..core.issue import (
    DESTRUCTIVE_ACTION,
    EXPLORATION_WANDERING,
    GOAL_DRIFT,
    HALLUCINATION,
    LOOP,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    SCOPE_CREEP,
)

ADDITIONS: dict[str, tuple[str, ...]] = {
    SCOPE_CREEP: (
        "Work in only the given directories.",
        "Touch no system files or configuration outside the project.",
    ),
    RESOURCE_SPIRAL: ("Avoid unnecessary operations.", "Work incrementally."),
}

WORDS: dict[str, str] = {
    REPETITIVE_ERRORS: "error fail failing retry attempt test tests permission approach",
    LOOP: "repeat retry attempt again test tests approach stop",
    SCOPE_CREEP: "only outside inside directory directories folder path paths file files scope configuration "
    "system secret secrets project touch modify",
    GOAL_DRIFT: "goal focus only task scope requirement requirements must",
    RESOURCE_SPIRAL: "memory token tokens cost budget time batch limit limits size small operations incrementally "
    "resources processes",
    EXPLORATION_WANDERING: "only directory directories focus search explore scope path paths",
    HALLUCINATION: "verify check exists exist real test tests evidence true invent claim read",
    DESTRUCTIVE_ACTION: "delete remove overwrite backup production database force push destroy undo never drop",
}
"""Words that make a constraint relevant to a type, whatever the issue's own words are."""

COMMON = """about after agent also another been before being called could does file files from have into more same seen
should some step steps such than that their them then there these they this time times tool used using very were what
when which while will with without would your"""
"""Words of descriptions that say nothing of what an issue is about."""


COMMON_WORDS = frozenset(COMMON.split())


def is_relevant(constraint: str, issue: Issue) -> bool:
    """Whether a constraint speaks of what the issue is about."""
    said = set(_words(constraint))
    if issue.type in ADDITIONS and constraint in ADDITIONS[issue.type]:
        return True
    about = set(WORDS.get(issue.type, "").split())
    about |= {word for word in _words(issue.description) if len(word) >= 4 and word not in COMMON_WORDS}
    return bool(said & about)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9_]+", text[:4000].lower())
