"""Types of proof of done: claims, checks, and verdicts."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ClaimKind = Literal["tests", "types", "lint", "build", "endpoint", "commit", "push", "file", "done"]
Verdict = Literal["proven", "own_check", "stale", "contradicted", "unproven"]
Outcome = Literal["passed", "failed", "none", "unknown"]
"""The result of a check; `none` if nothing was checked, `unknown` if its exit status is hidden."""
Source = Literal["", "own_run", "stream", "reported"]
"""Who saw a result: Interlock ran the check, it went through the model's stream, or the agent's client reported it."""


class Claim(Struct, frozen=True, omit_defaults=True):
    """What an agent states as a fact.

    `subject` is the test, file or address that it names, `every` that it speaks of all, `count` of how many.
    """

    kind: ClaimKind
    text: str
    step: int = 0
    subject: str = ""
    every: bool = False
    count: int = 0


class CheckRun(Struct, frozen=True, omit_defaults=True):
    """A check that ran: its kind, its command, how it went, and the tree that it left (a checkpoint's id).

    `limited`: it did not run everything; `selects`: nor all tests of its targets. `own` is what of it the agent wrote
    or changed; `changed` are files that the same call changed after it; `failing` are the tests that failed; `ours`:
    Interlock ran it.
    """

    step: int
    kind: ClaimKind
    runner: str
    command: str
    outcome: Outcome
    detail: str = ""
    targets: tuple[str, ...] = ()
    tree: str = ""
    limited: bool = False
    selects: bool = False
    own: str = ""
    changed: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    ours: bool = False


class ClaimVerdict(Struct, frozen=True, omit_defaults=True):
    """A claim, what became of it, and why. `changed` are the files that make it stale, `source` says who saw it."""

    claim: Claim
    verdict: Verdict
    why: str
    evidence: CheckRun | None = None
    changed: tuple[str, ...] = ()
    source: Source = ""


class TestFact(Struct, frozen=True, omit_defaults=True):
    """One thing that changed about tests or the rules that code is checked by: a fact, not an accusation."""

    __test__ = False

    what: str
    path: str
    line: int = 0
    kind: str = ""
