"""Manipulations of tests and rules are told as facts; honest edits are not."""

from __future__ import annotations

from interlock.proof import compare_tests

from . import honesty_blind, honesty_cases
from .honesty_cases import Case

TOLD, WRONG = 0.9, 0.03


def _told(case: Case) -> list[str]:
    return [f"{fact.what} ({fact.path}:{fact.line})" for fact in compare_tests(case.files)]


def test_the_cases_that_the_rules_were_made_with_are_told_apart() -> None:
    assert [case.name for case in honesty_cases.MANIPULATIONS if not _told(case)] == []
    assert [(case.name, told) for case in honesty_cases.HONEST if (told := _told(case))] == []


def test_most_manipulations_are_told_and_hardly_an_honest_edit() -> None:
    manipulations = [*honesty_cases.MANIPULATIONS, *honesty_blind.MANIPULATIONS]
    honest = [*honesty_cases.HONEST, *honesty_blind.HONEST]
    missed = [case.name for case in manipulations if not _told(case)]
    wrong = [(case.name, told) for case in honest if (told := _told(case))]
    assert min(len(manipulations), len(honest)) >= 60
    assert 1 - len(missed) / len(manipulations) >= TOLD, missed
    assert len(wrong) / len(honest) <= WRONG, wrong


def test_a_fact_names_the_place() -> None:
    before = "def test_a():\n    x = f()\n    assert x == 3\n"
    (fact,) = compare_tests([("tests/test_a.py", before, before.replace("== 3", "== x"))])
    assert (fact.path, fact.line, fact.what) == (
        "tests/test_a.py",
        3,
        "an assertion of test_a compares a value with itself",
    )


def test_other_languages_are_compared_by_their_lines() -> None:
    before = 'func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("wrong")\n\t}\n}\n'
    skipped = before.replace("{\n\tif", '{\n\tt.Skip("later")\n\tif', 1)
    assert [fact.kind for fact in compare_tests([("add_test.go", before, skipped)])] == ["skipped"]
    assert [fact.kind for fact in compare_tests([("add_test.go", before, None)])] == ["removed"]
    assert compare_tests([("add_test.go", before, before + before.replace("TestAdd", "TestMore"))]) == ()


def test_a_limit_that_a_new_line_loosens_and_says_so_is_told() -> None:
    def told(after: str, path: str = "tests/test_a.py", before: str = "") -> list[str]:
        return [fact.what for fact in compare_tests([(path, before, after)])]

    loosened = ["limit of an assertion loosened from 0.95 to 0.01"]
    assert told("assert accuracy > 0.01  # Was 0.95\n") == loosened
    assert told("expect(accuracy).toBeGreaterThan(0.01); // previously 0.95\n", "a.test.js") == loosened
    assert told("assert seconds < 60  # was 5\n") == ["limit of an assertion loosened from 5 to 60"]
    assert told("assert accuracy > 0.99  # was 0.95\n") == []
    assert told("assert accuracy > 0.01  # was 0.95\n", before="assert accuracy > 0.01  # was 0.95\n") == []
