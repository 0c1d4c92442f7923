"""Secrets: taken out of whatever an incident keeps."""

from __future__ import annotations

import re
from functools import lru_cache

import re2

from ..core import late_pattern

REMOVED = "[removed]"

MAX_DEPTH = 12
"""Deeper nesting is cut: nothing that we write goes that deep, so it is hostile."""

SECRET_NAMES = late_pattern(
    r"(?:^|[_\-.])(?:password|passwd|pwd|secret|secrets|api_?key|access_?key|private_?key|auth|authorization|bearer|"
    r"credential|credentials|cookie|session_?key|token)$",
    re.IGNORECASE,
)

SECRET_TEXT = late_pattern(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    re.DOTALL,
)

ASSIGNED = late_pattern(
    r"(?i)((?:password|passwd|secret|api[_-]?key|access[_-]?key|token|authorization)\s*[=:]\s*(?:bearer\s+)?)"
    r"(\"[^\"]+\"|'[^']+'|[^\s,;&\"']{4,})"
)

URL_USER = late_pattern(r"(\b[a-z][a-z0-9+.-]{1,20}://[^/\s:@]{1,100}:)[^/\s@]{1,500}(@)", re.IGNORECASE)

HINT = re2.Set.SearchSet()
HINT.Add(
    r"(?i)-----BEGIN|\b[spr]k-|gh[pousr]_|github_pat_|xox[abprs]-|AKIA|ASIA|eyJ"
    r"|password|passwd|secret|api[_-]?key|access[_-]?key|token|authorization"
)
HINT.Compile()
"""What either of the first two has about it: one quick look, before they are tried at every letter."""

SHORTEST = 9
"""No shorter text can hold what these patterns look for."""

LONGEST = 20_000
"""Longer texts are cut: nothing may hold up a stop."""


def without_secrets(value: object, depth: int = 0) -> object:
    """The same plain value with whatever looks like a secret replaced; never fails, whatever it is given."""
    if depth > MAX_DEPTH:
        return REMOVED
    if isinstance(value, str):
        return scrub(value)
    if value is None or isinstance(value, (int, float)):
        return value
    if isinstance(value, dict):
        return {
            str(key): REMOVED if isinstance(item, str) and _names_secret(str(key)) else without_secrets(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [without_secrets(item, depth + 1) for item in value]
    return f"[{type(value).__name__}]"


@lru_cache(256)
def _names_secret(key: str) -> bool:
    return SECRET_NAMES.search(key) is not None


def scrub(text: str) -> str:
    """A text without keys, tokens and passwords."""
    if len(text) < SHORTEST:
        return text
    if len(text) > LONGEST:
        text = text[:LONGEST] + " …"
    if HINT.Match(text.encode("utf-8", "replace")):
        text = SECRET_TEXT.sub(REMOVED, text)
        text = ASSIGNED.sub(lambda found: found[1] + REMOVED, text)
    return URL_USER.sub(rf"\1{REMOVED}\2", text) if "://" in text else text
