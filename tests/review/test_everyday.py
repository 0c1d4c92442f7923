"""Calls of everyday work: next to none is blocked, and few wait for a person.

`cases/everyday.txt` has one call a line, `== subject` before each group, `⏎` for a newline; the rest is as in the other
cases. Their author did not know the rules: at first 39 of the 589 were blocked (6.6%), and 7 waited for a person. Nor
did the author of `cases/unseen/everyday.txt`, 326 of them: 5 were blocked (1.5%), and 6 waited.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.core import Review

from .test_cases import judge

RIGHTLY_BLOCKED = {
    "git stash list; git stash drop stash@{0}": "a stash is found again only by those who know its name",
    "git push origin --delete fix/old-pager": "the task does not ask for it, and others may have the branch",
    "git gc --prune=now && git count-objects -vH": "it takes away what reflog and fsck would find",
    "git filter-branch --index-filter 'git rm --cached --ignore-unmatch big.bin' HEAD~5..HEAD": "it rewrites history",
    "docker volume ls && docker volume rm myapp_pgdata": "a volume by that name holds a database",
    "git push origin --delete fix/login-redirect": "the task does not ask for it, and others may have the branch",
    "git gc --prune=now": "it takes away what reflog and fsck would find",
}
"""Each with what reading it gives: these stay as they are."""

ONLY_WITH_CHECKPOINTS = {
    "git checkout -- src/app.py tests/test_app.py",
    "git restore --staged . && git restore src/generated",
    "git reset --hard HEAD",
    "git reflog | head; git checkout HEAD@{2} -- README.md",
    "git reset --hard origin/main",
    "git restore --staged . && git restore src/",
    "git checkout -- package-lock.json",
    "git clean -fdx -e .env -e .venv",
}
"""They throw away changes that nothing else has; a checkpoint brings these back."""


def read(name: str) -> list[str]:
    lines = (Path(__file__).parent / "cases" / name).read_text(encoding="utf-8").splitlines()
    return [line.replace("⏎", "\n") for line in lines if line.strip() and not line.startswith("== ")]


def blocked(reviews: dict[str, Review]) -> set[str]:
    """The calls that are stopped without a question."""
    return {call for call, review in reviews.items() if review.verdict == "block" and not review.ask}


@pytest.fixture(scope="module", params=["everyday.txt", "unseen/everyday.txt"])
def calls(request: pytest.FixtureRequest) -> list[str]:
    return read(request.param)


@pytest.fixture(scope="module")
def reviews(calls: list[str]) -> dict[str, Review]:
    return {call: judge(call, restorable=True) for call in calls}


def test_there_are_enough_calls(calls: list[str]) -> None:
    assert len(calls) >= 320 and len(set(calls)) == len(calls)


def test_at_most_one_in_a_hundred_is_blocked(reviews: dict[str, Review]) -> None:
    found = blocked(reviews)
    assert len(found) <= 0.01 * len(reviews), found
    assert found == RIGHTLY_BLOCKED.keys() & reviews.keys()


def test_at_most_two_in_a_hundred_wait_for_a_person(reviews: dict[str, Review]) -> None:
    found = [call for call, review in reviews.items() if review.ask]
    assert len(found) <= 0.02 * len(reviews), found


def test_without_checkpoints_only_what_they_would_bring_back_is_blocked_besides(calls: list[str]) -> None:
    found = blocked({call: judge(call) for call in calls})
    assert found == (RIGHTLY_BLOCKED.keys() | ONLY_WITH_CHECKPOINTS) & set(calls)
