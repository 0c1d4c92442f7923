"""Whatever sequence of issues comes, the ladder keeps its promises."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock.config.schema import (
    CheckpointRollback,
    ContextReinforcement,
    EmergencyStop,
    Interventions,
    ResourceThrottling,
    SoftCorrection,
)
from interlock.core import EVERY_CAPABILITY, LADDER, SEVERITIES, CheckpointInfo

from .decide_builders import Driver, config, issue

TYPES = ("loop", "scope_creep", "destructive_action", "a_plug_in")

issues = st.builds(
    issue,
    st.sampled_from(TYPES),
    st.sampled_from((*SEVERITIES, None, "low", "medium")),
    confidence=st.none() | st.floats(-1, 2),
    impact_factor=st.none() | st.floats(-1, 2),
)
meetings = st.tuples(
    st.lists(issues, min_size=1, max_size=3),
    st.sampled_from((0, 1, 29, 30, 31, 119, 120, 130, 301)),
    st.integers(0, 12),
)
quiet = st.tuples(st.integers(1, 12), st.booleans())
histories = st.lists(meetings | quiet, max_size=40)

rungs = st.booleans()
setups = st.builds(
    lambda strategy, on, limit, on_limit, delay, observe: config(
        strategy,
        delay=delay,
        soft_correction=SoftCorrection(enabled=on[0]),
        context_reinforcement=ContextReinforcement(enabled=on[1]),
        resource_throttling=ResourceThrottling(enabled=on[2]),
        checkpoint_rollback=CheckpointRollback(enabled=on[3]),
        emergency_stop=EmergencyStop(enabled=on[4]),
        max_interventions_per_execution=limit,
        intervention_cooldown_seconds=30,
        on_limit=on_limit,
        observe=observe,
    ),
    st.sampled_from(("by_effect", "severity", "pattern_specific", "custom")),
    st.just((True,) * 5) | st.tuples(rungs, rungs, rungs, rungs, rungs),
    st.sampled_from((10, 10, 3, 0)),
    st.sampled_from(("pause", "stop")),
    st.sampled_from((120, 0)),
    st.sampled_from((False, False, False, True)),
)
abilities = st.just(EVERY_CAPABILITY) | st.sets(st.sampled_from(sorted(EVERY_CAPABILITY))).map(frozenset)


def wild(situation: Any) -> int:
    """A strategy of one's own that jumps about, and off the ladder."""
    return (situation.escalation * 7 + (situation.last_level or 0) * 5 + len(situation.issue.type)) % 9 - 2


def drive(setup: Interventions, able: Any, history: Any, *, store: bool = False) -> tuple[Driver, list[Any]]:
    driver = Driver(setup, able, store=store, strategies={"custom": wild})
    told: list[Any] = []
    for event in history:
        if len(event) == 2:
            driver.work(event[0], progressed=event[1])
            continue
        found, after, steps = event
        safe = CheckpointInfo(id="start", time=driver.now, step=0)
        driver.run = msgspec.structs.replace(driver.run, checkpoints=(safe,))
        rulings = driver.meet(*found, after=after, steps=steps)
        told.append((driver.state.failed, rulings))
    return driver, told


class Promises:
    """What has to hold, checked along a history."""

    def __init__(self, setup: Interventions) -> None:
        self.setup = setup
        self.last_acted: float | None = None
        self.last_level: dict[str, int] = {}
        self.escalated: dict[str, float] = {}

    def check(self, ruling: Any, failed: int) -> None:
        made, critical = ruling.intervention, ruling.issue.severity == "critical"
        assert 0 <= ruling.score <= 1 and ruling.score <= ruling.combined <= ruling.score + 0.9 + 1e-9
        assert made.type == LADDER[made.level]
        if self.setup.observe:
            assert ruling.directives == () and made.outcome in ("not_applied", "held_back")
        elif made.outcome != "pending":
            at_limit = failed >= self.setup.max_interventions_per_execution
            assert not ruling.directives or at_limit, "what did not act asks for nothing but a pause at the limit"
        if ruling.answer is None or made.outcome == "held_back":
            return
        self._respects_times(made, critical)
        self._climbs_one_level(made)
        self.last_acted, self.last_level[made.issue_type] = made.time, made.level

    def _respects_times(self, made: Any, critical: bool) -> None:
        cooldown, delay = self.setup.intervention_cooldown_seconds, self.setup.strategy.escalation_delay_seconds
        at_limit = made.type == "emergency_stop" and self.setup.on_limit == "stop"
        if not critical and not at_limit and self.last_acted is not None:
            assert made.time - self.last_acted >= cooldown
        last = self.last_level.get(made.issue_type)
        if last is not None and made.level > last:
            before = self.escalated.get(made.issue_type)
            assert critical or at_limit or before is None or made.time - before >= delay
            self.escalated[made.issue_type] = made.time

    def _climbs_one_level(self, made: Any) -> None:
        last = self.last_level.get(made.issue_type)
        if last is None or made.issue_type == "destructive_action" or "did not work" in str(made.details["why"][0]):
            return
        skipped = sum(not getattr(self.setup, LADDER[level]).enabled for level in range(last, made.level))
        assert made.level <= last + 1 + skipped


def check_all(setup: Interventions, able: Any, history: Any) -> None:
    driver, told = drive(setup, able, history)
    promises = Promises(setup)
    for failed, rulings in told:
        acted = [ruling for ruling in rulings.rulings if ruling.answer is not None]
        assert all(ruling.issue.severity == "critical" for ruling in acted[1:])
        for ruling in rulings.rulings:
            promises.check(ruling, failed)
    met = sum(len(event[0]) for event in history if len(event) == 3)
    assert [made.id for made in driver.records] == [f"i{number}" for number in range(1, met + 1)], "each issue, once"
    assert driver.run.rollbacks <= setup.checkpoint_rollback.max_rollback_depth
    assert driver.state.recorded == met
    if not setup.observe:
        acted_ids = {made.id for made in driver.records if made.outcome == "pending"}
        judged_ids = [made.id for made in driver.judged]
        waiting = {entry.made.id for entry in driver.state.pending}
        assert len(judged_ids) == len(set(judged_ids)), "nothing is judged twice"
        assert acted_ids == set(judged_ids) | waiting and not waiting & set(judged_ids), "nothing is lost"
        assert driver.state.failed == sum(made.outcome == "failure" for made in driver.judged)
    assert len(driver.state.pending) <= len(TYPES) * 2


slow = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@slow
@given(setups, abilities, histories)
def test_any_sequence_of_issues_keeps_every_promise(setup, able, history):
    check_all(setup, able, history)


@slow
@given(setups, abilities, histories)
def test_a_restart_at_any_point_gives_the_same_decisions(setup, able, history):
    plain, plain_told = drive(setup, able, history)
    stored, stored_told = drive(setup, able, history, store=True)
    assert [rulings for _, rulings in plain_told] == [rulings for _, rulings in stored_told]
    assert (plain.state, plain.judged) == (stored.state, stored.judged)


@slow
@given(setups.map(lambda setup: msgspec.structs.replace(setup, observe=True)), abilities, histories)
def test_observe_never_acts(setup, able, history):
    driver, told = drive(setup, able, history)
    assert all(rulings.directives == () for _, rulings in told)
    assert driver.run.limits == type(driver.run.limits)() and driver.run.rollbacks == 0
    assert driver.judged == []


@slow
@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_never_more_than_three_failed_hints_in_a_row(answered_well):
    driver = Driver(config("mine", delay=0), strategies={"mine": lambda found: 0})
    row = 0
    for well in answered_well:
        made = driver.ruling(issue(), after=301).intervention
        if made.outcome == "pending" and made.type == "soft_correction":
            row += 1
            assert row <= 3
        if well:
            driver.work(10)
            row = 0


def test_the_cost_of_a_step_does_not_grow_with_the_run():
    def size_after(rounds: int) -> int:
        driver = Driver(config(max_interventions_per_execution=10**9, delay=0, intervention_cooldown_seconds=0))
        for turn in range(rounds):
            driver.meet(issue(TYPES[turn % 4], SEVERITIES[turn % 2]), after=40)
            driver.work(turn % 12)
        return len(msgspec.json.encode(driver.state))

    assert size_after(1200) < size_after(120) * 1.3


@pytest.mark.torture
@settings(max_examples=5_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(setups, abilities, st.lists(meetings | quiet, max_size=120))
def test_any_long_sequence_of_issues_keeps_every_promise(setup, able, history):
    check_all(setup, able, history)
