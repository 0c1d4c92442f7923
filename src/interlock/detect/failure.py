"""Failure: whether a result is one, and its message without what differs from case to case."""

from __future__ import annotations

import re

from ..core import Step

MESSAGE = 200
"""Characters of a message that are compared."""

_ERROR_LINE = re.compile(
    r"^.*?((?:[A-Z]\w*)?(?:Error|Exception|Failure)\b:?.*|error:.*|fatal:.*"
    r"|.*(?:not found|No such file|denied|refused).*)$",
    re.MULTILINE,
)
_DETAIL = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|(?:/[\w.@-]+)+/?|\d+")


def read_failure(step: Step, text: str) -> str | None:
    """The normalised message of a result that failed; None for one that did not."""
    failed = step.error is True or step.exit_code not in (None, 0)
    if not failed and step.error is None:
        failed = text.lstrip()[:40].lower().startswith(("error", "traceback", "fatal:"))
    if not failed:
        return None
    lines = _ERROR_LINE.findall(text)
    message = lines[-1] if lines else text.strip()
    return _DETAIL.sub("~", message.strip()[:MESSAGE]).strip()
