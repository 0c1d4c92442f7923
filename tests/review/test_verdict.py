"""The numbers of the risk table at their borders."""

from __future__ import annotations

import pytest

from interlock.config.schema import RationalityLevels, Review, RiskLevels
from interlock.core import VERDICTS, Context, Step, Tool, Verdict
from interlock.core.decision import Level
from interlock.review import Reviewer
from interlock.review.judgement import RISKS
from interlock.review.verdict import TABLE, decide, rationality_level, risk_level, strongest, with_additions

LEVELS = RiskLevels()


def test_base_risks_are_the_specified_ones() -> None:
    assert RISKS == {
        "delete": 0.8, "network": 0.6, "modify": 0.4, "create": 0.3, "read": 0.1, "unknown": 0.4, "unparsable": 0.7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("risk", "level"),
    [(0.0, "low"), (0.59, "low"), (0.6, "medium"), (0.79, "medium"), (0.8, "high"), (0.94, "high"), (0.95, "critical")],
)
def test_risk_levels_begin_where_they_should(risk: float, level: Level) -> None:
    assert risk_level(risk, LEVELS) == level


@pytest.mark.parametrize(
    ("rationality", "level"),
    [(1.0, "high"), (0.8, "high"), (0.79, "medium"), (0.5, "medium"), (0.49, "low"), (0.0, "low")],
)
def test_rationality_levels_begin_where_they_should(rationality: float, level: Level) -> None:
    assert rationality_level(rationality, RationalityLevels()) == level


@pytest.mark.parametrize(
    ("risk", "high", "medium", "low"),
    [
        ("low", "allow", "allow", "warn"),
        ("medium", "allow", "warn", "modify"),
        ("high", "warn", "modify", "block"),
        ("critical", "block", "block", "block"),
    ],
)
def test_the_table_is_the_specified_one(risk: Level, high: Verdict, medium: Verdict, low: Verdict) -> None:
    assert (TABLE[risk, "high"], TABLE[risk, "medium"], TABLE[risk, "low"]) == (high, medium, low)


def test_levels_can_be_configured() -> None:
    strict = RiskLevels(medium=0.1, high=0.2, critical=0.3)
    assert risk_level(0.3, strict) == "critical"
    assert decide(0.3, 0.6, LEVELS, RationalityLevels(medium=0.7, high=0.9)) == "warn"


@pytest.mark.parametrize(("failures", "added"), [(0, 0.0), (1, 0.1), (2, 0.2), (3, 0.4), (7, 0.4)])
def test_earlier_failures_add_to_the_risk(failures: int, added: float) -> None:
    assert with_additions(0.1, outside=False, failures=failures, levels=LEVELS) == pytest.approx(0.1 + added)


def test_leaving_the_expected_paths_adds_to_the_risk() -> None:
    assert with_additions(0.4, outside=True, failures=0, levels=LEVELS) == pytest.approx(0.7)
    assert with_additions(0.1, outside=True, failures=2, levels=LEVELS) == pytest.approx(0.6)


@pytest.mark.parametrize("base", [0.6, 0.7, 0.8, 1.0])
def test_additions_never_make_a_step_critical(base: float) -> None:
    risk = with_additions(base, outside=True, failures=9, levels=LEVELS)
    assert risk_level(risk, LEVELS) == "high"


@pytest.mark.parametrize("critical", [0.95, 0.8, 0.7, 0.3])
def test_a_lower_critical_level_never_loosens_a_verdict(critical: float) -> None:
    levels = RiskLevels(medium=min(0.6, critical), high=min(0.7, critical), critical=critical)
    risk = with_additions(0.8, outside=False, failures=0, levels=levels)
    assert decide(risk, 1.0, levels, RationalityLevels()) == "warn"
    reviewer = Reviewer(Review(risk_levels=levels), Context())
    call = Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=Tool("bash", {"command": "rm x"}))
    assert reviewer.review(call).verdict == "warn"


def test_the_strongest_verdict_wins() -> None:
    for one in VERDICTS:
        for other in VERDICTS:
            assert strongest(one, other) == VERDICTS[max(VERDICTS.index(one), VERDICTS.index(other))]
