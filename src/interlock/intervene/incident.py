"""Incident: what an emergency stop leaves behind."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct

from ..core import HISTORY, Action, Context, Issue, RunState, Spend, from_plain
from .incident_redaction import scrub, without_secrets
from .plan import stable_id

Known = TypeVar("Known")


class Incident(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that is needed to understand a stop later. Holds no secrets."""

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
    """The incident of a stop, from whatever is known of the run; hostile values are cut, never an error."""
    clean_issue = clean(issue)
    seen = tuple(clean(known) for known in state.issues if known.id != issue.id)
    bare = msgspec.structs.replace(state, issues=(), actions=(), interventions=state.interventions[-HISTORY:])
    raw = plain(bare)
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
    """An issue without secrets; one that cannot be written as JSON loses its details."""
    made = _converted(issue, Issue)
    if made is not None:
        return made
    return Issue(id=str(issue.id), type=str(issue.type), step=0, description=scrub(str(issue.description)))


def plain(value: object) -> object:
    """Plain JSON data without secrets; what cannot be written becomes its type's name."""
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
