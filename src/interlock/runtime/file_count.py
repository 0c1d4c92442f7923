"""Touching: how many files a call touches, where its step does not say."""

from __future__ import annotations

from ..core import Review, Step
from ..review import kind_of

CHANGES = ("create", "modify", "delete")


def count_files(step: Step, review: Review | None) -> int:
    """One for a tool that reads or changes a file, and for a command that changes any; more is not visible."""
    if step.kind != "tool_call" or step.tool is None or step.paths is not None:
        return 0
    if kind_of(step.tool.name)[1] in ("files", "editor"):
        return 1
    return 1 if review is not None and review.action in CHANGES else 0
