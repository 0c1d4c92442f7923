"""Checkpoint rollback: which checkpoint, what goes back, what stays, and what happens without one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.config.schema import CheckpointRollback, SafeCheckpointCriteria
from interlock.core import Context, Hold, Inject, Intervention, Limits, Restore, SetLimits, Spend
from interlock.intervene import Continue, RecoveryNeeded, checkpoint_rollback, newest_safe

from .intervene_builders import FULL, NOW, checkpoint, growing, issue, run

CONFIG = CheckpointRollback()


def roll_back(state, found=None, config=CONFIG):
    return checkpoint_rollback(found or issue(started_step=5), state, config, NOW)


def chosen(*checkpoints, found=None, config=CONFIG) -> str | None:
    safe = newest_safe(checkpoints, found or issue(started_step=5), config, NOW)
    return safe.id if safe else None


def test_the_newest_from_before_the_issue_started():
    assert chosen(
        checkpoint("old", step=1, time=NOW - 300),
        checkpoint("good", step=4, time=NOW - 200),
        checkpoint("late", step=6, time=NOW - 100),
    ) == ("good")


def test_one_made_right_before_the_first_bad_step_is_from_before():
    assert chosen(checkpoint(step=5)) == "c1"
    assert chosen(checkpoint(step=6)) is None


def test_where_the_start_is_not_known_the_first_evidence_counts_then_the_alarm():
    assert chosen(checkpoint(step=6), found=issue(evidence=(6, 8))) == "c1"
    assert chosen(checkpoint(step=7), found=issue(evidence=(6, 8))) is None
    assert chosen(checkpoint(step=9), found=issue()) == "c1"


@pytest.mark.parametrize(("rate", "safe"), [(1.0, True), (0.8, True), (0.79, False), (0.0, False)])
def test_enough_tool_results_without_error(rate, safe):
    assert (chosen(checkpoint(success_rate=rate)) is not None) is safe


@pytest.mark.parametrize(("before", "safe"), [(None, True), (61, True), (60, True), (59.9, False), (0, False)])
def test_no_error_in_the_60_seconds_before_it(before, safe):
    last_error = None if before is None else NOW - 100 - before
    assert (chosen(checkpoint(last_error_time=last_error)) is not None) is safe


@pytest.mark.parametrize(("age", "safe"), [(0, True), (1799.9, True), (1800, False), (4000, False)])
def test_younger_than_30_minutes(age, safe):
    assert (chosen(checkpoint(time=NOW - age)) is not None) is safe


def test_the_age_binds_automatic_rollback_only():
    old = checkpoint(time=NOW - 90_000)
    assert newest_safe((old,), issue(started_step=5), CONFIG, NOW, any_age=True) == old


def test_the_criteria_are_configurable():
    config = CheckpointRollback(
        checkpoint_retention_minutes=1,
        safe_checkpoint_criteria=SafeCheckpointCriteria(min_success_rate=0.5, no_errors_duration_seconds=5),
    )
    assert chosen(checkpoint(time=NOW - 59, success_rate=0.5, last_error_time=NOW - 64), config=config) == "c1"
    assert chosen(checkpoint(time=NOW - 60), config=config) is None


@pytest.mark.parametrize(("made", "allowed"), [(0, True), (2, True), (3, False), (4, False)])
def test_at_most_three_rollbacks_per_run(made, allowed):
    answer = roll_back(run(checkpoints=(checkpoint(),), rollbacks=made))
    assert isinstance(answer, Continue) is allowed
    if allowed:
        assert answer.state.rollbacks == made + 1


def test_restore_comes_first_and_the_guidance_names_the_checkpoint():
    restore, limits, inject = roll_back(run(checkpoints=(checkpoint("c7", label="tests green"),))).directives
    assert isinstance(restore, Restore) and restore.checkpoint_id == "c7"
    assert isinstance(limits, SetLimits) and isinstance(inject, Inject)
    text, meta = inject.message.content, inject.message.meta
    assert "c7" in text and "tests green" in text
    assert "What went wrong: a case of loop" in text and "What to try:" in text
    assert (meta.checkpoint_id, meta.intervention, meta.type) == ("c7", "checkpoint_rollback", "intervention")


def test_limits_become_the_smaller_of_then_and_now():
    then = Limits(max_tokens=100, max_steps=50)
    now = Limits(max_tokens=500, max_steps=20, max_cost_usd=3.0)
    state = roll_back(run(limits=now, checkpoints=(checkpoint(limits=then),))).state
    assert state.limits == Limits(max_tokens=100, max_steps=20, max_cost_usd=3.0)
    assert roll_back(run(limits=now, checkpoints=(checkpoint(),))).state.limits == now


def test_context_and_growth_go_back_while_issues_interventions_and_spend_stay():
    made = Intervention(id="i1", type="soft_correction", level=0, issue_id="x", issue_type="loop", step=1, time=NOW)
    state = run(
        context=FULL,
        growth=growing(3),
        spend=Spend(input_tokens=900),
        issues=(issue(),),
        interventions=(made,),
        checkpoints=(checkpoint(context=Context(original_prompt="then")),),
    )
    back = roll_back(state).state
    assert back.context == Context(original_prompt="then") and back.growth == type(back.growth)()
    assert (back.spend, back.issues, back.interventions) == (state.spend, state.issues, state.interventions)


def test_checkpoints_of_the_abandoned_way_are_no_longer_candidates():
    kept, bad = checkpoint("kept", step=3, time=NOW - 200), checkpoint("bad", step=8, time=NOW - 100)
    back = roll_back(run(checkpoints=(kept, bad))).state
    assert back.checkpoints == (kept,)


def test_it_leaves_an_entry_in_the_history():
    (entry,) = roll_back(run(step=12, checkpoints=(checkpoint(),))).history
    assert (entry.type, entry.to_checkpoint, entry.time) == ("rollback", "c1", NOW)
    assert entry.from_state["step"] == 12


@pytest.mark.parametrize("state", [run(), run(checkpoints=(checkpoint(),), rollbacks=3)])
def test_without_a_suitable_checkpoint_a_plan_is_made_and_the_run_waits(state):
    answer = roll_back(state)
    assert isinstance(answer, RecoveryNeeded) and answer.state == state
    (hold,) = answer.directives
    assert isinstance(hold, Hold) and hold.kind == "recovery"
    plan = answer.plan
    assert plan.id and plan.issue == issue(started_step=5)
    assert plan.steps and plan.success_criteria and plan.escalation_path


def test_the_plan_keeps_the_constraints_of_the_run():
    plan = roll_back(run(context=FULL)).plan
    assert set(FULL.constraints) <= set(plan.constraints)


points = st.builds(
    checkpoint,
    name=st.text(min_size=1, max_size=3),
    time=st.floats(NOW - 4000, NOW),
    step=st.integers(0, 20),
    success_rate=st.floats(0, 1),
    last_error_time=st.none() | st.floats(NOW - 4200, NOW),
)


def is_safe(one, started: int) -> bool:
    calm = one.last_error_time is None or one.time - one.last_error_time >= 60
    return one.step <= started and one.success_rate >= 0.8 and NOW - one.time < 1800 and calm


@given(st.lists(points, max_size=8, unique_by=lambda one: one.id), st.integers(0, 20), st.integers(0, 5))
def test_only_the_newest_safe_checkpoint_is_ever_restored(known, started, made):
    answer = roll_back(run(checkpoints=tuple(known), rollbacks=made), issue(started_step=started))
    safe = [one for one in known if is_safe(one, started)]
    assert isinstance(answer, Continue) is (bool(safe) and made < 3)
    if isinstance(answer, Continue):
        (target,) = [one for one in known if one.id == answer.directives[0].checkpoint_id]
        assert target in safe and target.time == max(one.time for one in safe)
        assert answer.state.rollbacks == made + 1
