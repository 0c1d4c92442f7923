"""Time-outs: whether a call was ended at a time limit, by its exit status or by what its client says."""

from __future__ import annotations

import re

LOOK = 320
"""Characters at either end of a result that are read."""

_LIMIT = re.compile(
    rb"^[^\n]{0,60}\b(?:command|execution|process|tool|bash|shell|script|program|cell|timed)\b[^\n]{0,160}?\b(?:"
    rb"timed out(?: (?:after|because) [\w~]|[.)]?$| and (?:has been |was )?killed)"
    rb"|cancell?ed because it (?:exceeded|took more)|(?:terminated|killed)[^\n]{0,30} after (?:exceeding|[\d~])"
    rb"|exceeded [^\n]{0,20}time|has no new output after [\d~]|has not returned in [\d~]|took too long)"
    rb"|^\W*(?:execution )?time(?:d )?out(?: after [^\n]*)?[.!)\]]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""How clients report a call that they ended."""
_LIMIT_HINTS = ("ime", "IME", "cancel", "no new output", "not returned", "too long")
_LINES_READ = 3
LIMITS = (124, 137)
"""The exit status of a command that `timeout` ended, and of one that was killed."""


def read_time_out(exit_code: int | None, content: str, quoted: str) -> bool:
    """Whether a call was ended at a time limit, by its exit status or by what the client says at either end.

    `quoted` is the text of the call, which clients repeat.
    """
    if exit_code in LIMITS:
        return True
    if exit_code == 0:
        return False
    if quoted and quoted in content[: 2 * LOOK]:
        content = content.replace(quoted, "~", 1)
    text = content if len(content) <= 2 * LOOK else f"{content[:LOOK]}\n{content[-LOOK:]}"
    if not any(hint in text for hint in _LIMIT_HINTS):
        return False
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 2 * _LINES_READ:
        lines = lines[:_LINES_READ] + lines[-_LINES_READ:]
    return _LIMIT.search("\n".join(lines).encode("utf-8", "replace")) is not None
