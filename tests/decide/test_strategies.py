"""Strategies: severity, pattern_specific, and functions of one's own."""

from __future__ import annotations

import pytest

from interlock.config.schema import Interventions
from interlock.core import ISSUE_TYPES, LADDER, SEVERITIES, BadInput
from interlock.decide import (
    PATTERN_TABLE,
    Situation,
    find_strategy,
    next_intervention,
    register_strategy,
    unregister_strategy,
)
from interlock.decide.strategies import ANYTHING_ELSE, band, level_from, pattern_specific, severity
from interlock.intervene import RecoveryNeeded

from .decide_builders import Driver, config, issue


def situation(level: int | None = None, effect: float | None = None, **changes) -> Situation:
    fields = {"issue": issue(), "score": 0.5, "combined": 0.5, "escalation": 0, "config": Interventions()}
    return Situation(**{**fields, "last_level": level, "effectiveness": effect, **changes})


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.7, 0.9])
def test_severity_takes_the_band_each_time(value):
    assert severity(situation(level=0, effect=1.0, combined=value)) == band(value)


TABLE = {
    "repetitive_errors": "soft_correction context_reinforcement checkpoint_rollback",
    "loop": "soft_correction context_reinforcement checkpoint_rollback",
    "goal_drift": "soft_correction context_reinforcement checkpoint_rollback",
    "exploration_wandering": "soft_correction context_reinforcement checkpoint_rollback",
    "scope_creep": "context_reinforcement resource_throttling emergency_stop",
    "resource_spiral": "resource_throttling checkpoint_rollback emergency_stop",
    "hallucination": "context_reinforcement checkpoint_rollback emergency_stop",
    "destructive_action": "context_reinforcement checkpoint_rollback emergency_stop",
    "long_wait": "soft_correction context_reinforcement checkpoint_rollback",
    "broken_calls": "soft_correction context_reinforcement checkpoint_rollback",
    "a_plug_in": "soft_correction context_reinforcement checkpoint_rollback",
}


@pytest.mark.parametrize("kind", TABLE)
def test_pattern_specific_picks_by_type_and_severity(kind):
    first, second, third = TABLE[kind].split()
    wanted = {"low": first, "medium": second, None: second, "high": third, "critical": third}
    for how_bad, rung in wanted.items():
        assert pattern_specific(situation(issue=issue(kind, how_bad))) == rung
        assert Driver(config("pattern_specific")).type(issue(kind, how_bad)) == rung


def test_the_table_speaks_of_known_types_and_rungs():
    assert set(PATTERN_TABLE) <= set(ISSUE_TYPES) <= set(TABLE)
    assert {rung for row in (*PATTERN_TABLE.values(), ANYTHING_ELSE) for rung in row} <= set(LADDER)


@pytest.mark.parametrize("kind", SEVERITIES)
def test_severity_answers_through_the_controller(kind):
    expected = {"low": 0, "medium": 2, "high": 3, "critical": 4}[kind]
    assert Driver(config("severity")).type(issue(severity=kind)) == LADDER[expected]


@pytest.mark.parametrize(
    ("level", "effectiveness", "following"),
    [(0, 0.59, 1), (0, 0.6, 0), (2, 0.0, 3), (2, 0.89, 2), (2, 0.9, 1), (0, 1.0, 0), (4, 0.1, 4), (3, None, 3)],
)
def test_the_next_intervention_follows_the_effectiveness_of_the_last(level, effectiveness, following):
    assert next_intervention(level, effectiveness) == following
    assert next_intervention(level, effectiveness, threshold=0.0) == level - (level > 0 and (effectiveness or 0) >= 0.9)


@pytest.mark.parametrize("strategy", ["severity", "pattern_specific"])
def test_a_rollback_without_a_safe_checkpoint_is_recorded_as_not_applied(strategy):
    driver = Driver(config(strategy), safe=False)
    ruling = driver.ruling(issue(severity="high"))
    assert (ruling.intervention.type, ruling.intervention.outcome) == ("checkpoint_rollback", "not_applied")
    assert isinstance(ruling.answer, RecoveryNeeded)
    assert [type(directive).__name__ for directive in ruling.directives] == ["Hold"]
    assert driver.state.acted == 0 and driver.state.pending == ()


def test_a_strategy_of_ones_own_is_found_by_name():
    def always_remind(found: Situation) -> str:
        return "context_reinforcement"

    register_strategy("always_remind", always_remind)
    try:
        assert Driver(config("always_remind")).type(issue()) == "context_reinforcement"
        assert Driver(config("custom")).type(issue()) == "context_reinforcement", "it is the only one"
        register_strategy("always_remind", always_remind)
        with pytest.raises(BadInput, match=r"is already registered as 'always_remind'[.] Choose another name"):
            register_strategy("always_remind", lambda found: 0)
    finally:
        unregister_strategy("always_remind")
    with pytest.raises(BadInput, match="there is no strategy 'always_remind'"):
        find_strategy("always_remind")


def test_a_strategy_can_be_handed_in():
    assert Driver(config("mine"), strategies={"mine": lambda found: 1}).type(issue()) == LADDER[1]


@pytest.mark.parametrize(
    ("name", "own", "said"),
    [
        ("progresive", {}, "there is no strategy 'progresive'"),
        ("custom", {}, "none is registered"),
        ("custom", {"a": pattern_specific, "b": severity}, "2 custom strategies"),
    ],
)
def test_an_unknown_strategy_is_an_error_that_names_the_known_ones(name, own, said):
    with pytest.raises(BadInput, match=said) as caught:
        find_strategy(name, own)
    assert "interventions.strategy.type" in str(caught.value) and "pattern_specific" in str(caught.value)


@pytest.mark.parametrize("name", ["", "severity"])
def test_a_built_in_name_cannot_be_taken(name):
    with pytest.raises(BadInput, match=f"{name!r} cannot be the name of a strategy of your own. Choose another name."):
        register_strategy(name, severity)


@pytest.mark.parametrize(("answer", "level"), [(-7, 0), (0, 0), (4, 4), (99, 4), ("checkpoint_rollback", 3)])
def test_an_answer_never_leaves_the_ladder(answer, level):
    assert level_from(answer, "mine") == level
    assert Driver(config("mine"), strategies={"mine": lambda found: answer}).type(issue()) == LADDER[level]


def test_an_answer_that_is_no_rung_is_an_error():
    with pytest.raises(BadInput, match="'explode'"):
        level_from("explode", "mine")
