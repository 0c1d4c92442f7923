"""Score, combined score and bands, at their exact borders."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.core import LADDER, SEVERITIES
from interlock.decide.strategies import band, combined, score

from .decide_builders import issue

BASES = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}


@pytest.mark.parametrize("severity", SEVERITIES)
def test_the_base_of_a_severity(severity):
    assert score(issue(severity=severity)) == BASES[severity]


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("confidence", [None, 0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("impact", [None, 0.0, 0.5, 1.0])
def test_score_is_base_times_confidence_times_one_plus_impact(severity, confidence, impact):
    expected = BASES[severity] * (1 if confidence is None else confidence) * (1 + (impact or 0))
    made = score(issue(severity=severity, confidence=confidence, impact_factor=impact))
    assert made == pytest.approx(min(1.0, expected))


def test_what_is_missing():
    assert score(issue(severity=None)) == 0.5
    assert score(issue(severity="high", confidence=None, impact_factor=None)) == 0.8


def test_inputs_and_result_are_clamped():
    assert score(issue(severity="low", confidence=7)) == 0.2
    assert score(issue(severity="low", impact_factor=9)) == 0.4
    assert score(issue(severity="high", confidence=-1)) == 0
    assert score(issue(severity="medium", impact_factor=-1)) == 0.5
    assert score(issue(severity="critical", impact_factor=1)) == 1.0
    assert score(issue(severity="high", impact_factor=0.5)) == 1.0


def test_what_is_not_a_number_counts_as_missing():
    assert score(issue(severity="high", confidence=math.nan, impact_factor=math.nan)) == 0.8


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize(("escalation", "added"), [(0, 0.0), (1, 0.3), (2, 0.6), (3, 0.9), (4, 0.9), (-1, 0.0)])
def test_combined_adds_three_tenths_per_escalation_up_to_three(severity, escalation, added):
    assert combined(BASES[severity], escalation) == pytest.approx(BASES[severity] + added)


def test_combined_may_exceed_one():
    assert combined(1.0, 3) == pytest.approx(1.9)


@pytest.mark.parametrize(
    ("value", "rung"),
    [
        (0.0, "soft_correction"),
        (0.2999999, "soft_correction"),
        (0.3, "context_reinforcement"),
        (0.4999999, "context_reinforcement"),
        (0.5, "resource_throttling"),
        (0.6999999, "resource_throttling"),
        (0.7, "checkpoint_rollback"),
        (0.8999999, "checkpoint_rollback"),
        (0.9, "emergency_stop"),
        (1.9, "emergency_stop"),
    ],
)
def test_bands_begin_at_their_borders(value, rung):
    assert LADDER[band(value)] == rung


def test_sums_that_are_not_exact_in_binary_meet_their_border():
    assert LADDER[band(combined(0.0, 3))] == "emergency_stop", "0.3 x 3 is a little below 0.9 in binary"
    assert LADDER[band(combined(0.1, 2))] == "checkpoint_rollback"
    assert LADDER[band(score(issue(severity="low", impact_factor=0.5)))] == "context_reinforcement"


numbers = st.none() | st.floats()


@given(st.none() | st.sampled_from(SEVERITIES), numbers, numbers, st.integers(-9, 99))
def test_any_issue_scores_between_zero_and_one_and_stays_on_the_ladder(severity, confidence, impact, escalation):
    made = score(issue(severity=severity, confidence=confidence, impact_factor=impact))
    assert 0 <= made <= 1
    assert made <= combined(made, escalation) <= made + 0.9 + 1e-9
    assert 0 <= band(combined(made, escalation)) < len(LADDER)
