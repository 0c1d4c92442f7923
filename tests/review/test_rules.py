"""Every shipped rule holds for the cases that stand beside it, and only for those."""

from __future__ import annotations

import pytest

from interlock.core import VERDICTS
from interlock.review import review_command
from interlock.review.rules.build import build
from interlock.review.rules.load import SHIPPED, SOURCE, read_file
from interlock.review.rules.model import Rule

RULES = read_file(SOURCE).rules
MATCHES = [pytest.param(rule, case, id=f"{rule.id}: {case[:60]}") for rule in RULES for case in rule.matches]
PASSES = [pytest.param(rule, case, id=f"{rule.id}: {case[:60]}") for rule in RULES for case in rule.passes]
OF_TOOLS = {"effects.destroy", "effects.delete"}
"""Rules about tools, which no command shows."""


@pytest.mark.parametrize(("rule", "case"), MATCHES)
def test_a_rule_holds_for_its_cases(rule: Rule, case: str) -> None:
    review = review_command(case)
    assert rule.id in review.rules
    assert VERDICTS.index(review.verdict) >= VERDICTS.index(rule.verdict)


@pytest.mark.parametrize(("rule", "case"), PASSES)
def test_a_rule_lets_its_other_cases_pass(rule: Rule, case: str) -> None:
    review = review_command(case)
    assert rule.id not in review.rules
    assert review.verdict != "block"


@pytest.mark.parametrize("rule", RULES, ids=[rule.id for rule in RULES])
def test_a_rule_explains_itself_in_one_line_and_has_cases(rule: Rule) -> None:
    assert (rule.matches and rule.passes) or rule.id in OF_TOOLS
    assert "\n" not in rule.why + rule.instead
    assert rule.why.endswith(".") and rule.instead.endswith(".")


def test_the_built_file_is_what_the_rules_say() -> None:
    assert SHIPPED.read_bytes() == build(), "run: python -m interlock.review.rules.build"
