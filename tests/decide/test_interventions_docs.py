"""What docs/interventions.md shows, runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from interlock.core.extensions import INTERVENTIONS
from interlock.decide import unregister_strategy
from interlock.intervene import parse_templates
from interlock.intervene.templates import PLACEHOLDERS

DOCS = (Path(__file__).parents[2] / "docs" / "interventions.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_every_example_runs(code, capsys):
    before = list(INTERVENTIONS._registered)
    try:
        exec(compile(code, "docs/interventions.md", "exec"), {})
    finally:
        INTERVENTIONS._registered[:] = before
        if "register_strategy" in code:
            unregister_strategy("by_effect")
    if "advance(" in code:
        printed = capsys.readouterr().out
        assert printed.startswith("soft_correction pending") and printed.endswith("['success'] solved\n")


def test_the_placeholders_are_all_named():
    listed = DOCS.split("The placeholders:")[1].split("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(PLACEHOLDERS)


def test_the_example_of_hints_is_valid():
    text = re.search(r"```yaml\n# prompts.yaml\n(.*?)```", DOCS, re.DOTALL)
    assert text and parse_templates(text[1], "prompts.yaml").by_type["loop"].startswith("You are repeating")
