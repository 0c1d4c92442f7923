"""Calls of everyday work: next to none is blocked, and few wait for a person.

`cases/everyday.txt` has one call a line, `== subject` before each group, `⏎` for a newline; the rest is as in the other
cases. Their author did not know the rules: at first 39 of the 589 were blocked (6.6%), and 7 waited for a person.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.core import Review

from .test_cases import judge

LINES = (Path(__file__).parent / "cases" / "everyday.txt").read_text(encoding="utf-8").splitlines()
CALLS = [line.replace("⏎", "\n") for line in LINES if line.strip() and not line.startswith("== ")]

RIGHTLY_BLOCKED = {
    "git stash list; git stash drop stash@{0}": "a stash is found again only by those who know its name",
    "git push origin --delete fix/old-pager": "the task does not ask for it, and others may have the branch",
    "git gc --prune=now && git count-objects -vH": "it takes away what reflog and fsck would find",
    "git filter-branch --index-filter 'git rm --cached --ignore-unmatch big.bin' HEAD~5..HEAD": "it rewrites history",
    "docker volume ls && docker volume rm myapp_pgdata": "a volume by that name holds a database",
}
"""Each with what reading it gives: these stay as they are."""

ONLY_WITH_CHECKPOINTS = {
    "git clean -fdx build dist node_modules",
    "git checkout -- src/app.py tests/test_app.py",
    "git restore --staged . && git restore src/generated",
    "git reset --hard HEAD",
    "git reflog | head; git checkout HEAD@{2} -- README.md",
}
"""They throw away changes that nothing else has; a checkpoint brings these back."""


def blocked(reviews: dict[str, Review]) -> set[str]:
    """The calls that are stopped without a question."""
    return {call for call, review in reviews.items() if review.verdict == "block" and not review.ask}


@pytest.fixture(scope="module")
def reviews() -> dict[str, Review]:
    return {call: judge(call, restorable=True) for call in CALLS}


def test_there_are_enough_calls() -> None:
    assert len(CALLS) >= 580 and len(set(CALLS)) == len(CALLS)


def test_at_most_one_in_a_hundred_is_blocked(reviews: dict[str, Review]) -> None:
    found = blocked(reviews)
    assert len(found) <= 0.01 * len(CALLS), found
    assert found == set(RIGHTLY_BLOCKED)


def test_at_most_two_in_a_hundred_wait_for_a_person(reviews: dict[str, Review]) -> None:
    found = [call for call, review in reviews.items() if review.ask]
    assert len(found) <= 0.02 * len(CALLS), found


def test_without_checkpoints_only_what_they_would_bring_back_is_blocked_besides() -> None:
    assert blocked({call: judge(call) for call in CALLS}) == RIGHTLY_BLOCKED.keys() | ONLY_WITH_CHECKPOINTS
