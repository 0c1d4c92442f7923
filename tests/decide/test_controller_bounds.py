"""What bounds an answer: attempts, rungs that are switched off, what the adapter can do, the limit of the run."""

from __future__ import annotations

import pytest

from interlock.config.schema import (
    CheckpointRollback,
    ContextReinforcement,
    EmergencyStop,
    ResourceThrottling,
    SoftCorrection,
)
from interlock.core import EVERY_CAPABILITY, LADDER, CheckpointInfo, Context, Hold, Notify, RunState, Stop
from interlock.decide import NEEDS, count_anew

from .decide_builders import FREE, START, Driver, config, issue, want

SOFT, REMIND, THROTTLE, ROLLBACK, STOP = LADDER


class TestAttempts:
    @pytest.mark.parametrize(("limit", "hints"), [(3, 3), (1, 1), (2, 2)])
    def test_at_most_so_many_hints_in_a_row_that_failed(self, limit, hints):
        settings = config("mine", soft_correction=SoftCorrection(max_attempts=limit), **FREE)
        driver = Driver(settings, strategies={"mine": lambda found: 0})
        made = [driver.type(issue(), after=301) for _ in range(hints + 1)]
        assert made == [SOFT] * hints + [REMIND]

    def test_a_success_resets_the_count(self):
        driver = want(0)
        for _ in range(2):
            driver.meet(issue(), after=301)
        driver.work(10)
        assert [driver.type(issue(), after=301) for _ in range(4)] == [SOFT, SOFT, SOFT, REMIND]

    def test_a_success_of_a_stronger_answer_resets_it_too(self):
        driver = want(0)
        for _ in range(4):
            driver.meet(issue(), after=301)
        driver.work(10)
        assert driver.type(issue(), after=301) == SOFT

    def test_the_count_is_kept_per_type(self):
        driver = want(0)
        for _ in range(3):
            driver.meet(issue(), after=301)
        assert driver.type(issue("goal_drift"), after=301) == SOFT


class TestSwitchedOff:
    def test_the_next_stronger_that_is_on_takes_its_place(self):
        off = {"context_reinforcement": ContextReinforcement(enabled=False)}
        assert want(1, config("mine", **FREE, **off)).type(issue()) == THROTTLE
        off["resource_throttling"] = ResourceThrottling(enabled=False)
        assert want(1, config("mine", **FREE, **off)).type(issue()) == ROLLBACK
        off["checkpoint_rollback"] = CheckpointRollback(enabled=False)
        assert want(1, config("mine", **FREE, **off)).type(issue()) == STOP

    def test_it_may_lift_a_type_by_more_than_one_level(self):
        settings = config("mine", resource_throttling=ResourceThrottling(enabled=False), **FREE)
        levels = iter((1, 2))
        driver = Driver(settings, strategies={"mine": lambda found: next(levels)})
        assert [driver.type(issue(), after=1) for _ in range(2)] == [REMIND, ROLLBACK]

    def test_without_the_stop_the_run_pauses_for_a_person(self):
        driver = want(4, config("mine", emergency_stop=EmergencyStop(enabled=False), **FREE))
        ruling = driver.ruling(issue())
        assert (ruling.intervention.type, ruling.intervention.outcome) == (STOP, "pending")
        hold, notify = ruling.directives
        assert isinstance(hold, Hold) and hold.kind == "pause" and isinstance(notify, Notify)
        assert not any(isinstance(directive, Stop) for directive in ruling.directives)

    def test_with_everything_off_a_person_is_asked(self):
        off = {
            "soft_correction": SoftCorrection(enabled=False),
            "context_reinforcement": ContextReinforcement(enabled=False),
            "resource_throttling": ResourceThrottling(enabled=False),
            "checkpoint_rollback": CheckpointRollback(enabled=False),
            "emergency_stop": EmergencyStop(enabled=False),
        }
        assert isinstance(want(0, config("mine", **FREE, **off)).ruling(issue()).directives[0], Hold)

    def test_switched_off_as_a_whole_nothing_is_applied(self):
        ruling = Driver(config(enabled=False)).ruling(issue(severity="critical"))
        assert ruling.intervention.outcome == "not_applied" and ruling.directives == ()
        assert "switched off" in ruling.intervention.reason


class TestCapabilities:
    def test_every_rung_says_what_it_needs(self):
        assert set(NEEDS) == set(LADDER)
        assert NEEDS[SOFT] == NEEDS[REMIND] == {"inject"} and NEEDS[STOP] == {"stop"}
        assert not NEEDS[THROTTLE] and not NEEDS[ROLLBACK]

    def test_down_to_the_nearest_milder_that_the_adapter_can_apply(self):
        assert want(4, capabilities=EVERY_CAPABILITY - {"stop"}).type(issue()) == ROLLBACK
        assert want(4, capabilities=EVERY_CAPABILITY - {"stop"}, restorable=False).type(issue()) == THROTTLE
        assert want(3, restorable=False).type(issue()) == THROTTLE

    def test_a_switched_off_rung_is_passed_on_the_way_down(self):
        settings = config("mine", resource_throttling=ResourceThrottling(enabled=False), **FREE)
        assert want(3, settings, restorable=False).type(issue()) == REMIND

    @pytest.mark.parametrize("level", [0, 1])
    def test_none_is_recorded_as_not_applied(self, level):
        ruling = want(level, capabilities=frozenset({"deny", "stop"})).ruling(issue())
        assert ruling.intervention.outcome == "not_applied" and ruling.answer is None and ruling.directives == ()
        assert "needs inject" in " ".join(ruling.intervention.details["why"])

    def test_what_was_not_applied_is_no_answer(self):
        levels = iter((0, 4))
        driver = Driver(config("mine"), frozenset({"stop"}), strategies={"mine": lambda found: next(levels)})
        assert driver.type(issue()) == f"(not_applied: {SOFT})"
        assert driver.type(issue(), after=1) == STOP, "the first answer may be any"

    def test_whether_the_workspace_can_be_restored_is_seen_from_the_run(self):
        driver = want(3, restorable=None)
        assert driver.type(issue()) == THROTTLE
        driver = want(3, restorable=None)
        saved = CheckpointInfo(id="c1", time=START, step=0)
        driver.run = RunState(run_id="r", context=Context(workspace="/somewhere"), checkpoints=(saved,))
        assert driver.type(issue()) == ROLLBACK


class TestLimit:
    def failing(self, times: int, **changes) -> Driver:
        driver = want(0, config("mine", **FREE, **changes))
        for _ in range(times + 1):
            driver.meet(issue(), after=1)
        return driver

    @pytest.mark.parametrize("failed", [8, 9])
    def test_ten_that_did_not_work_and_the_run_pauses_for_a_person(self, failed):
        ruling = self.failing(failed).ruling(issue(), after=1)
        paused = any(isinstance(directive, Hold) for directive in ruling.directives)
        assert paused is (failed == 9)
        assert ruling.intervention.outcome == ("held_back" if paused else "pending")

    def test_it_pauses_also_within_the_cooldown(self):
        driver = want(0, config("mine", max_interventions_per_execution=1))
        driver.meet(issue())
        hold, notify = driver.ruling(issue(), after=1).directives
        assert isinstance(hold, Hold) and hold.kind == "pause" and isinstance(notify, Notify)
        assert "1 interventions did not work" in hold.reason

    def test_those_that_worked_do_not_count(self):
        driver = want(0)
        for _ in range(30):
            assert driver.type(issue(), after=301) == SOFT
            driver.work(10)
        assert driver.state.failed == 0 and driver.state.worked == 30

    def test_it_stops_where_that_is_configured(self):
        ruling = self.failing(9, on_limit="stop").ruling(issue(), after=1)
        assert ruling.intervention.type == STOP and isinstance(ruling.directives[0], Stop)

    def test_it_pauses_where_a_stop_cannot_be_had(self):
        for changes in ({"emergency_stop": EmergencyStop(enabled=False)},):
            ruling = self.failing(9, on_limit="stop", **changes).ruling(issue(), after=1)
            assert isinstance(ruling.directives[0], Hold)
        driver = want(0, config("mine", on_limit="stop", **FREE), capabilities=EVERY_CAPABILITY - {"stop"})
        for _ in range(11):
            ruling = driver.ruling(issue(), after=1)
        assert isinstance(ruling.directives[0], Hold)

    def test_no_further_attempts_are_made(self):
        driver = self.failing(9)
        for kind in ("loop", "goal_drift", "scope_creep"):
            ruling = driver.ruling(issue(kind), after=1000)
            assert [type(directive) for directive in ruling.directives] == [Hold, Notify]

    def test_a_run_that_waits_already_is_not_told_again(self):
        driver = self.failing(10)
        driver.run = RunState(run_id="r", status="paused")
        ruling = driver.ruling(issue(), after=1)
        assert ruling.directives == () and "waits for a person" in ruling.intervention.reason

    def test_a_person_who_lets_it_go_on_gives_it_ten_more(self):
        driver = self.failing(10)
        driver.state = count_anew(driver.state)
        assert driver.ruling(issue(), after=1).intervention.outcome == "pending"
