"""What a run's contract records: the contract itself, what broke it, and the answers at the end of a turn."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from ..core import Contract

SHOWN = 4
"""Paths that one line names."""


class ContractRecord(Struct, frozen=True, omit_defaults=True):
    """kind `contract`: what the run may and must do, from now on.

    `setup` are digests of what sets its checks up, `refs` the branches of its repository.
    """

    contract: Contract
    setup: dict[str, str] = {}
    refs: dict[str, str] = {}


class BreachRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `breach`: what happened against a clause: files that were restored, or left alone; commits and pushes."""

    step: int
    clause: str
    restored: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    safety_id: str = ""
    git: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What broke the clause, and what was done about it."""
        parts = [f"restored {_some(self.restored)}"] if self.restored else []
        parts += [f"{_some(self.left)} changed and was not restored"] if self.left else []
        return "; ".join([*parts, *self.git[:SHOWN]])


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

    @property
    def words(self) -> str:
        """The command with its result."""
        how = "passed" if self.passed else self.why or f"failed with exit status {self.exit_status}"
        return f"`{self.command}` {how}"


class StopGateRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `stop_gate`: the agent said that it is done, and what followed.

    `returns` counts how often failing commands went back to the agent; `claims` are those that it was asked to prove.
    """

    step: int
    outcome: Literal["passed", "returned", "asked", "unproven", "observed"]
    results: tuple[CommandResult, ...] = ()
    claims: tuple[str, ...] = ()
    returns: int = 0
    tree: str = ""


def _some(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + more
