"""What a type of issue adds to the constraints, and which constraints it makes relevant."""

from __future__ import annotations

import re

from ..core import (
    BROKEN_CALLS,
    DESTRUCTIVE_ACTION,
    EXPLORATION_WANDERING,
    GOAL_DRIFT,
    HALLUCINATION,
    LONG_WAIT,
    LOOP,
    REPETITIVE_ERRORS,
    RESOURCE_SPIRAL,
    SCOPE_CREEP,
    Issue,
)

ADDITIONS: dict[str, tuple[str, ...]] = {
    SCOPE_CREEP: (
        "Work only in the given directories.",
        "Touch no system files or configuration outside the project.",
    ),
    RESOURCE_SPIRAL: ("Avoid unnecessary operations.", "Work incrementally."),
}

EXAMPLES: dict[str, tuple[str, ...]] = {
    REPETITIVE_ERRORS: (
        "A command fails with 'No such file': list the folder first, then use the name that is really there.",
        "A test fails the same way twice: read the traceback and the code that it names before you run it again.",
    ),
    LOOP: (
        "You have read a file and it has not changed: use what you read instead of reading it again.",
        "An edit did not make the test pass: question your assumption instead of changing the same line again.",
    ),
    SCOPE_CREEP: (
        "The task names src/billing: a change in src/auth needs a reason first, even if it looks like an improvement.",
        "A setting outside the project seems wrong: say so, and do not change it.",
    ),
    GOAL_DRIFT: (
        "You were asked to fix one test and found untidy code next to it: fix the test, mention the code at the end.",
    ),
    RESOURCE_SPIRAL: (
        "A search returns thousands of lines: narrow it, or count first, instead of printing everything.",
        "A thousand files are to be converted: convert ten, check them, then continue in small batches.",
    ),
    EXPLORATION_WANDERING: (
        "You know which module holds the function: open that one file instead of listing more folders.",
    ),
    HALLUCINATION: (
        "Before you write 'all tests pass', run them and quote the last line of their output.",
        "Before you import a helper, check that it exists.",
    ),
    DESTRUCTIVE_ACTION: ("Instead of deleting a folder to start over, move the one file that is in the way.",),
    BROKEN_CALLS: ("A command of yours had no effect: send `ls` alone, and look at what comes back.",),
    LONG_WAIT: ("A deployment has not become ready for a quarter of an hour: look at its events, then report them.",),
}
"""What continuing well looks like, by type of issue; shown after the run's own examples."""

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
