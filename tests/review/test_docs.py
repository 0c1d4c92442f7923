"""What docs/review.md shows, runs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from interlock.calls import Extent, Verb, Zone
from interlock.review import review_command
from interlock.review.file_kinds import KINDS
from interlock.review.rules.load import read_file
from interlock.review.rules.model import Match

PAGE = (Path(__file__).parents[2] / "docs" / "review.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("code", blocks("python"))
def test_the_python_runs(code: str) -> None:
    exec(compile(code, "docs/review.md", "exec"), {})


def test_the_rule_that_is_shown_holds_for_its_cases(tmp_path: Path) -> None:
    shown = next(block for block in blocks("yaml") if "deploy.production" in block)
    path = tmp_path / "deploy.yaml"
    path.write_text(shown)
    (rule,) = read_file(path).rules
    for case in rule.matches:
        assert review_command(case, rules=str(path)).rules == ("deploy.production",)
    for case in rule.passes:
        assert review_command(case, rules=str(path)).rules == ()
    assert review_command("deploy --region eu production", rules=str(path)).verdict == "block"


def test_the_answers_that_are_shown_are_given() -> None:
    answers = [json.loads(line) for line in PAGE.splitlines() if line.startswith('{"command":')]
    assert len(answers) == 2
    for answer, cwd in zip(answers, (None, "/srv/app"), strict=True):
        review = review_command(answer["command"], cwd=cwd)
        assert (review.verdict, review.risk, list(review.rules), review.reason, review.instead) == tuple(
            answer[key] for key in ("verdict", "risk", "rules", "reason", "instead")
        )


def test_every_key_zone_and_kind_is_on_the_page() -> None:
    known = (*get_args(Verb), *get_args(Zone), *get_args(Extent))
    for name in (*Match.__struct_fields__, *KINDS, *known):
        assert re.search(rf"\b{name}\b", PAGE), name
