"""Episodes: one problem from its first alarm to its end, and the rungs that it gets."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock.config.schema import EmergencyStop, Interventions, ResourceThrottling, SoftCorrection, Strategy
from interlock.core import (
    EVERY_CAPABILITY,
    LADDER,
    CheckpointInfo,
    Context,
    Hold,
    Inject,
    Issue,
    Notify,
    RunState,
    Stuck,
)
from interlock.decide import Controller, ControllerState, Observed, Rulings, Sighting, count_anew
from interlock.decide.state import Pace

START = 1_700_000_000.0
HINT, REMINDER, THROTTLE, ROLLBACK, STOP = range(5)
SAFE = CheckpointInfo(id="c1", time=START - 60, step=0, label="before")


def stuck(key: str = "pytest tests/a.py") -> Stuck:
    return Stuck(kind="failure", key=key, program="pytest", targets=("tests/a.py",), marks=(1,))


class Run:
    """An episode driven by hand: alarms and opportunities, one every `pace` seconds."""

    def __init__(self, config: Interventions | None = None, *, pace: float = 10, reachable: bool = False) -> None:
        self.config = config or Interventions()
        self.controller = Controller(self.config, EVERY_CAPABILITY, restorable=True)
        self.state = self.controller.start()
        self.run = RunState(
            run_id="run-1", context=Context(original_prompt="Fix it"), checkpoints=(SAFE,), reachable=reachable
        )
        self.pace, self.now, self.step = pace, START, 10
        self.rungs: list[str] = []
        self.outcomes: list[tuple[str, str]] = []
        self.texts: list[str] = []

    def advance(self, seen: Observed) -> Rulings:
        self.now += self.pace
        pace = self.state.pace.called(self.now)
        self.state = msgspec.structs.replace(self.state, pace=pace)
        run = msgspec.structs.replace(self.run, step=seen.step)
        self.state, rulings = self.controller.advance(self.state, seen, run, self.now)
        self.run = msgspec.structs.replace(rulings.run, checkpoints=(SAFE,))
        for ruling in rulings.rulings:
            if ruling.answer is not None:
                self.rungs.append(ruling.intervention.type)
                self.texts += [d.message.content for d in ruling.directives if isinstance(d, Inject)]
        self.outcomes += [(made.type, made.outcome) for made in rulings.judged]
        return rulings

    def alarm(self, kind: str = "loop", key: str = "pytest tests/a.py", **changes: Any) -> Rulings:
        self.step += 2
        found = Issue(
            id=f"{kind}:{self.step}", type=kind, step=self.step, description=f"a case of {kind}", severity="medium",
            evidence=(self.step,), started_step=9, stuck=stuck(key),
        )  # fmt: skip
        return self.advance(Observed(step=self.step, issues=(msgspec.structs.replace(found, **changes),)))

    def sign(self, *signs: str, episode: str = "e1") -> Rulings:
        for sign in signs:
            self.step += 2
            known = self.state.episode(episode)
            assert known is not None
            rulings = self.advance(Observed(step=self.step, sightings=(Sighting(episode, known.stuck, sign),)))  # type: ignore[arg-type]
        return rulings

    @property
    def episode(self) -> Any:
        return self.state.episodes[0]


def pauses(rulings: Rulings) -> list[str]:
    """Why a person has to decide."""
    return [directive.reason for directive in rulings.directives if isinstance(directive, Hold)]


def test_every_rung_gets_its_turn_and_its_two_or_one_chances():
    run = Run()
    run.alarm()
    levels = []
    for _ in range(24):
        run.sign("again")
        levels.append(run.episode.level)
        if run.rungs[-1] == LADDER[STOP]:
            break
    assert run.rungs == list(LADDER)
    assert [type_ for type_, outcome in run.outcomes if outcome == "failure"] == list(LADDER[:STOP])
    assert len(levels) <= 24


@pytest.mark.parametrize("pace", [0.4, 15, 90, 600])
def test_an_agent_that_ignores_everything_is_stopped_within_24_opportunities_at_any_pace(pace):
    run = Run(pace=pace)
    run.alarm()
    for opportunities in range(1, 25):  # noqa: B007
        run.sign("again")
        if run.rungs[-1] == LADDER[STOP]:
            break
    assert run.rungs == list(LADDER) and opportunities <= 24


def test_where_a_person_can_be_reached_the_run_pauses_instead_of_being_stopped():
    run = Run(reachable=True)
    run.alarm()
    run.sign(*["again"] * 12)
    assert run.rungs[:5] == [*LADDER[:STOP], "pause_for_person"]


def test_one_time_again_is_not_yet_a_failure_of_a_hint():
    run = Run()
    run.alarm()
    run.sign("again")
    assert run.outcomes == [] and run.rungs == [LADDER[HINT]]


@pytest.mark.parametrize(
    ("signs", "ending"),
    [
        (("solved",), "solved"),
        (("better",), "improved"),
        (("clear", "clear", "clear"), "stopped_happening"),
        (("again", "clear", "clear", "clear"), "stopped_happening"),
    ],
)
def test_what_counts_as_having_worked(signs, ending):
    run = Run()
    run.alarm()
    run.sign(*signs)
    assert run.outcomes == [(LADDER[HINT], "success")] and run.episode.ending == ending


@pytest.mark.parametrize("signs", [("clear", "clear"), ("clear", "clear", "changed", "clear"), ("changed",) * 6])
def test_with_neither_it_stays_pending(signs):
    run = Run()
    run.alarm()
    run.sign(*signs)
    assert run.outcomes == [] and run.episode.open


def test_what_is_due_is_postponed_and_never_dropped():
    run = Run(Interventions(intervention_cooldown_seconds=100, strategy=Strategy(escalation_delay_seconds=500)))
    run.alarm()
    rulings = run.sign("again", "again")
    (held,) = rulings.rulings
    assert held.intervention.outcome == "held_back" and "postponed" in held.intervention.reason
    run.sign(*["again"] * 47)
    assert run.rungs == [LADDER[HINT]], "500 s are not over"
    run.sign(*["again"] * 3)
    assert run.rungs == list(LADDER[:2])


def test_a_postponement_is_recorded_once():
    run = Run(Interventions(strategy=Strategy(escalation_delay_seconds=10_000)))
    run.alarm()
    held = [ruling for _ in range(20) for ruling in run.sign("again").rulings]
    assert [ruling.intervention.outcome for ruling in held] == ["held_back"]


def test_configured_hints_per_episode_come_before_the_next_rung():
    run = Run(Interventions(soft_correction=SoftCorrection(max_attempts=3)))
    run.alarm()
    run.sign(*["again"] * 10)
    assert run.rungs[:4] == [LADDER[HINT]] * 3 + [LADDER[REMINDER]]


def test_no_message_is_said_twice():
    run = Run(Interventions(soft_correction=SoftCorrection(max_attempts=5)))
    run.alarm()
    run.sign(*["again"] * 30)
    assert len(run.texts) == len(set(run.texts)) >= 8


def test_a_second_message_says_what_happened_since_the_first():
    run = Run()
    run.alarm()
    run.sign("again", "again", "again")
    assert "It happened 2 more times since message 1 about it." in run.texts[1] or "3 more times" in run.texts[1]


def test_failures_that_alternate_and_repetitive_errors_on_the_same_evidence_are_one_episode():
    run = Run()
    run.alarm()
    run.alarm("repetitive_errors", evidence=(run.step,), stuck=msgspec.structs.replace(stuck("x"), program="other"))
    run.alarm(stuck=msgspec.structs.replace(stuck("another failure of the same check"), marks=(2,)))
    assert len(run.state.episodes) == 1


def test_two_checks_that_fail_are_two_episodes():
    run = Run()
    run.alarm()
    other = Stuck(kind="failure", key="curl", program="curl", targets=("localhost",), marks=(9,))
    run.alarm("repetitive_errors", stuck=other, evidence=(400,))
    assert [episode.id for episode in run.state.episodes] == ["e1", "e2"]


def test_subagents_have_their_own_episodes():
    run = Run()
    for agent in ("one", "two"):
        run.step += 2
        found = Issue(id="x", type="loop", step=run.step, description="d", stuck=stuck(), agent=agent)
        run.advance(Observed(step=run.step, agent=agent, issues=(found,)))
    assert [episode.agent for episode in run.state.episodes] == ["one", "two"]


def test_a_relapse_begins_where_it_was_helped_and_the_second_one_higher():
    run = Run()
    for _ in range(6):
        run.alarm()
        if run.rungs[-1] == LADDER[STOP]:
            break
        run.sign("solved")
    assert run.rungs == [LADDER[0], LADDER[0], *LADDER[1:]]
    assert len(run.state.episodes) == 1


def test_ten_clean_opportunities_bring_a_relapse_one_rung_down():
    run = Run()
    for _ in range(4):
        run.alarm()
        run.sign("solved")
    assert run.rungs[-1] == LADDER[THROTTLE]
    run.sign(*["clear"] * 10)
    run.alarm()
    assert run.rungs[-1] == LADDER[THROTTLE], "the next relapse would have been one higher"


@pytest.mark.parametrize(
    "signs", [["clear"] * 9, [*["clear"] * 9, "changed"], [*["clear"] * 5, "changed", *["clear"] * 5]]
)
def test_fewer_than_ten_in_a_row_do_not(signs):
    run = Run()
    for _ in range(4):
        run.alarm()
        run.sign("solved")
    run.sign(*signs)
    run.alarm()
    assert run.rungs[-1] == LADDER[ROLLBACK]


def test_a_rung_without_a_safe_checkpoint_counts_as_tried():
    run = Run()
    run.alarm(started_step=0)
    unsafe = msgspec.structs.replace(SAFE, success_rate=0.1)
    while run.rungs[-1] != LADDER[STOP]:
        run.run = msgspec.structs.replace(run.run, checkpoints=(unsafe,))
        run.sign("again")
    assert run.rungs == [LADDER[0], LADDER[1], LADDER[2], LADDER[4]]


def test_waiting_gets_one_hint_and_one_alert_and_never_more():
    run = Run()
    rulings = run.alarm("long_wait", stuck=replace(stuck(), most=0))
    assert [type(directive) for directive in rulings.directives] == [Inject, Notify]
    run.sign(*["again"] * 40)
    assert run.rungs == [LADDER[HINT]]
    assert run.outcomes == [(LADDER[HINT], "not_judged")]


def test_what_may_get_a_reminder_at_most_never_gets_more():
    run = Run()
    run.alarm(stuck=replace(stuck(), most=REMINDER))
    run.sign(*["again"] * 40)
    assert run.rungs == [LADDER[HINT], LADDER[REMINDER]]


def test_what_moves_on_by_itself_says_nothing_about_the_answer():
    run = Run()
    run.alarm()
    run.sign("moved")
    assert run.outcomes == [(LADDER[HINT], "not_judged")]
    assert run.state.episodes[0].ending == "stopped_happening" and run.state.episodes[0].worked is None


def test_repetition_however_severe_begins_with_a_hint():
    run = Run()
    run.alarm(severity="critical", confidence=1.0)
    assert run.rungs == [LADDER[HINT]]


def test_damage_that_was_done_is_answered_by_its_severity():
    run = Run()
    run.alarm("destructive_action", severity="critical", stuck=Stuck(kind="pattern", key="rm"))
    assert run.rungs == [LADDER[STOP]]


def test_a_blocked_attempt_begins_with_a_hint_whatever_it_would_have_done():
    run = Run()
    run.alarm(
        "destructive_action", severity="critical", details={"prevented": True}, stuck=Stuck(kind="pattern", key="rm")
    )
    assert run.rungs == [LADDER[HINT]]


def test_the_next_episode_of_a_type_begins_by_what_helped_with_the_last():
    run = Run()
    run.alarm()
    run.sign("again", "again", "again", "solved")
    other = msgspec.structs.replace(stuck("tests/b.py"), targets=("tests/b.py",), marks=(7,))
    run.alarm(stuck=other, evidence=(300,))
    assert run.state.episodes[1].level == REMINDER, "the hint had not worked"


@pytest.mark.parametrize(("threshold", "level"), [(0.6, REMINDER), (0.0, HINT)])
def test_the_threshold_decides_where_the_next_episode_begins(threshold, level):
    run = Run(Interventions(strategy=Strategy(effectiveness_threshold=threshold)))
    run.alarm()
    run.sign("again", "again", "again", "solved")
    other = msgspec.structs.replace(stuck("tests/b.py"), targets=("tests/b.py",), marks=(7,))
    run.alarm(stuck=other, evidence=(300,))
    assert run.state.episodes[1].level == level


def test_what_cannot_be_said_counts_as_tried_with_the_same_chances():
    run = Run()
    run.controller = Controller(run.config, EVERY_CAPABILITY - {"inject"}, restorable=True)
    first = run.alarm()
    (made,) = (ruling.intervention for ruling in first.rulings)
    assert (made.outcome, made.reason) == ("not_applied", "soft_correction needs inject")
    assert (run.episode.level, run.episode.again, run.episode.postponed) == (HINT, 0, False)
    run.sign("again")
    assert run.rungs == []
    rulings = [*first.rulings, *(ruling for _ in range(8) for ruling in run.sign("again").rulings)]
    assert run.rungs[0] == LADDER[THROTTLE]
    ids = [ruling.intervention.id for ruling in rulings]
    assert ids == [f"i{number}" for number in range(1, len(ids) + 1)]
    assert all(outcome != "failure" or type_ != LADDER[HINT] for type_, outcome in run.outcomes)


def test_all_that_is_in_the_way_is_said():
    run = Run(Interventions(soft_correction=SoftCorrection(enabled=False)))
    run.controller = Controller(run.config, EVERY_CAPABILITY - {"inject"}, restorable=True)
    (ruling,) = run.alarm().rulings
    assert ruling.intervention.reason == "soft_correction is switched off; context_reinforcement needs inject"


def test_without_a_stop_the_run_pauses():
    run = Run(Interventions(emergency_stop=EmergencyStop(enabled=False)))
    run.alarm()
    run.sign(*["again"] * 12)
    assert run.rungs[4] == "pause_for_person"


def test_a_switched_off_rung_is_passed_over():
    run = Run(Interventions(resource_throttling=ResourceThrottling(enabled=False)))
    run.alarm()
    run.sign(*["again"] * 12)
    assert run.rungs[:4] == [LADDER[0], LADDER[1], LADDER[3], LADDER[4]]


def test_new_instructions_end_what_was_open():
    run = Run()
    run.alarm()
    run.advance(Observed(step=99, instructed=True))
    assert run.episode.ending == "new_instructions" and run.outcomes == []


def test_new_instructions_to_one_agent_end_nothing_of_another_and_nothing_that_is_over():
    run = Run()
    run.alarm()
    run.sign("solved")
    run.step += 2
    found = Issue(id="x", type="loop", step=run.step, description="d", stuck=stuck(), agent="two")
    run.advance(Observed(step=run.step, agent="two", issues=(found,)))
    run.advance(Observed(step=99, instructed=True))
    assert [(episode.agent, episode.ending) for episode in run.state.episodes] == [("", "solved"), ("two", None)]


def test_a_person_who_resumes_begins_anew():
    run = Run(reachable=True)
    run.alarm()
    run.sign(*["again"] * 12)
    assert run.state.failed > 0
    run.state = count_anew(run.state)
    assert run.episode.ending == "resumed" and run.state.failed == 0
    run.alarm()
    assert run.rungs[-1] == LADDER[REMINDER]


def test_resuming_ends_only_what_is_open_and_was_answered():
    run = Run()
    run.alarm()
    run.sign("solved")
    other = Stuck(kind="pattern", key="elsewhere")
    run.run = msgspec.structs.replace(run.run, status="paused")
    run.alarm("goal_drift", stuck=other, evidence=(900,), started_step=900)
    run.state = count_anew(run.state)
    assert [(one.ending, one.level) for one in run.state.episodes] == [("solved", HINT), (None, None)]


def test_a_person_is_told_what_was_tried_if_anything_was():
    run = Run(reachable=True)
    last = run.alarm()
    while run.rungs[-1] != "pause_for_person":
        last = run.sign("again")
    assert pauses(last) == ["4 interventions did not help: a case of loop"]
    damage = Run(reachable=True).alarm("destructive_action", severity="critical", stuck=Stuck(kind="pattern", key="rm"))
    assert pauses(damage) == ["a person is available: a case of destructive_action"]


def test_at_the_limit_a_person_is_told_of_the_limit_also_for_a_problem_that_is_new():
    run = Run(Interventions(max_interventions_per_execution=2), pace=600)
    run.alarm()
    run.sign(*["again"] * 4)
    new = run.alarm("goal_drift", stuck=Stuck(kind="pattern", key="elsewhere"), evidence=(900,), started_step=900)
    assert pauses(new) == ["2 interventions did not work: a case of goal_drift"]
    assert new.rulings[0].intervention.details["why"] == ["2 interventions did not work"], (
        "nobody said that one is there"
    )


def test_what_was_only_observed_does_not_count_once_interlock_intervenes():
    run = Run(Interventions(observe=True))
    run.alarm()
    run.sign(*["again"] * 6)
    recorded = run.state.recorded
    assert run.episode.level == THROTTLE
    run.controller = Controller(Interventions(), EVERY_CAPABILITY, restorable=True)
    (ruling,) = run.alarm().rulings
    assert (ruling.intervention.type, ruling.intervention.outcome) == (LADDER[HINT], "pending")
    assert ruling.intervention.id == f"i{recorded + 1}", "ids go on"


def test_a_quick_run_does_not_wait_for_seconds_that_are_hundreds_of_calls():
    pace = Pace()
    for number in range(10):
        pace = pace.called(START + 0.4 * number)
    assert pace.cooldown(Interventions()) == pytest.approx(0.4)
    assert pace.escalation_delay(Interventions()) == pytest.approx(1.2)
    assert pace.cooldown(Interventions(intervention_cooldown_seconds=30)) == 30
    slow = Pace().called(START).called(START + 600)
    assert (slow.cooldown(Interventions()), slow.escalation_delay(Interventions())) == (30, 120)


# Any sequence of events.

KEYS = ("a", "b", "c")
events = st.one_of(
    st.tuples(st.just("alarm"), st.sampled_from(KEYS), st.sampled_from(("loop", "repetitive_errors", "long_wait"))),
    st.tuples(st.just("signs"), st.lists(st.sampled_from((None, "again", "changed", "clear", "better", "solved")), min_size=3, max_size=3)),
    st.tuples(st.just("time"), st.sampled_from((0.1, 5.0, 400.0))),
    st.tuples(st.just("person"), st.sampled_from(("resumes", "instructs", "comes", "goes"))),
)  # fmt: skip
setups = st.builds(
    lambda hints, cooldown, delay, limit: Interventions(
        soft_correction=SoftCorrection(max_attempts=hints),
        intervention_cooldown_seconds=cooldown,
        max_interventions_per_execution=limit,
        strategy=Strategy(escalation_delay_seconds=delay),
    ),
    st.sampled_from((None, 1, 3)),
    st.sampled_from((None, 0, 30)),
    st.sampled_from((None, 0, 120)),
    st.sampled_from((10, 100)),
)


def play(config: Interventions, history: list[Any], *, store: bool) -> tuple[Run, list[Any]]:
    """Play events; `store` puts the state away and takes it back before each."""
    run, told = Run(config), []
    for event in history:
        if store:
            run.state = msgspec.json.decode(msgspec.json.encode(run.state), type=ControllerState)
        match event:
            case ("alarm", key, kind):
                base = Stuck(kind="repeat", key=key, program=key, marks=(ord(key),))
                told.append((event, run.alarm(kind, stuck=base, evidence=(1000 + ord(key),), details={"key": key})))
            case ("signs", signs):
                run.step += 2
                pairs = zip(run.state.episodes, signs, strict=False)
                seen = tuple(Sighting(one.id, one.stuck, sign) for one, sign in pairs)
                told.append((event, run.advance(Observed(step=run.step, sightings=seen))))
            case ("time", seconds):
                run.pace = seconds
            case ("person", "resumes"):
                run.state = count_anew(run.state)
            case ("person", "instructs"):
                run.advance(Observed(step=run.step, instructed=True))
            case ("person", what):
                run.run = msgspec.structs.replace(run.run, reachable=what == "comes")
    return run, told


@settings(max_examples=150, deadline=None)
@given(setups, st.lists(events, max_size=40))
def test_any_sequence_of_events_keeps_every_promise(config, history):
    levels: dict[str, int] = {}
    run, told = play(config, history, store=False)
    for _, rulings in told:
        acted = [ruling for ruling in rulings.rulings if ruling.answer is not None]
        assert len(acted) <= 1, "one answer per step"
        for ruling in acted:
            made = ruling.intervention
            assert made.episode is not None
            if ruling.issue.type == "long_wait":
                assert made.level == 0 or "did not work" in made.reason, "waiting never climbs"
            levels[made.episode] = made.level
    for episode in run.state.episodes:
        if episode.open:
            settled = episode.answer is None and episode.due is None
            assert not settled or episode.issue.type == "long_wait", "an open episode is answered or has a rung due"
        else:
            assert episode.due is None and episode.answer is None
    assert len({episode.id for episode in run.state.episodes}) == len(run.state.episodes) <= 48


@settings(max_examples=100, deadline=None)
@given(setups, st.lists(events, max_size=40))
def test_a_rung_goes_down_only_where_the_episode_was_over(config, history):
    run = Run(config)
    before: dict[str, tuple[int | None, bool, int]] = {}
    for at in range(len(history)):
        run, _ = play(config, history[: at + 1], store=False)
        for episode in run.state.episodes:
            was = before.get(episode.id)
            if was is not None and was[1] and episode.open and was[2] == episode.relapses and was[0] is not None:
                assert episode.level is None or episode.level >= was[0]
            before[episode.id] = (episode.level, episode.open, episode.relapses)


@settings(max_examples=100, deadline=None)
@given(setups, st.lists(events, max_size=40))
def test_a_restart_at_any_point_gives_the_same_decisions(config, history):
    plain, stored = play(config, history, store=False), play(config, history, store=True)
    assert plain[0].rungs == stored[0].rungs and plain[0].outcomes == stored[0].outcomes
    assert plain[0].state == stored[0].state


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(("again", "again", "again", "changed", "clear")), max_size=60))
def test_a_rung_that_is_due_is_applied_at_the_first_opportunity_that_the_times_allow(signs):
    run = Run(Interventions(intervention_cooldown_seconds=0, strategy=Strategy(escalation_delay_seconds=0)))
    run.alarm()
    for sign in signs:
        if not run.episode.open or run.rungs[-1] == LADDER[STOP]:
            break
        due = run.episode.due
        run.sign(sign)
        if sign == "again":
            assert run.episode.due is None, "it was applied at once"
        elif due is not None and run.episode.open:
            assert run.episode.due == due, "it waits for its opportunity"


def test_a_rollback_that_cannot_be_made_gives_way_to_a_stop_at_the_same_step():
    run = Run()
    run.controller = Controller(run.config, EVERY_CAPABILITY, restorable=False)
    run.alarm()
    while run.episode.level != THROTTLE:
        run.sign("again")
    while len(run.rungs) < 4:
        rulings = run.sign("again")
    assert run.rungs == [*LADDER[:ROLLBACK], LADDER[STOP]]
    made = [ruling.intervention for ruling in rulings.rulings]
    assert [(one.type, one.outcome) for one in made] == [(LADDER[ROLLBACK], "not_applied"), (LADDER[STOP], "pending")]
