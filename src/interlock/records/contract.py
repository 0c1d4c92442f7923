"""What a run's contract records: the contract itself, what broke it, and the answers at the end of a turn."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import Contract


class ContractRecord(Struct, frozen=True, omit_defaults=True):
    """kind `contract`: what the run may and must do, from now on; and digests of what sets its checks up."""

    contract: Contract
    setup: dict[str, str] = {}


class BreachRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `breach`: files that changed against a clause; those that were restored, and those that were left alone."""

    step: int
    clause: str
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    safety_id: str = ""


class CommandResult(Struct, frozen=True, omit_defaults=True):
    """One command of `done_when`, as Interlock ran it. Without an exit status it took too long or could not start."""

    command: str
    exit_status: int | None = None
    seconds: float = 0.0
    output: str = ""
    why: str = ""

    @property
    def passed(self) -> bool:
        return self.exit_status == 0 and not self.why


class StopGateRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `stop_gate`: the agent said that it is done, and what came of it.

    `returns` counts how often failing commands went back to the agent; `claims` are those that it was asked to prove.
    """

    step: int
    outcome: Literal["passed", "returned", "asked", "unproven", "observed"]
    results: tuple[CommandResult, ...] = ()
    claims: tuple[str, ...] = ()
    returns: int = 0
    tree: str = ""
