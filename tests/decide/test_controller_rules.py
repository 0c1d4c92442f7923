"""The rules of the ladder, each number at its exact border, with an injected clock."""

from __future__ import annotations

import pytest

from interlock.config.schema import (
    SoftCorrection,
)
from interlock.core import LADDER, Inject, RunState, SetLimits

from .decide_builders import FREE, Driver, config, issue, want

SOFT, REMIND, THROTTLE, ROLLBACK, STOP = LADDER


def test_the_first_answer_is_recorded_with_its_reasons():
    ruling = Driver().ruling(issue(confidence=0.9))
    made = ruling.intervention
    assert (made.id, made.type, made.level, made.outcome) == ("i1", SOFT, 0, "pending")
    assert (made.issue_id, made.issue_type, made.step) == ("loop:1", "loop", 1)
    assert ruling.score == ruling.combined == 0.45
    assert made.details["score"] == 0.45 and made.details["why"] == [f"by_effect wants {SOFT}"]


class TestCooldown:
    @pytest.mark.parametrize(("after", "rung"), [(29.9, f"(held_back: {SOFT})"), (30, SOFT)])
    def test_thirty_seconds_between_two(self, after, rung):
        driver = Driver()
        driver.meet(issue("loop"))
        assert driver.type(issue("goal_drift"), after=after) == rung

    def test_critical_ones_pass(self):
        driver = Driver()
        driver.meet(issue("loop"))
        assert driver.type(issue("goal_drift", "critical"), after=1) == STOP

    def test_what_was_held_back_does_not_start_it_again(self):
        driver = Driver()
        driver.meet(issue("loop"))
        driver.meet(issue("goal_drift"), after=20)
        assert driver.type(issue("goal_drift"), after=10) == SOFT

    def test_the_reason_is_recorded(self):
        driver = Driver()
        driver.meet(issue("loop"))
        assert "cooldown" in driver.ruling(issue("goal_drift"), after=1).intervention.reason


class TestEscalationDelay:
    def escalated(self) -> Driver:
        driver = Driver()
        assert driver.type(issue()) == SOFT
        assert driver.type(issue(), after=30) == REMIND, "the first answer was no escalation"
        return driver

    @pytest.mark.parametrize(("after", "rung"), [(119.9, f"(held_back: {THROTTLE})"), (120, THROTTLE)])
    def test_120_seconds_before_another_escalation(self, after, rung):
        assert self.escalated().type(issue(), after=after) == rung

    def test_critical_ones_pass(self):
        assert self.escalated().type(issue(severity="critical"), after=1) == THROTTLE

    def test_other_types_have_their_own(self):
        driver = self.escalated()
        driver.meet(issue("goal_drift"), after=30)
        assert driver.type(issue("goal_drift"), after=30) == REMIND

    def test_an_answer_that_does_not_escalate_passes(self):
        driver = self.escalated()
        driver.work(10)
        assert driver.type(issue(), after=60) == SOFT

    def test_the_reason_is_recorded(self):
        assert "escalation delay" in self.escalated().ruling(issue(), after=60).intervention.reason


class TestEscalationLevel:
    @pytest.mark.parametrize("failed", [0, 1, 2, 3, 4])
    def test_it_is_the_number_of_ineffective_interventions_up_to_three(self, failed):
        driver = want(0)
        for _ in range(failed):
            driver.meet(issue(severity="low"), after=1)
        ruling = driver.ruling(issue(severity="low"), after=1)
        assert ruling.combined == pytest.approx(0.2 + 0.3 * min(3, failed))

    @pytest.mark.parametrize(("later", "level"), [(300, 1), (300.1, 0)])
    def test_five_minutes_count(self, later, level):
        driver = want(0)
        driver.meet(issue(severity="low"))
        ruling = driver.ruling(issue(severity="low"), after=later)
        assert ruling.combined == pytest.approx(0.2 + 0.3 * level)

    def test_it_goes_down_again_when_one_worked(self):
        driver = want(0)
        for _ in range(3):
            driver.meet(issue(severity="low"), after=1)
        driver.work(10)
        assert driver.ruling(issue(severity="low"), after=1).combined == pytest.approx(0.2 + 0.3)

    def test_other_types_have_their_own(self):
        driver = want(0)
        for _ in range(3):
            driver.meet(issue(), after=1)
        assert driver.ruling(issue("goal_drift", "low"), after=1).combined == pytest.approx(0.2)


class TestRepeatRule:
    def fails(self, times: int) -> Driver:
        driver = want(0, config("mine", soft_correction=SoftCorrection(max_attempts=99), **FREE))
        for _ in range(times):
            driver.meet(issue(), after=1)
        return driver

    def test_two_failed_answers_within_five_minutes_lift_the_next_by_one(self):
        assert self.fails(1).type(issue(), after=1) == SOFT
        assert self.fails(2).type(issue(), after=1) == REMIND

    @pytest.mark.parametrize(("later", "rung"), [(299, REMIND), (299.1, SOFT)])
    def test_five_minutes_count(self, later, rung):
        assert self.fails(2).type(issue(), after=later) == rung

    def test_other_types_do_not_matter(self):
        assert self.fails(3).type(issue("goal_drift"), after=1) == SOFT

    def test_a_success_ends_the_row(self):
        driver = self.fails(3)
        driver.work(10)
        assert driver.type(issue(), after=1) == SOFT

    def test_the_last_level_stays_the_last(self):
        driver = want(4)
        for _ in range(5):
            assert driver.type(issue(), after=1) == STOP


class TestOneLevelAtMost:
    def test_a_type_that_was_answered_before_climbs_one_level(self):
        levels = iter((0, 4, 4, 4, 4))
        driver = Driver(config("mine", **FREE), strategies={"mine": lambda found: next(levels)})
        assert [driver.type(issue(), after=1) for _ in range(5)] == list(LADDER)

    def test_critical_ones_too(self):
        driver = Driver(config("severity", **FREE))
        driver.meet(issue(severity="low"))
        assert driver.type(issue(severity="critical"), after=1) == REMIND

    def test_destructive_actions_are_excepted(self):
        driver = Driver(config("severity", **FREE))
        assert driver.type(issue("destructive_action", "low")) == SOFT
        assert driver.type(issue("destructive_action", "critical"), after=1) == STOP

    def test_the_first_answer_may_be_any(self):
        assert want(4).type(issue()) == STOP

    def test_going_down_is_free(self):
        levels = iter((3, 0))
        driver = Driver(config("mine", **FREE), strategies={"mine": lambda found: next(levels)})
        assert [driver.type(issue(), after=1) for _ in range(2)] == [ROLLBACK, SOFT]


class TestTogether:
    def test_the_strongest_issue_is_answered_and_the_others_are_held_back(self):
        rulings = Driver().meet(issue("goal_drift", "low"), issue("scope_creep", "high"), issue("loop", "medium"))
        assert [ruling.issue.type for ruling in rulings.rulings] == ["scope_creep", "loop", "goal_drift"]
        assert [ruling.intervention.outcome for ruling in rulings.rulings] == ["pending", "held_back", "held_back"]
        assert all("more severe issue" in ruling.intervention.reason for ruling in rulings.rulings[1:])
        assert rulings.directives == rulings.rulings[0].directives

    def test_further_critical_ones_act_too(self):
        driver = want(0)
        rulings = driver.meet(issue("loop", "critical"), issue("goal_drift", "critical"), issue("scope_creep"))
        assert [ruling.intervention.outcome for ruling in rulings.rulings] == ["pending", "pending", "held_back"]
        assert [type(directive) for directive in rulings.directives] == [Inject, Inject]

    def test_after_a_stop_nothing_else_is_done(self):
        rulings = Driver().meet(issue("loop", "critical"), issue("goal_drift", "critical"))
        assert [ruling.intervention.outcome for ruling in rulings.rulings] == ["pending", "held_back"]

    def test_an_issue_that_is_held_back_leaves_its_turn_to_the_next(self):
        driver = Driver(config(intervention_cooldown_seconds=0))
        driver.meet(issue("loop"))
        driver.meet(issue("loop"), after=1)
        rulings = driver.meet(issue("loop", "high"), issue("goal_drift"), after=1)
        assert [ruling.intervention.outcome for ruling in rulings.rulings] == ["held_back", "pending"]
        assert "escalation delay" in rulings.rulings[0].intervention.reason

    def test_two_of_one_type_get_one_answer(self):
        rulings = want(0).meet(issue("loop", "critical"), issue("loop", "critical"))
        assert [ruling.intervention.outcome for ruling in rulings.rulings] == ["pending", "held_back"]

    def test_each_answer_sees_what_the_one_before_did_to_the_run(self):
        levels = {"loop": 2, "goal_drift": 1}
        driver = Driver(config("mine"), strategies={"mine": lambda found: levels[found.issue.type]})
        rulings = driver.meet(issue("loop", "critical"), issue("goal_drift", "critical"))
        assert rulings.run.throttled and rulings.run.reinforced
        assert isinstance(rulings.directives[0], SetLimits)


class TestTheRun:
    def test_issues_and_interventions_enter_its_history(self):
        driver = Driver()
        driver.meet(issue(), issue("goal_drift"))
        assert [known.type for known in driver.run.issues] == ["loop", "goal_drift"]
        assert [made.outcome for made in driver.run.interventions] == ["pending", "held_back"]

    def test_its_history_is_bounded(self):
        driver = Driver()
        for _ in range(80):
            driver.meet(issue(), after=1)
        assert len(driver.run.issues) == len(driver.run.interventions) == 50
        assert driver.run.interventions[-1].id == "i80"

    def test_a_run_that_has_ended_gets_no_answers(self):
        driver = Driver()
        driver.run = RunState(run_id="r", status="aborted")
        assert driver.type(issue(severity="critical")) == f"(not_applied: {STOP})"

    def test_a_run_that_waits_for_a_person_is_left_alone_unless_it_is_critical(self):
        driver = Driver()
        driver.run = RunState(run_id="r", status="paused")
        assert driver.type(issue()) == f"(held_back: {SOFT})"
        assert driver.type(issue("goal_drift", "critical")) == STOP


class TestObserve:
    def test_it_never_acts_and_says_what_it_would_have_done(self):
        driver = Driver(config(observe=True))
        before = driver.run
        ruling = driver.ruling(issue())
        assert ruling.directives == () and isinstance(ruling.would[0], Inject)
        assert (ruling.intervention.type, ruling.intervention.outcome) == (SOFT, "not_applied")
        assert "would have been applied" in ruling.intervention.reason
        assert driver.run.limits == before.limits and driver.run.context == before.context

    def test_the_ladder_is_climbed_as_if(self):
        driver = Driver(config(observe=True, delay=0))
        assert [driver.ruling(issue(), after=30).intervention.type for _ in range(5)] == list(LADDER)
        assert driver.judged == [], "what was not applied has no outcome"

    def test_what_was_only_simulated_does_not_count_once_it_acts(self):
        driver = Driver(config(observe=True, delay=0))
        for _ in range(4):
            driver.meet(issue(), after=30)
        driver.controller = Driver(config()).controller
        made = driver.ruling(issue(), after=1).intervention
        assert (made.type, made.outcome, made.id) == (SOFT, "pending", "i5")
