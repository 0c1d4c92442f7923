"""Types of proof of done: claims, checks, and verdicts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ClaimKind = Literal["tests", "types", "lint", "build", "endpoint", "commit", "push", "file", "done"]
Verdict = Literal["proven", "stale", "contradicted", "unproven"]
Outcome = Literal["passed", "failed", "none", "unknown"]
"""The result of a check; `none` if nothing was checked, `unknown` if its exit status is hidden."""


class Claim(Struct, frozen=True, omit_defaults=True):
    """What an agent states as a fact.

    `subject` is the file or address that it names, `every` that it speaks of all; `printed` that it is in what the
    agent has a command print or writes into a log: nothing that ran afterwards bears that out.
    """

    kind: ClaimKind
    text: str
    step: int = 0
    subject: str = ""
    every: bool = False
    printed: bool = False


class CheckRun(Struct, frozen=True, omit_defaults=True):
    """A check that ran: its kind, its command, how it went, and the tree that it left (a checkpoint's id)."""

    step: int
    kind: ClaimKind
    runner: str
    command: str
    outcome: Outcome
    detail: str = ""
    targets: tuple[str, ...] = ()
    tree: str = ""


class ClaimVerdict(Struct, frozen=True, omit_defaults=True):
    """A claim, what became of it, and why. `changed` are the files that make it stale."""

    claim: Claim
    verdict: Verdict
    why: str
    evidence: CheckRun | None = None
    changed: tuple[str, ...] = ()


class TestFact(Struct, frozen=True, omit_defaults=True):
    """One thing that changed about tests or the rules that code is checked by: a fact, not an accusation."""

    __test__ = False

    what: str
    path: str
    line: int = 0
    kind: str = ""
