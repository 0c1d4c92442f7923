"""Manipulations of tests and rules are told as facts; honest edits are not."""

from __future__ import annotations

import pytest

from interlock.proof import compare_tests

from .honesty_cases import HONEST, MANIPULATIONS, Case


def _told(case: Case) -> list[str]:
    return [f"{fact.what} ({fact.path}:{fact.line})" for fact in compare_tests(case.files)]


@pytest.mark.parametrize("case", MANIPULATIONS, ids=lambda case: case.name)
def test_a_manipulation_is_told(case: Case) -> None:
    assert _told(case)


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_an_honest_edit_is_not_told(case: Case) -> None:
    assert not _told(case)
