"""Which alarms an episode takes for its own, what it is called, and what each sign changes in it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from interlock.config.schema import EmergencyStop, Interventions, SoftCorrection, Strategy
from interlock.core import EVERY_CAPABILITY, LADDER, Inject, Intervention, Issue, Message, RunState, Spend, Stuck
from interlock.decide import Controller, ControllerState, Observed, Sighting
from interlock.decide.episode import Episode
from interlock.decide.episode_tracking import follow, start_rung, strongest
from interlock.decide.ladder import TOP, Ladder, Rung
from interlock.decide.state import MOST_EPISODES, Pace, TypeState
from interlock.intervene import Continue, Custom

from .decide_builders import Driver, config, issue
from .test_episodes import HINT, REMINDER, ROLLBACK, START, STOP, THROTTLE, Run, stuck

LOST = Stuck(kind="pattern", key="wandering")
CALL = Stuck(kind="repeat", key="ls", tool="Bash", program="ls")


def found(kind: str = "loop", about: Stuck | None = None, **changes: Any) -> Issue:
    return Issue(id="i1", type=kind, step=50, description="d", stuck=about, **changes)


def episode(kind: str = "loop", *about: Stuck, **changes: Any) -> Episode:
    known = {"id": "e1", "issue": found(kind), "stuck": about, "opened_step": 9, "opened_at": START, "steps": (10,)}
    return Episode(**{**known, **changes})


def made(kind: str, outcome: str = "pending", reason: str = "") -> Intervention:
    return Intervention(
        id="i1", type=kind, level=0, issue_id="i", issue_type="loop", step=1, time=START, outcome=outcome, reason=reason
    )  # type: ignore[arg-type]


def test_it_is_called_by_its_check_else_by_its_pattern_and_file():
    assert episode("loop", LOST, stuck()).what == "pytest tests/a.py"
    assert episode("scope_creep", LOST).what == "scope creep"
    assert episode("scope_creep", issue=found("scope_creep", details={"path": "a.py"})).what == "scope creep: a.py"
    assert episode("loop", LOST, msgspec.structs.replace(stuck(), place="a.py:3")).place == "a.py:3"
    assert episode("loop", LOST).place == ""


def test_its_line_in_a_list_says_how_the_newest_answer_went():
    assert episode("loop", stuck()).standing == "pytest tests/a.py"
    assert episode("loop", stuck(), answer=made(LADDER[HINT])).standing == "pytest tests/a.py, hint pending"
    assert episode("loop", stuck(), answer=made(LADDER[STOP])).standing == "pytest tests/a.py, emergency stop"
    assert episode("loop", stuck(), answer=made("pause_for_person")).standing == "pytest tests/a.py, pause for a person"
    assert episode("loop", stuck(), failed=LADDER[HINT]).standing == "pytest tests/a.py, hint did not work"
    for unapplied in (
        made(LADDER[HINT], "held_back"),
        made(LADDER[HINT], "not_applied"),
        made(LADDER[HINT], reason="observe: would have been applied"),
    ):
        assert episode("loop", stuck(), answer=unapplied).standing == "pytest tests/a.py"


@pytest.mark.parametrize(
    ("known", "issue", "same"),
    [
        (episode("goal_drift"), found("goal_drift"), True),
        (episode("goal_drift"), found("scope_creep"), False),
        (episode("long_wait", CALL), found("long_wait", CALL), True),
        (episode("long_wait", CALL), found("long_wait", stuck()), False),
        (episode("long_wait", CALL), found("loop", CALL), False),
        (episode("loop", CALL), found("long_wait", CALL), False),
        (episode("loop", CALL), found("resource_spiral", CALL), True),
        (episode("loop", stuck()), found("loop", msgspec.structs.replace(stuck(), kind="repeat")), False),
        # The same program: with a failure in common, or on the same files while the episode is open.
        (episode("loop", stuck("a")), found("loop", msgspec.structs.replace(stuck("b"), targets=("x",))), True),
        (episode("loop", stuck("a")), found("loop", msgspec.structs.replace(stuck("b"), marks=(2,))), True),
        (episode("loop", stuck("a"), ending="solved"), found("loop", msgspec.structs.replace(stuck("b"), marks=(2,))), False),
        (episode("loop", stuck("a")), found("loop", msgspec.structs.replace(stuck("b"), marks=(2,), targets=("x",))), False),
        (episode("loop", stuck("a")), found("loop", msgspec.structs.replace(stuck("b"), program="tox")), False),
        (episode("loop", CALL), found("loop", msgspec.structs.replace(CALL, key="x", marks=(1,)), started_step=40), False),
        # Other alarms on the same evidence.
        (episode("loop", stuck("a")), found("repetitive_errors", CALL, evidence=(10, 11)), True),
        (episode("loop", stuck("a")), found("loop", CALL, evidence=(11,)), False),
        (episode("goal_drift", LOST), found("goal_drift", CALL, evidence=(10,)), True),
        (episode("goal_drift", LOST), found("loop", CALL, evidence=(10,)), False),
        (episode("loop", LOST), found("goal_drift", CALL, evidence=(10,)), False),
        (episode("destructive_action", LOST), found("loop", CALL, evidence=(10,)), True),
        (episode("loop", CALL), found("destructive_action", LOST, evidence=(10,)), False),
        (episode("destructive_action", LOST), found("goal_drift", CALL, evidence=(10,)), False),
        (episode("loop", stuck("a"), ending="solved"), found("loop", CALL, evidence=(10,)), False),
        # Calls that take turns.
        (episode("loop", CALL), found("loop", msgspec.structs.replace(CALL, key="cat"), started_step=10), True),
        (episode("loop", CALL), found("loop", msgspec.structs.replace(CALL, key="cat"), started_step=11), False),
        (episode("loop", stuck("a"), steps=(10,)), found("loop", msgspec.structs.replace(CALL, key="cat"), started_step=9), False),
    ],
)  # fmt: skip
def test_which_alarms_speak_of_it(known, issue, same):
    assert known.about(issue) is same


def test_an_alarm_is_added_once_and_only_one_of_its_type_is_its_newest():
    known = episode("loop", stuck("a"))
    other = known.raised(found("repetitive_errors", CALL, evidence=(10, 20)))
    assert (other.issue, other.stuck, other.steps) == (known.issue, (stuck("a"), CALL), (10, 20, 50))
    again = other.raised(found("loop", msgspec.structs.replace(CALL, place="new")))
    assert again.issue.type == "loop" and again.issue.stuck is not None and again.stuck == (stuck("a"), CALL)
    assert known.raised(found("loop")).stuck == (stuck("a"),)
    kept = known
    for number in range(6):
        kept = kept.raised(found("loop", stuck(f"k{number}")))
    assert [one.key for one in kept.stuck] == ["k2", "k3", "k4", "k5"]


def test_a_problem_that_is_back_begins_like_a_new_one():
    over = episode(
        "loop", stuck(), level=2, failed=LADDER[HINT], hints=2, opportunities=7, clean=3, relapses=1, worked=2
    ).end("solved")
    assert (over.ending, over.open) == ("solved", False)
    back = over.reopen(found("loop", stuck(), evidence=(45, 44)), START + 60, Spend(input_tokens=5))
    assert back == episode(
        "loop", stuck(), issue=found("loop", stuck(), evidence=(45, 44)), opened_step=50, opened_at=START + 60,
        began=44, steps=(45, 44, 50), relapses=2, worked=2, spent=Spend(input_tokens=5),
    )  # fmt: skip


def test_each_sign_is_counted():
    state = ControllerState().with_episode(episode("loop", stuck(), passed=1, again=1, clean=1))
    newer = (stuck("newer"),)
    for sign, expected in (
        ("again", (1, 2, 0)),
        ("changed", (1, 1, 0)),
        ("clear", (1, 1, 2)),
        (None, (0, 1, 1)),
    ):
        after, judged = follow(state, Sighting("e1", newer, sign), 60, 1)  # type: ignore[arg-type]
        one = after.episodes[0]
        assert (one.opportunities, one.again, one.passed) == expected and one.stuck == newer and judged == []
    assert follow(state, Sighting("e9", newer, "again"), 60, 1) == (state, [])


@pytest.mark.parametrize(
    ("sign", "before", "after"),
    [
        ("again", (5, 2, 3), (0, 2, 3)),
        ("changed", (5, 2, 3), (0, 2, 3)),
        ("clear", (8, 2, 3), (9, 2, 3)),
        ("clear", (9, 2, 3), (0, 1, 3)),
        ("solved", (9, 1, 3), (0, 0, 0)),
        ("clear", (9, 0, 3), (0, 0, 0)),
        ("clear", (9, None, 3), (0, None, 0)),
    ],
)
def test_ten_clean_opportunities_in_a_row_after_its_end_lower_it_by_a_rung(sign, before, after):
    clean, worked, relapses = before
    over = episode("loop", stuck(), ending="solved", clean=clean, worked=worked, relapses=relapses)
    state, judged = follow(ControllerState().with_episode(over), Sighting("e1", over.stuck, sign), 60, 1)
    one = state.episodes[0]
    assert ((one.clean, one.worked, one.relapses), one.open, judged) == (after, False, [])


@pytest.mark.parametrize("outcome", ["pending", "not_applied", None])
def test_only_an_answer_that_was_applied_has_helped(outcome):
    answer = msgspec.structs.replace(made(LADDER[REMINDER]), outcome=outcome) if outcome else None
    known = episode("loop", stuck(), level=REMINDER, answer=answer)
    state, judged = follow(ControllerState().with_episode(known), Sighting("e1", known.stuck, "solved"), 60, 1)
    helped = outcome == "pending"
    assert (state.episodes[0].ending, state.episodes[0].worked) == ("solved", REMINDER if helped else None)
    assert [one.outcome for one in judged] == ["success"] * helped and state.worked == helped


@pytest.mark.parametrize(
    ("outcomes", "start", "begins"),
    [
        ((), 1, 1),
        ((True, True, True, True, False), 1, 1),
        ((True, True, True, True, True), 1, 0),
        ((True, True, True, True, True), 0, 0),
        ((True, False), 1, 2),
        ((False,), 2, 2),
        ((True, True, True, False, False), 1, 1),
    ],
)
def test_where_a_new_episode_begins(outcomes, start, begins):
    known = TypeState(start=start, judged={LADDER[start]: outcomes} if outcomes else {})
    assert start_rung(ControllerState(types={"loop": known}), "loop", 0.6) == begins


def test_what_is_off_or_cannot_be_applied_is_said_once():
    off = Ladder(Interventions(emergency_stop=EmergencyStop(enabled=False)), EVERY_CAPABILITY)
    why = "emergency_stop is switched off: a person decides"
    assert off.at(TOP, found(), restorable=True, reachable=False) == Rung(TOP, "pause_for_person", (why,), pause=True)
    bare = Ladder(Interventions(), frozenset())
    why = "emergency_stop needs stop: a person decides"
    assert bare.top(found(), reachable=False) == Rung(TOP, "pause_for_person", (why,), pause=True)
    own = Custom("mine", frozenset({"loop"}), 0, lambda *_: Continue(), needs=frozenset({"stop", "inject"}))  # type: ignore[call-arg]
    rung = Ladder(Interventions(), frozenset(), (own,)).at(0, found(), restorable=True, reachable=False)
    assert (rung.reasons, rung.applicable) == (("mine needs inject and stop",), False)
    rollback = Ladder(Interventions(), EVERY_CAPABILITY).at(3, found(), restorable=False, reachable=False)
    assert rollback.reasons == ("checkpoint_rollback needs a workspace that can be restored",)


def test_an_own_intervention_at_the_top_comes_before_a_person_and_a_stop_unless_something_is_missing():
    own = Custom("mine", frozenset({"loop"}), TOP, lambda *_: Continue(), needs=frozenset({"stop"}))  # type: ignore[call-arg]
    ladder = Ladder(Interventions(), EVERY_CAPABILITY, (own,))
    assert ladder.top(found(), reachable=True) == Rung(TOP, "mine", (), own)
    assert ladder.top(found("goal_drift"), reachable=False) == Rung(TOP, LADDER[TOP], ())
    unable = Ladder(Interventions(), EVERY_CAPABILITY - {"stop"}, (own,))
    assert unable.top(found(), reachable=True).pause


@pytest.mark.parametrize("weaker", range(1, 5))
def test_of_several_signs_the_strongest_counts(weaker):
    order = ["solved", "better", "again", "changed", "clear"]
    assert strongest(order[: weaker - 1 : -1]) == order[weaker]
    assert strongest([]) is None


def test_the_time_of_a_call_is_the_median():
    assert Pace().called(0).call_s is None
    assert Pace(gaps=(9.0, 1.0, 2.0)).call_s == 2
    assert Pace(gaps=(9.0, 1.0, 2.0, 4.0)).call_s == 3
    assert Pace(last=5.0).called(3.0).gaps == (0.0,), "a clock that went back"


def test_a_template_that_never_varies_still_says_something_new():
    text = Inject(message=Message(content="Stop that \udc80."))
    own = Custom(
        "nag", frozenset({"loop"}), 0, lambda issue, run, config, now: Continue(state=run, log="", directives=(text,))
    )
    run = Run(Interventions(soft_correction=SoftCorrection(max_attempts=3)))
    run.controller = Controller(run.config, EVERY_CAPABILITY, custom=[own], restorable=True)
    run.alarm()
    run.sign(*["again"] * 6)
    assert run.texts[:3] == ["Stop that \udc80.", "Stop that \udc80.\n(Message 2.)", "Stop that \udc80.\n(Message 3.)"]


def test_an_observer_reports_no_outcomes():
    run = Run(Interventions(observe=True))
    run.alarm()
    run.sign("again", "again", "again", "solved")
    assert run.outcomes == []


def test_an_observer_records_what_it_would_have_done_and_changes_nothing():
    run = Run(Interventions(observe=True))
    last = run.alarm()
    while run.rungs[-1] != LADDER[THROTTLE]:
        last = run.sign("again")
    (ruling,) = last.rulings
    assert ruling.intervention.outcome == "not_applied" and last.directives == ()
    assert ruling.intervention.reason.startswith("observe: would have been applied: ")
    assert not run.run.throttled and run.state.acted == len(run.rungs)
    real = Run()
    real.alarm()
    while real.rungs[-1] != LADDER[THROTTLE]:
        last = real.sign("again")
    (ruling,) = last.rulings
    assert ruling.intervention.outcome == "pending" and not ruling.intervention.reason.startswith("observe")
    assert real.run.throttled and real.state.acted == len(real.rungs)


def test_where_interventions_are_switched_off_none_is_applied():
    run = Run(Interventions(enabled=False))
    (held,) = run.alarm().rulings
    assert (held.intervention.outcome, held.intervention.reason) == ("held_back", "interventions are switched off")
    run.sign(*["again"] * 6)
    assert run.rungs == []


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("pausing", "the run waits for a person"),
        ("paused", "the run waits for a person"),
        ("done", "the run has ended"),
    ],
)
def test_a_run_that_waits_or_has_ended_gets_no_answer(status, why):
    run = Run()
    run.run = msgspec.structs.replace(run.run, status=status)
    (held,) = run.alarm().rulings
    assert (held.intervention.outcome, held.intervention.reason) == ("held_back", why)


def test_damage_is_answered_at_once_and_a_blocked_attempt_waits_like_the_rest():
    for prevented, outcome in ((False, "pending"), (True, "held_back")):
        run = Run(Interventions(intervention_cooldown_seconds=1000))
        run.alarm()
        (ruling,) = run.alarm(
            "destructive_action", severity="high", stuck=LOST, evidence=(900,), details={"prevented": prevented}
        ).rulings
        assert ruling.intervention.outcome == outcome


@pytest.mark.parametrize("strategy", ["progressive", "severity"])
def test_what_the_adapter_turns_out_to_be_able_to_do_counts_from_then_on(strategy):
    controller = Controller(Interventions(strategy=Strategy(type=strategy)), EVERY_CAPABILITY, restorable=True)
    controller.use_capabilities(EVERY_CAPABILITY - {"inject"})
    low = found(severity="low", confidence=0.1)
    _, rulings = controller.advance(
        controller.start(), Observed(step=50, issues=(low,)), RunState(run_id="r", step=50), START
    )
    assert [ruling.answer for ruling in rulings.rulings] == [None] and rulings.directives == ()


def test_other_strategies_judge_and_answer_in_one_step():
    settings = Interventions(strategy=Strategy(type="severity", effectiveness_steps=1))
    controller = Controller(settings, EVERY_CAPABILITY, restorable=True)
    run, state = RunState(run_id="r"), controller.start()
    state, first = controller.advance(state, Observed(step=1, issues=(found(),)), run, START)
    assert [ruling.intervention.level for ruling in first.rulings] == [THROTTLE] and first.judged == ()
    state, quiet = controller.advance(state, Observed(step=60, progressed=True), first.run, START + 999)
    assert quiet.rulings == () and [one.outcome for one in quiet.judged] == ["success"]
    assert quiet.run.interventions[-1].outcome == "success"
    state, second = controller.advance(state, Observed(step=70, issues=(found(),)), quiet.run, START + 2000)
    state, third = controller.advance(state, Observed(step=71, issues=(found(),)), second.run, START + 2200)
    assert [one.outcome for one in third.judged] == ["failure"]
    assert third.rulings[0].intervention.level == ROLLBACK


def test_what_is_over_makes_room_first_and_as_many_as_fit_are_kept():
    state = ControllerState()
    for number in range(MOST_EPISODES):
        state = state.with_episode(episode(id=f"e{number}", ending="solved" if number == 5 else None))
    assert len(state.episodes) == MOST_EPISODES
    state = state.with_episode(episode(id="new"))
    assert len(state.episodes) == MOST_EPISODES and state.episode("e5") is None and state.episode("e0") is not None
    state = state.with_episode(episode(id="newer"))
    assert state.episode("e0") is None and state.episode("e1") is not None, "all are open: the oldest goes"


def test_only_hints_that_failed_count_as_hints():
    known = TypeState(hints=1).judge(made(LADDER[HINT]), worked=False)
    assert (known.hints, known.streak, known.failures) == (2, 1, (START,))
    stronger = msgspec.structs.replace(made(LADDER[REMINDER]), level=REMINDER)
    known = known.judge(stronger, worked=False)
    assert (known.hints, known.streak) == (2, 2)
    known = known.judge(stronger, worked=True)
    assert (known.hints, known.streak, known.failures) == (0, 0, (START,))
    assert known.judged == {LADDER[HINT]: (False,), LADDER[REMINDER]: (False, True)}


@pytest.mark.parametrize(("prevented", "level"), [(True, THROTTLE), (False, STOP), ("yes", STOP), (None, STOP)])
def test_an_attempt_that_was_blocked_is_weighed_as_medium(prevented, level):
    driver = Driver(config("severity"))
    ruling = driver.ruling(issue("goal_drift", "critical", details={"prevented": prevented}))
    assert ruling.intervention.level == level


def test_a_second_hint_does_not_wait_for_the_time_of_an_escalation():
    delay = Strategy(escalation_delay_seconds=10_000)
    run = Run(
        Interventions(soft_correction=SoftCorrection(max_attempts=2), intervention_cooldown_seconds=0, strategy=delay)
    )
    first = run.alarm()
    second = run.sign("again", "again")
    assert [rulings.rulings[0].escalated for rulings in (first, second)] == [False, False]
    run.sign(*["again"] * 4)
    assert run.rungs == [LADDER[HINT]] * 2


def test_an_answer_says_what_was_before_it():
    run = Run()
    first = run.alarm()
    second = run.sign("again", "again", "again")
    run.sign("solved")
    third = run.alarm()
    why = [rulings.rulings[0].intervention.details["why"][0] for rulings in (first, second, third)]
    assert why == ["first intervention", "soft_correction did not work", "it is back"]


def test_an_answer_that_is_due_for_two_problems_of_one_agent_in_one_step_is_given_once():
    slight = found("goal_drift", LOST, severity="low")
    grave = found("scope_creep", Stuck(kind="pattern", key="elsewhere"), severity="critical")
    for order in ((slight, grave), (grave, slight)):
        run = Run()
        rulings = run.advance(Observed(step=60, issues=order)).rulings
        told = [(ruling.issue.type, ruling.intervention.outcome) for ruling in rulings]
        assert told == [("scope_creep", "pending")]
        assert [(one.level, one.due) for one in run.state.episodes] == [(0, None), (0, None)]


@pytest.mark.parametrize(
    ("status", "outcome", "why"),
    [
        ("pausing", "held_back", "the run waits for a person"),
        ("paused", "held_back", "the run waits for a person"),
        ("done", "not_applied", "the run has ended"),
    ],
)
def test_single_issues_get_no_answer_either_while_a_run_waits_or_when_it_has_ended(status, outcome, why):
    driver = Driver(config("severity"))
    driver.run = msgspec.structs.replace(driver.run, status=status)
    made = driver.ruling(issue()).intervention
    assert (made.outcome, made.reason) == (outcome, why)
