"""The short version of `make bench-loop`: every goal on a few agents, through the real supervisor."""

from __future__ import annotations

from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"

STUBBORN = [
    ("edit-test", 0.4),
    ("edit-test", 15.0),
    ("varying-number", 90.0),
    ("alternating", 15.0),
    ("failing-call", 0.4),
    ("double-spend", 15.0),
    ("busy-poll", 0.4),
    ("two-problems", 15.0),
    ("stuck-subagent", 15.0),
]
HEEDING = ["hint-passes", "hint-one-more-try", "reminder-another-fails", "throttle-passes", "rollback-falls"]
RELAPSING = [("relapse-8", 15.0), ("relapse-build", 90.0)]
HEALTHY = [
    ("polls-25-min", 0.4),
    ("polls-25-min", 15.0),
    ("falling-failures", 15.0),
    ("red-green", 0.4),
    ("lints", 15.0),
    ("renames", 90.0),
    ("flaky", 15.0),
    ("explores", 15.0),
    ("subagents", 15.0),
]


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def misses(name: str, pace: float, under: str = "interlock") -> list[str]:
    from loop.games import Pairing, play_one

    verdict = play_one(Pairing(name, pace, under))
    wrong = [] if verdict.right == verdict.judged else [f"{verdict.right} of {verdict.judged} outcomes are true"]
    return verdict.misses + wrong


@pytest.mark.parametrize(("name", "pace"), STUBBORN)
def test_an_agent_that_ignores_everything_climbs_every_rung_and_is_held_or_stopped(name: str, pace: float) -> None:
    assert misses(name, pace) == []


@pytest.mark.parametrize(("name", "pace"), [(name, 15.0) for name in HEEDING])
def test_an_agent_that_heeds_gets_as_many_answers_as_it_needs_and_none_after(name: str, pace: float) -> None:
    assert misses(name, pace) == []


@pytest.mark.parametrize(("name", "pace"), RELAPSING)
def test_an_agent_that_relapses_is_answered_ever_more_strongly(name: str, pace: float) -> None:
    assert misses(name, pace) == []


@pytest.mark.parametrize(("name", "pace"), HEALTHY)
def test_a_healthy_agent_is_left_alone(name: str, pace: float) -> None:
    assert misses(name, pace) == []


@pytest.mark.parametrize(("name", "pace"), [("failing-call", 15.0), ("edit-test", 15.0)])
@pytest.mark.parametrize("under", ["example configuration", "a person within reach"])
def test_the_rungs_keep_their_order_under_other_settings(name: str, pace: float, under: str) -> None:
    assert misses(name, pace, under) == []


@pytest.mark.parametrize(("name", "pace"), [("edit-test", 15.0)])
def test_a_stuck_agent_wastes_at_most_half_of_what_it_wastes_unsupervised(name: str, pace: float) -> None:
    from loop.games import Pairing, play_one

    ours, alone = (play_one(Pairing(name, pace, under)) for under in ("interlock", "no supervision"))
    assert ours.wasted_calls * 2 <= alone.wasted_calls
    assert ours.wasted_tokens * 2 <= alone.wasted_tokens


@pytest.mark.torture
def test_the_whole_bench_meets_its_goals() -> None:
    from loop.games import attended, examples, pairings, play_all
    from loop.report import missed_goals

    verdicts = list(play_all([*pairings(), *examples(), *attended()]))
    assert missed_goals(verdicts, whole=True) == []
