"""What is said of a dangerous call fits what it does, and whether it ran."""

import pytest

from interlock.intervene.advice import BY_RULE, LOSS, SECRETS, advice_for, danger_of
from interlock.review.rules.load import shipped
from tests.intervene.intervene_builders import issue

BLOCKING = [rule.id for rule in shipped().rules if rule.verdict == "block"]


def dangerous(*rules: str, **details: object):
    return issue("destructive_action", details={"rules": list(rules), **details})


@pytest.mark.parametrize(
    ("rule", "word"),
    [
        ("secrets.read", "passwords"),
        ("fetch.pipe-to-shell", "code"),
        ("privilege.sudoers", "rights"),
        ("supervision.tamper", "weaken"),
        ("packages.publish", "others depend"),
        ("fs.delete-system", "destroys data"),
        ("secrets.store", "destroys data"),
    ],
)
def test_the_cause_names_the_harm_whether_the_call_ran_or_not(rule, word):
    assert word in advice_for(dangerous(rule)).cause
    refused = advice_for(dangerous(rule, prevented=True))
    assert word in refused.cause
    assert "blocked" in refused.cause


def test_nothing_is_to_be_restored_after_a_refusal():
    (ran,) = advice_for(dangerous("fs.delete-system")).immediate
    (refused,) = advice_for(dangerous("fs.delete-system", prevented=True)).immediate
    assert "restore it" in ran
    assert "No harm done" in refused


def test_the_first_rule_speaks_and_without_a_rule_it_is_loss():
    assert danger_of(dangerous("secrets.read", "fs.delete-system")) is SECRETS
    assert danger_of(dangerous()) is LOSS
    assert danger_of(issue("destructive_action", details={"rules": 7})) is LOSS


def test_every_entry_of_the_table_stands_for_a_rule_that_blocks():
    assert [prefix for prefix, _ in BY_RULE if not any(rule.startswith(prefix) for rule in BLOCKING)] == []
