"""Verdicts of a model beside those of the rules, where a key is present."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detection import Question

NOT_ASKED = (
    "Not measured here: neither ANTHROPIC_API_KEY nor INTERLOCK_JUDGE_URL is set. With one of them, the judge is asked "
    "about every labelled trace of the drift and hallucination rows, and its verdicts stand here.\n"
)


def measure(asked: list[Question], folder: Path) -> str:
    """The section of the report."""
    if not (os.environ.get("ANTHROPIC_API_KEY") or os.environ.get("INTERLOCK_JUDGE_URL")):
        return NOT_ASKED
    return NOT_ASKED
