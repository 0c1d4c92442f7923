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


def failing(*commands: str) -> object:
    """Calls by their command; `ok` is the one that works."""
    from traces import RawStep, RawTool, Trace

    steps = []
    for at, command in enumerate(commands):
        works = command == "ok"
        steps.append(RawStep(index=2 * at, role="assistant", tool=RawTool("bash", {"command": command})))
        steps.append(
            RawStep(index=2 * at + 1, role="tool", content="fine" if works else f"Error: no {command}", error=not works)
        )
    return Trace("t", "openhands", "g", steps, outcome="success")


def test_what_followed_the_third_failure_of_the_same_call_is_counted() -> None:
    import aftermath

    ways = {
        aftermath.AGAIN: failing("x", "x", "x", "x", "x", "ok"),
        aftermath.THROUGH: failing("ok", "x", "x", "x", "ok"),
        aftermath.OTHERWISE: failing("x", "x", "x", "y", "ok"),
        aftermath.LAST: failing("x", "x", "x"),
    }
    for what, one in ways.items():
        assert aftermath.after_the_third([one]) == {what: 1}
    assert not aftermath.after_the_third([failing("x", "x", "ok", "x", "x", "y", "x")])


def test_a_threshold_that_matters_shows_in_its_row() -> None:
    import sensitivity
    from detection import detect

    three = failing("x", "x", "x", "ok")
    rows = sensitivity.measure(detect, [three], [], [three])
    told = {(name, value): (count, differ) for name, value, count, differ in rows}
    assert told["as shipped", ""] == ("1", "0")
    assert told["medium_after 3", "4"] == ("0", "1")
    assert told["error_window 10", "12"] == ("1", "0")


def test_the_verdicts_of_a_judge_stand_beside_those_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    import re

    import judge_verdicts
    from detection import Question, detect
    from interlock.demo.model import ScriptedModel, ScriptedTurn
    from interlock.demo.model.script import ModelRequest

    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("INTERLOCK_JUDGE_URL", raising=False)
    drifts = failing("a", "b")
    asked = [Question("goal_drift, x", "goal_drift", [drifts], [True])]
    assert judge_verdicts.measure(asked, detect([drifts])).startswith("Not measured here")

    def answer(request: ModelRequest) -> ScriptedTurn:
        canary = re.search(r'"canary": "(\w+)"', str(request.body).replace('\\"', '"').replace("\\'", "'"))
        assert canary is not None
        verdict = '{"question": 1, "holds": true, "confidence": 0.9, "pattern": "goal_drift"}'
        return ScriptedTurn(text=f'{{"canary": "{canary[1]}", "verdicts": [{verdict}]}}')

    with ScriptedModel(answer) as model:
        monkeypatch.setenv("INTERLOCK_JUDGE_URL", f"{model.url}/v1")
        text = judge_verdicts.measure(asked, detect([drifts]))
    assert "| goal_drift, x | 1.00 / 0.00 | 1.00 / 1.00 | 0 of 1 |" in text
