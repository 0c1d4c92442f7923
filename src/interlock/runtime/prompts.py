"""Reading the user's file of hint templates."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core import ISSUE_TYPES, BadInput
from ..intervene import BUILT_IN, Templates, parse_templates


def read_templates(path: str | None, issue_types: Iterable[str] = ISSUE_TYPES) -> Templates:
    """The templates of `soft_correction.custom_prompts_path` over the built-in ones; without a path the built-in."""
    if path is None:
        return BUILT_IN
    file = Path(path).expanduser()
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the file of hints cannot be read: {error.strerror if isinstance(error, OSError) else error}",
            where=str(file),
            todo="See interventions.soft_correction.custom_prompts_path.",
        ) from None
    return parse_templates(text, str(file), issue_types)
