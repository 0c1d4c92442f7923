"""A user's own rules: added, disabled, and refused with an error that says where."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.config.schema import Review as ReviewConfig
from interlock.core import BadInput, Context, Step, Tool
from interlock.review import Reviewer, review_command

RULE = """
rules:
  - id: ours.no-friday-deploys
    why: Deploys on a Friday spoil the weekend.
    instead: Deploy on Monday.
    verdict: block
    match: {program: deploy, words: [production], without: [--plan]}
"""


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_rule_of_ones_own_is_used(tmp_path: Path) -> None:
    rules = write(tmp_path / "ours.yaml", RULE)
    review = review_command("sudo deploy production", rules=rules)
    assert (review.verdict, review.rules) == ("block", ("ours.no-friday-deploys",))
    assert review.instead == "Deploy on Monday."
    assert review_command("deploy production --plan", rules=rules).verdict == "allow"
    assert review_command("rm -rf /", rules=rules).verdict == "block"


def test_a_folder_of_rules_is_read(tmp_path: Path) -> None:
    write(tmp_path / "a.yaml", RULE)
    write(tmp_path / "b.yml", "disabled: [git.force-push]\n")
    assert review_command("deploy production", rules=str(tmp_path)).verdict == "block"
    assert review_command("git push --force", rules=str(tmp_path)).verdict == "allow"


def test_the_strongest_rule_wins_whatever_the_order(tmp_path: Path) -> None:
    mild = RULE.replace("verdict: block", "verdict: allow").replace(
        "program: deploy, words: [production]", "program: git"
    )
    rules = write(tmp_path / "ours.yaml", mild)
    review = review_command("git push --force", rules=rules)
    assert review.verdict == "block"
    assert review.rules == ("git.force-push", "ours.no-friday-deploys")


def test_the_configuration_names_the_rules(tmp_path: Path) -> None:
    config = ReviewConfig(rules_path=write(tmp_path / "ours.yaml", RULE))
    step = Step(
        run_id="r", index=0, role="assistant", kind="tool_call", tool=Tool("bash", {"command": "deploy production"})
    )
    assert Reviewer(config, Context()).review(step).verdict == "block"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: [", "not YAML"),
        ("- a", "no list of rules"),
        ("rules: 3", "no list of rules"),
        ("rules: [3]", "rule number 1: is not a mapping"),
        ("rule: []", "unknown field `rule`"),
        (RULE.replace("verdict: block", "verdict: deny"), "ours.no-friday-deploys"),
        (RULE.replace("why:", "because:"), "unknown field `because`"),
        (RULE.replace("program: deploy, words: [production], ", ""), "neither verb nor program"),
        (RULE.replace("words: [production]", "word: [production]"), "unknown field `word`"),
        (RULE.replace("words: [production]", "verb: write, zone: nowhere"), "match.zone names 'nowhere'"),
        (RULE.replace("words: [production]", "verb: explode"), "match.verb names 'explode'"),
        (RULE.replace("words: [production]", "zone: home"), "match has no verb"),
        (RULE.replace("program: deploy", "program: '>'"), "match.program names an operator"),
        (RULE.replace("words: [production]", "paths: [home]"), "rule ours.no-friday-deploys: match.paths is not known"),
        (RULE.replace("words: [production]", "text: x"), "rule ours.no-friday-deploys: match.text is not known"),
        (RULE.replace("words: [production]", "sql: [drop]"), "rule ours.no-friday-deploys: match.sql is not known"),
        (RULE.replace("id: ours.no-friday-deploys", "id: Ours"), "matching regex"),
        (RULE + RULE.replace("\nrules:", ""), "twice"),
        (RULE + "valued: {deploy: --region}\n", "the key valued is not known any more"),
    ],
)
def test_a_bad_rule_is_refused_with_file_rule_and_field(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "bad.yaml", text)
    with pytest.raises(BadInput) as caught:
        review_command("ls", rules=path)
    assert said in str(caught.value)
    assert str(tmp_path / "bad.yaml") in str(caught.value)


def test_rules_that_are_not_there_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no rules"):
        review_command("ls", rules=str(tmp_path / "missing.yaml"))


def test_binary_rules_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="not YAML"):
        review_command("ls", rules=str(tmp_path))
