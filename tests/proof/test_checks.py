"""Checks are recognised by their commands, and how they went by what real runners print.

`runner_outputs.jsonl` holds the output of real runs: passes, failures, errors, nothing collected, hidden exit statuses.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from interlock.proof.checks import read_checks
from interlock.proof.outcomes import read_outcome, why_not_passed

LINES = (Path(__file__).parent / "runner_outputs.jsonl").read_text(encoding="utf-8").splitlines()
RUNS: list[dict[str, Any]] = [json.loads(line) for line in LINES]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['runner']} {run['case']}")
def test_a_real_run_is_read_as_it_went(run: dict[str, Any]) -> None:
    check = read_checks(run["command"])[-1]
    assert read_outcome(check, run["output"], run["exit_code"], None)[0] == run["expected"]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['runner']} {run['case']}")
def test_without_an_exit_status_it_is_never_read_as_the_opposite(run: dict[str, Any]) -> None:
    check = read_checks(run["command"])[-1]
    assert read_outcome(check, run["output"], None, None)[0] in (run["expected"], "unknown", "none")


def test_twelve_runners_were_run() -> None:
    assert len({run["runner"] for run in RUNS}) >= 12


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("cd app && npx jest --ci 2>&1 | tail -20", ["tests"]),
        ("uv run pytest -q && uv run mypy src && uv run ruff check .", ["tests", "types", "lint"]),
        ("timeout 60 python -m pytest tests/a.py::test_b -x", ["tests"]),
        ("CI=1 pnpm test:unit", ["tests"]),
        ("./gradlew test --info", ["tests"]),
        ("mvn -q verify", ["tests"]),
        ("docker build -t x .", ["build"]),
        ("curl -sf http://localhost:8080/health", ["endpoint"]),
        ("git add -A && git commit -m 'x' && git push origin main", ["commit", "push"]),
        ("python manage.py test app", ["tests"]),
        ("make lint test", ["tests"]),
        ("pytest --collect-only", []),
        ("pytest --version", []),
        ("cat tests/test_a.py | grep pytest", []),
        ("echo pytest passed", []),
        ("pip install pytest", []),
        ("black .", []),
        ("black --check .", ["lint"]),
        ("cat > run.sh << 'EOF'\npytest -q\nEOF", []),
        ("grep -rn 'npm test' README.md", []),
    ],
)
def test_a_command_is_known_for_what_it_checks(command: str, kinds: list[str]) -> None:
    assert [check.kind for check in read_checks(command)] == kinds


@pytest.mark.parametrize(
    ("command", "shows"),
    [
        ("pytest", True),
        ("cd a && pytest", True),
        ("pytest && echo ok", True),
        ("pytest | tail -3", False),
        ("set -o pipefail; pytest | tail -3", True),
        ("pytest || true", False),
        ("pytest; echo done", False),
        ("set -e\npytest\necho done", True),
        ("pytest > log.txt 2>&1", True),
        ("for i in 1 2; do pytest; done", False),
        ("if pytest; then echo ok; fi", False),
        ("(cd a && pytest)", True),
    ],
)
def test_a_hidden_exit_status_is_seen_to_be_hidden(command: str, shows: bool) -> None:
    (check,) = read_checks(command)
    assert check.shows is shows


def test_a_runner_that_ends_with_0_passes_only_if_it_says_so() -> None:
    assert why_not_passed("pytest -q", "2 passed in 0.1s") == ""
    assert why_not_passed("pytest -q > log", "") == ""
    assert why_not_passed("./check.sh", "") == ""
    assert why_not_passed("npm test", "ERROR: a line of a log") == ""
    assert why_not_passed("python -m pytest -q", "") == "ended with status 0, but did not say how many tests passed"
    assert why_not_passed("pytest -q", "1 failed, 1 passed in 0.1s").endswith("printed: 1 failed, 1 passed")
    assert why_not_passed("pytest -q", "2 skipped in 0.1s").endswith("printed: 2 skipped")
