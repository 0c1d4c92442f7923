"""The ladder as a story: the mildest first, up when it does not help, down again when it does."""

from __future__ import annotations

import msgspec

from interlock.core import LADDER, CheckpointInfo, Restore

from .decide_builders import Driver, config, issue

SOFT, REMIND, THROTTLE, ROLLBACK, STOP = LADDER


def test_the_first_answer_to_a_medium_issue_is_a_hint():
    assert Driver().type(issue(severity="medium")) == SOFT


def test_an_issue_that_is_answered_well_stays_at_hints():
    driver = Driver()
    for _ in range(8):
        assert driver.type(issue(), after=60) == SOFT
        driver.work(10)
    assert {judged.outcome for judged in driver.judged} == {"success"}


def test_an_issue_that_is_answered_badly_reaches_rollback_within_four_interventions():
    driver = Driver()
    driver.run = msgspec.structs.replace(driver.run, checkpoints=(CheckpointInfo(id="start", time=driver.now, step=0),))
    rulings = []
    while not any(isinstance(directive, Restore) for ruling in rulings for directive in ruling.directives):
        ruling = driver.ruling(issue(started_step=1), after=10)
        if ruling.directives:
            rulings.append(ruling)
    assert [ruling.intervention.type for ruling in rulings] == [SOFT, REMIND, THROTTLE, ROLLBACK]
    assert [ruling.escalated for ruling in rulings] == [False, True, True, True]
    assert driver.run.rollbacks == 1


def test_after_a_success_it_comes_down():
    driver = Driver()
    made = [driver.type(issue(), after=120) for _ in range(3)]
    assert made == [SOFT, REMIND, THROTTLE]
    driver.work(10)
    assert driver.type(issue(), after=60) == REMIND
    driver.work(10)
    assert driver.type(issue(), after=60) == THROTTLE, "reminding worked once of twice: not enough to stay there"
    driver.work(10)
    assert driver.type(issue(), after=60) == REMIND


def test_it_comes_down_at_once_also_where_all_happens_within_five_minutes():
    driver = Driver(config(delay=0, intervention_cooldown_seconds=0))
    made = [driver.type(issue(), after=5) for _ in range(4)]
    assert made == [SOFT, REMIND, THROTTLE, ROLLBACK]
    driver.work(10)
    assert driver.type(issue(), after=5) == THROTTLE


def test_an_issue_that_goes_on_in_spite_of_everything_is_stopped():
    driver = Driver()
    assert [driver.type(issue(), after=120) for _ in range(6)] == [SOFT, REMIND, THROTTLE, ROLLBACK, STOP, STOP]


def test_a_high_issue_begins_at_its_band_and_a_critical_one_with_a_stop():
    assert Driver().type(issue(severity="high", confidence=0.5)) == REMIND
    assert Driver().type(issue(severity="high", confidence=0.7)) == THROTTLE
    assert Driver().type(issue(severity="high")) == ROLLBACK
    assert Driver().type(issue(severity="critical")) == STOP


def test_each_type_has_a_ladder_of_its_own():
    driver = Driver()
    assert [driver.type(issue("loop"), after=120) for _ in range(3)] == [SOFT, REMIND, THROTTLE]
    assert driver.type(issue("goal_drift"), after=120) == SOFT
