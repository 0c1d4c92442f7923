"""The measurement itself: who is positive, what is counted, and what is said when there is nothing to measure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def trace(labels: list[int], turns: int = 6) -> object:
    from traces import Label, RawStep, RawTool, Trace

    steps = []
    for turn in range(turns):
        steps.append(RawStep(index=2 * turn, role="assistant", tool=RawTool("look", {"n": turn // 3})))
        steps.append(RawStep(index=2 * turn + 1, role="tool", content="x"))
    found = [Label("loop", step) for step in labels]
    return Trace("t", "sola", "g", steps, labels=found, judged=["loop"])


def test_strict_means_two_labelled_turns_in_a_row() -> None:
    import scoring

    assert scoring.strict(trace([4, 6]))
    assert not scoring.strict(trace([4, 8]))
    assert not scoring.strict(trace([4, 4]))


def test_precision_recall_and_f1() -> None:
    from scoring import Case, score

    cases = [Case(f"t{n}", f"g{n}", n < 4, n in (0, 1, 2, 7)) for n in range(10)]
    got = score(cases)
    assert (got.hits, got.false, got.missed) == (3, 1, 1)
    assert (got.precision, got.recall, got.f1) == (0.75, 0.75, 0.75)


def test_an_interval_holds_the_figure_and_is_the_same_every_time() -> None:
    from scoring import Case, interval, score

    cases = [Case(f"t{n}", f"g{n // 2}", n % 2 == 0, n % 3 == 0) for n in range(40)]
    low, high = interval(cases, lambda one: one.f1)
    assert low <= score(cases).f1 <= high
    assert (low, high) == interval(cases, lambda one: one.f1)


def test_the_simple_rule_wants_the_very_same_call_in_a_row() -> None:
    import rivals

    assert [alarm.step for alarm in rivals.same_call(trace([]), 3)] == [4]
    assert rivals.same_call(trace([]), 4) == []


def test_the_delay_counts_from_the_second_label() -> None:
    import scoring
    from scoring import Alarm

    labelled = trace([4, 8])
    assert scoring.delays([labelled], {"t": [Alarm("loop", 9, "medium", "")]}) == [1]


def test_without_traces_it_says_where_to_give_them(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, BENCH / "detection.py", "--traces", tmp_path], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert "--traces DIR" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
