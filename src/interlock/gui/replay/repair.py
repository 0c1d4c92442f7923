"""Repair: the sections that differ, as a plan of their own."""

from __future__ import annotations

from pathlib import Path

from ..session import inside
from ..text import normalise, split_lines
from ..verifier.difference import differing_sections
from .plan import Edit, ReplayPlan, plan_edits
from .store import read_text


def repair_plan(plan: ReplayPlan, folder: Path) -> ReplayPlan:
    """What must be deleted and typed so that every file holds what the plan meant."""
    before = {path: normalise(read_text(inside(folder, path)) or "") for path in plan.paths}
    return plan_edits(plan.session, before, {path: _edits(plan.expected(path), before[path]) for path in plan.paths})


def _edits(expected: str, actual: str) -> list[Edit]:
    """Edits of whole lines, the last section first, so that none moves the rest."""
    wanted, found = split_lines(expected), split_lines(actual)
    starts = [0]
    for line in found:
        starts.append(starts[-1] + len(line))
    return [
        (starts[section.start], starts[section.end], "".join(section.expected))
        for section in differing_sections(wanted, found)
    ]
