"""kill -9 of owner, controller and both: nothing lost, nothing doubled, no step while paused."""

from __future__ import annotations

import pytest

from .calling import run_driver

FORBIDDEN = ("lost", "doubled", "told failure though it took effect", "order", "steps while paused")


def assert_clean(report: dict[str, object]) -> None:
    print(report)
    for what in FORBIDDEN:
        assert report[what] == 0, report
    assert report["journal"] == []
    assert report["commands"] and report["steps"], report


def test_kills_lose_nothing_double_nothing_and_let_no_step_through_while_paused() -> None:
    assert_clean(run_driver("crash_driver", "25", "1", timeout=500))


def test_the_judge_sees_a_gate_that_is_in_memory_only() -> None:
    """By chance: on a loaded machine no step may be due in the moments that 15 kills give it."""
    reports = (run_driver("crash_driver", "15", str(seed), "no-gate-file", timeout=500) for seed in range(1, 13))
    assert any(report["steps while paused"] for report in reports)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_kills_ten_times(seed: int) -> None:
    assert_clean(run_driver("crash_driver", "500", str(100 + seed), timeout=3000))


@pytest.mark.torture
def test_the_judge_sees_effects_in_transactions_of_their_own() -> None:
    report = run_driver("crash_driver", "100", "1", "split-transactions", timeout=3000)
    assert any(report[what] for what in FORBIDDEN), report
