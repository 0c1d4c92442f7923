"""Ending: how a run ended, decided once and shown everywhere alike; NotDone: what did not happen in it."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

Ending = Literal[
    "proven", "done", "unproven", "contradicted", "broken", "refused", "limit", "stopped", "cancelled", "failed"
]
"""How a run ended.

`proven` by `done_when`; `done`: its claims are proven, or there are none; `unproven`: a claim has no check, or only the
agent's own; `contradicted` by a check; `broken`: a clause of the contract, restored or not; `refused`: a call that it
needed was rejected or never answered.
"""
ENDINGS: tuple[Ending, ...] = get_args(Ending)

NotDoneKind = Literal["contract", "check", "claim", "blocked", "rejected", "expired", "waiting", "undo", "alert"]
"""`contract`: a clause was broken; `undo`: no checkpoint was made; `alert`: one could not be sent."""
NOT_DONE: tuple[NotDoneKind, ...] = get_args(NotDoneKind)
"""From the most serious to the least."""


class NotDone(Struct, frozen=True, omit_defaults=True):
    """One thing that did not happen in a run: what, why, at which step, and how often."""

    kind: NotDoneKind
    what: str
    why: str = ""
    step: int = 0
    times: int = 1

    @property
    def words(self) -> str:
        """One line."""
        times = f" ({self.times} times)" if self.times > 1 else ""
        return f"{LABELS[self.kind]}: {self.what}{times}" + (f" ({self.why})" if self.why else "")


LABELS: dict[NotDoneKind, str] = {
    "contract": "contract",
    "check": "check",
    "claim": "claim",
    "blocked": "blocked",
    "rejected": "rejected",
    "expired": "not approved in time",
    "waiting": "never answered",
    "undo": "no undo",
    "alert": "alert not sent",
}
