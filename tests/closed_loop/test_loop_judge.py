"""The judge of the closed loop: what it must notice, on games that are made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
RUNGS = ["soft_correction", "context_reinforcement", "resource_throttling", "checkpoint_rollback", "emergency_stop"]


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


def judged(kind, turns, answers, *, end="stopped", undone=(), denied=(), heard=True):
    """A verdict on turns `x` (stuck, the problem shows), `o` (clean), `.` (work); answers are (turn, level, outcome)."""
    from loop.driver import Game, Played
    from loop.judge import judge
    from loop.reading import Account, Answer
    from loop.script import Agent, Heard, Turn

    shapes = {
        "x": Turn("Bash", check="t", occurs=True, stuck=True),
        "o": Turn("Bash", check="t"),
        "s": Turn("Bash", check="t", solved=True),
        ".": Turn("Edit"),
    }
    texts = tuple(f"text {number}" for number, _ in enumerate(answers)) if heard else ()
    played = [
        Played(shapes[shape], [2 * at, 2 * at + 1], 100, Heard((), texts, at in denied), 0.0)
        for at, shape in enumerate(turns)
    ]
    made = [
        Answer(RUNGS[level], level, 2 * at + 1, "e", (f"text {number}",), outcome)
        for number, (at, level, outcome) in enumerate(answers)
    ]
    account = Account(made, [one.step for one in made], 0, list(undone))
    agent = Agent("a", kind, "t", lambda world: iter(()), "", answers=1)
    return judge(Game("a", 15.0, "interlock", played, end, account=account), agent)


def undoing(answers):
    """The ranges of steps that the rollbacks among the answers took back."""
    return [(2 * at, 2 * at) for at, level, _ in answers if level == 3]


CLIMB = [(2, 0, "failed"), (4, 1, "failed"), (6, 2, "failed"), (7, 3, "failed"), (8, 4, "pending")]


def test_a_climb_rung_by_rung_meets_every_goal():
    verdict = judged("stubborn", "xxxxxxxxx", CLIMB, undone=undoing(CLIMB))
    assert verdict.misses == []
    assert (verdict.right, verdict.judged) == (4, 4)


@pytest.mark.parametrize("levels", [(0, 1, 4), (1, 2), (0, 0, 1), (0, 1, 0), (4,)])
def test_a_rung_skipped_repeated_or_taken_back_is_noticed(levels):
    answers = [(2 + at, level, "failed") for at, level in enumerate(levels)]
    assert any("out of order" in miss for miss in judged("stubborn", "xxxxxxxxx", answers).misses)


def test_more_than_24_opportunities_after_the_first_alarm_are_too_many():
    climb = [(at * 7, level, outcome) for at, (_, level, outcome) in enumerate(CLIMB)]
    assert not judged("stubborn", "x" * 25, climb[:4], undone=undoing(climb)).misses
    assert any("opportunities" in miss for miss in judged("stubborn", "x" * 29, climb).misses)


def test_an_agent_that_was_never_answered_is_noticed():
    assert judged("stubborn", "x" * 9, [], end="horizon").misses == ["never noticed"]


@pytest.mark.parametrize(
    ("turns", "outcome", "right"),
    [
        ("xxxooo", "worked", 1),
        ("xxxooo", "failed", 0),
        ("xxxooo", "pending", 0),
        ("xxxs", "worked", 1),
        ("xxxxs", "worked", 1),
        ("xxxxx", "failed", 1),
        ("xxxxx", "worked", 0),
        ("xxx..........", "worked", 0),
    ],
)
def test_outcomes_are_held_against_the_truth_of_the_script(turns, outcome, right):
    verdict = judged("heeding", turns, [(2, 0, outcome)], end="finished")
    assert (verdict.right, verdict.judged) == (right, 1)


def test_too_little_evidence_is_judged_neither_way():
    assert judged("heeding", "xxxx", [(2, 0, "pending")], end="finished").judged == 0


def test_an_answer_after_the_agent_heeded_is_one_too_many():
    verdict = judged("heeding", "xxxooo.ooo", [(2, 0, "worked"), (8, 1, "pending")], end="finished")
    assert "2 answers where 1 are needed" in verdict.misses


def test_relapses_must_climb_and_be_few():
    same = [(at, 0, "worked") for at in range(7)]
    assert [miss.split(":")[0] for miss in judged("relapsing", "xooosxs", same).misses] == [
        "7 answers",
        "does not climb",
    ]
    up = [(0, 0, "worked"), (4, 0, "worked"), (8, 1, "worked")]
    assert judged("relapsing", "xooosooosooo", up, end="horizon").misses == []


def test_a_healthy_agent_that_is_ended_loses_all_of_its_work():
    verdict = judged("healthy", "....", [(3, 4, "pending")])
    assert verdict.ended_wrongly
    assert (verdict.wasted_calls, verdict.wasted_tokens) == (4, 400)


def test_work_that_a_rollback_took_back_is_wasted():
    assert judged("healthy", "......", [], end="finished", undone=[(4, 7)]).wasted_calls == 2


def test_a_rollback_that_did_not_happen_is_noticed():
    assert "1 rollbacks, 0 of them happened" in judged("stubborn", "xxxxxxxxx", CLIMB).misses


def test_a_message_that_the_agent_never_heard_is_noticed():
    verdict = judged("heeding", "xxxs", [(2, 0, "worked")], end="finished", heard=False)
    assert verdict.misses == ["1 messages never reached the agent"]


def test_the_same_words_twice_are_noticed():
    from loop.driver import Game, Played
    from loop.judge import _Case
    from loop.reading import Account, Answer
    from loop.script import Agent, Heard, Turn

    answer = Answer(RUNGS[0], 0, 1, "e", ("again",), "failed")
    played = [Played(Turn("Bash", check="t"), [0, 1], 1, Heard(), 0.0)]
    game = Game("a", 15.0, "interlock", played, account=Account([answer, answer], [1]))
    assert _Case(game, Agent("a", "stubborn", "t", lambda world: iter(()), "")).repeated_texts()
