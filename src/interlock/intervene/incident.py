"""Incident: the record of an emergency stop, without secrets; Plan: how a person can help a stuck run."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from typing import TypeVar

import msgspec
import re2
from msgspec import Struct

from ..core import HISTORY, Action, Context, Issue, Plan, RunState, Spend, from_plain, late_pattern
from .advice import advice_for

Known = TypeVar("Known")


class Incident(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything needed to understand a stop later, without secrets."""

    id: str
    time: float
    run_id: str
    issue: Issue
    state: dict[str, object]
    context: Context
    patterns: tuple[Issue, ...]
    usage: Spend
    actions: tuple[Action, ...]


def make_incident(issue: Issue, state: RunState, now: float) -> Incident:
    """The incident of a stop, from whatever is known about the run; hostile values are truncated and raise no error."""
    clean_issue = clean(issue)
    seen = tuple(clean(known) for known in state.issues if known.id != issue.id)
    trimmed = msgspec.structs.replace(state, issues=(), actions=(), interventions=state.interventions[-HISTORY:])
    raw = plain(trimmed)
    return Incident(
        id=stable_id("incident", state.run_id, issue.id, str(now)),
        time=now,
        run_id=state.run_id,
        issue=clean_issue,
        state=raw if isinstance(raw, dict) else {},
        context=_converted(state.context, Context) or Context(),
        patterns=(*seen, clean_issue)[-HISTORY:],
        usage=state.spend,
        actions=tuple(made for action in state.actions[-HISTORY:] if (made := _converted(action, Action)) is not None),
    )


def clean(issue: Issue) -> Issue:
    """An issue without secrets; one that cannot be encoded as JSON loses its details."""
    made = _converted(issue, Issue)
    if made is not None:
        return made
    return Issue(id=str(issue.id), type=str(issue.type), step=0, description=scrub(str(issue.description)))


def plain(value: object) -> object:
    """Plain JSON data without secrets; a value that cannot be encoded becomes its type's name."""
    try:
        raw = msgspec.to_builtins(value, str_keys=True, enc_hook=lambda odd: f"[{type(odd).__name__}]")
    except (TypeError, ValueError, RecursionError):
        return {}
    return without_secrets(raw)


def _converted(value: Known, kind: type[Known]) -> Known | None:
    try:
        return from_plain(plain(value), kind)
    except msgspec.ValidationError:
        return None


REMOVED = "[removed]"

MAX_DEPTH = 12
"""Deeper nesting is cut off: nothing that we write is that deep, so it is hostile."""

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
"""A quick check for the first two patterns, before they are tried at every character."""

SHORTEST = 9
"""Shorter texts cannot match these patterns."""

LONGEST = 20_000
"""Longer texts are truncated: nothing may delay a stop."""


def without_secrets(value: object, depth: int = 0) -> object:
    """The same plain value with anything that looks like a secret replaced; never fails, whatever the input."""
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


def make_plan(issue: Issue, state: RunState, now: float, why: str) -> Plan:
    """A recovery plan for an issue that automatic interventions can no longer answer."""
    return Plan(
        id=stable_id("plan", state.run_id, issue.id, str(now)),
        issue=issue,
        steps=(
            f"Review what happened: {why}.",
            f"See the issue: {issue.description or issue.type}",
            *advice_for(issue).immediate,
            "Resume the run, or cancel it.",
        ),
        constraints=(*state.context.constraints, *state.context.boundaries),
        success_criteria=(
            f"the {issue.type} does not come back after resuming",
            "the task makes progress: files change or checks pass",
        ),
        escalation_path=("the run stays paused until a person resumes or cancels it",),
    )


def stable_id(prefix: str, *parts: str) -> str:
    """A deterministic id, since pure code has no randomness."""
    return f"{prefix}-{hashlib.sha256(chr(0).join(parts).encode('utf-8', 'replace')).hexdigest()[:10]}"
