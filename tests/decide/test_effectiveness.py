"""Effectiveness: failed as soon as the issue comes back, worked when ten steps pass without it and with progress."""

from __future__ import annotations

import pytest

from interlock.decide import ControllerState
from interlock.decide.state import TypeState

from .decide_builders import Driver, config, issue


def answered(**options) -> Driver:
    driver = Driver(**options)
    assert driver.type(issue()) == "soft_correction"
    return driver


@pytest.mark.parametrize("steps", [1, 5, 10])
def test_it_has_failed_as_soon_as_its_issue_type_comes_back(steps):
    driver = answered()
    assert driver.work(steps - 1) == []
    (judged,) = driver.work(1, seen=("loop",))
    assert (judged.id, judged.outcome) == ("i1", "failure")


def test_it_has_worked_when_ten_steps_passed_without_it_and_with_progress():
    driver = answered()
    assert driver.work(9) == []
    (judged,) = driver.work(1)
    assert (judged.id, judged.outcome) == ("i1", "success")


def test_coming_back_after_that_is_a_new_story():
    driver = answered()
    assert [judged.outcome for judged in driver.work(10)] == ["success"]
    assert driver.work(1, seen=("loop",)) == []


def test_progress_at_any_step_since_counts():
    driver = answered()
    driver.work(1, progressed=True)
    assert driver.work(8, progressed=False) == []
    assert [judged.outcome for judged in driver.work(1, progressed=False)] == ["success"]


def test_without_progress_it_waits_until_there_is_some():
    driver = answered()
    assert driver.work(30, progressed=False) == []
    assert [judged.outcome for judged in driver.work(1, progressed=True)] == ["success"]


def test_without_progress_it_waits_until_the_issue_comes_back():
    driver = answered()
    assert driver.work(30, progressed=False) == []
    assert [judged.outcome for judged in driver.work(1, progressed=False, seen=("loop",))] == ["failure"]


def test_other_types_do_not_matter():
    driver = answered()
    assert driver.work(9, seen=("goal_drift",)) == []
    assert [judged.outcome for judged in driver.work(1, seen=("goal_drift",))] == ["success"]


def test_the_same_step_is_not_a_comeback():
    driver = answered()
    again = driver.meet(issue("loop", "medium"), steps=0)
    assert again.judged == ()


def test_progress_in_the_step_of_the_answer_itself_is_not_progress_since():
    driver = answered()
    driver.step -= 1
    assert driver.work(1, progressed=True) == []
    assert driver.work(30, progressed=False) == []


def test_an_issue_that_is_decided_on_is_a_comeback_without_further_notice():
    driver = answered()
    assert [judged.outcome for judged in driver.meet(issue(), after=60).judged] == ["failure"]
    assert driver.run.interventions[0].outcome == "failure", "the run's own history knows it too"


def test_the_steps_are_configurable():
    driver = answered(settings=config(steps=3))
    assert driver.work(2) == []
    assert [judged.outcome for judged in driver.work(1)] == ["success"]


def test_nothing_is_judged_twice():
    driver = answered()
    driver.work(40)
    assert [judged.id for judged in driver.judged] == ["i1"]


def test_what_did_not_act_is_never_judged():
    driver = answered()
    assert driver.type(issue("goal_drift"), after=1) == "(held_back: soft_correction)"
    assert {judged.issue_type for judged in driver.work(20)} == {"loop"}


@pytest.mark.parametrize(
    ("outcomes", "figure"),
    [("", None), ("+", 1.0), ("-", 0.0), ("+-", 0.5), ("+++--", 0.6), ("-----+++++", 1.0), ("+-----", 0.0)],
)
def test_the_figure_is_the_share_that_worked_among_the_last_five(outcomes, figure):
    driver = answered()
    made, known = driver.records[0], TypeState()
    for outcome in outcomes:
        known = known.judge(made, worked=outcome == "+")
    assert known.effectiveness("soft_correction") == figure
    assert known.effectiveness("context_reinforcement") is None, "each intervention has its own figure"


def test_what_waits_is_bounded_by_the_types_of_issues():
    driver = Driver(config(intervention_cooldown_seconds=0, delay=0, max_interventions_per_execution=10**6))
    for turn in range(60):
        driver.meet(issue(("loop", "goal_drift", "scope_creep")[turn % 3], "low"), after=1)
        driver.work(3, progressed=False)
    assert len(driver.state.pending) <= 3


def test_the_state_of_many_types_is_bounded():
    state = ControllerState()
    for number in range(1000):
        state = state.with_type(f"type {number}", TypeState(last_level=0))
    assert len(state.types) == 64 and state.of("type 999").last_level == 0
