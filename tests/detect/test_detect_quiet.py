"""Healthy work that looks like repetition from afar: one target after the other fails, each in its own way."""

from __future__ import annotations

import pytest
from detecting import Did, first_alarm

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.11.4, pytest-7.4.0, pluggy-1.0.0
rootdir: /workspace/project
plugins: hypothesis-6.1, xdist-3.0, timeout-2.1
collected 30 items

tests/test_{n}.py ....F.........................                          [100%]

=================================== FAILURES ===================================
_________________________________ test_thing_{n} _______________________________
>       assert value == expected
E       assert {n} == 4

tests/test_{n}.py:{n}3: AssertionError
=========================== short test summary info ============================
FAILED tests/test_{n}.py::test_thing_{n} - assert {n} == 4
========================= 1 failed, 29 passed in 0.{n}s ========================="""

JEST = """\
 FAIL  src/part{n}.test.js
  ● part{n} › works

    expect(received).toBe(expected)

Test Suites: 1 failed, 20 passed, 21 total
Tests:       1 failed, 80 passed, 81 total"""

GRADLE = """\
> Task :test FAILED

Part{n}Test > thing() FAILED
    java.lang.AssertionError at Part{n}Test.java:1{n}

FAILURE: Build failed with an exception."""

PHPUNIT = """\
There was 1 failure:

1) Part{n}Test::testThing
Failed asserting that {n} matches expected 4.

FAILURES!
Tests: 1, Assertions: 1, Failures: 1."""

RUNNERS = {
    "pytest tests/test_{n}.py": PYTEST,
    "pytest -v tests/test_{n}.py": PYTEST.replace("collected", "plugins: a, b, c and many more of them\n" * 40),
    "pytest -x tests/test_{n}.py": PYTEST.partition("collected")[0].replace("=", "=" * 20) + "collected {n}2 items",
    "npx jest part{n}": JEST,
    "./gradlew test --tests Part{n}Test": GRADLE,
    "vendor/bin/phpunit tests/Part{n}Test.php": PHPUNIT,
    "sphinx-build d{n} out": "Running Sphinx\n\nExtension error:\nCould not import extension ext{n}",
    "psql -f part{n}.sql": 'psql:part{n}.sql:{n}: ERROR:  column "c{n}" does not exist',
}


@pytest.mark.parametrize("command", RUNNERS)
def test_tests_that_fail_each_in_its_own_way_are_never_told(command: str) -> None:
    """The part of the output that is the same for every failure is no message."""
    runs = [
        Did("bash", RUNNERS[command].format(n=n), {"command": command.format(n=n)}, exit_code=1) for n in range(1, 9)
    ]
    edits = [Did("edit_file", "edited", {"path": f"src/part{n}", "text": f"version {n}"}) for n in range(1, 9)]
    assert first_alarm(runs, "repetitive_errors", "hallucination") is None
    assert first_alarm([call for pair in zip(edits, runs, strict=True) for call in pair]) is None


@pytest.mark.parametrize("command", RUNNERS)
def test_the_same_test_that_fails_in_the_same_way_is_told_by_the_third(command: str) -> None:
    run = Did("bash", RUNNERS[command].format(n=3), {"command": command.format(n=3)}, exit_code=1)
    assert first_alarm([run] * 6) == 3


def test_calls_that_do_nothing_are_told_only_before_the_answer() -> None:
    idle = [Did("bash", "", {"command": "true"})] * 8
    assert first_alarm(idle, "loop") is not None
    assert first_alarm([Did("submit", "Done.", {"answer": "42"}), *idle], "loop") is None
