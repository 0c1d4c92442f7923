"""Review: the verdict on a step before it runs."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from .step import Step

Verdict = Literal["allow", "warn", "modify", "block"]
Level = Literal["low", "medium", "high", "critical"]

VERDICTS: tuple[Verdict, ...] = ("allow", "warn", "modify", "block")
"""From the mildest to the strongest: the strongest rule wins."""


class Review(Struct, frozen=True, omit_defaults=True):
    """Verdict, with what it rests on and what to do instead.

    `rewrite` holds the tool's arguments in a safe form where one is known; `action` is the strongest thing that the
    step does: read, create, modify, network, delete, unknown or unparsable. With `ask` the call waits for a person; the
    verdict holds if no person can be asked.
    """

    verdict: Verdict
    risk: float = 0.0
    rationality: float = 1.0
    rules: tuple[str, ...] = ()
    reason: str = ""
    instead: str = ""
    rewrite: dict[str, object] | None = None
    action: str = ""
    ask: bool = False


class Seen(Struct, frozen=True):
    """What a detector observes: a step and the review that it got, if any.

    `absent` are the files that it claims to have written and that are not on the disk; None if that was not checked.
    """

    step: Step
    review: Review | None = None
    absent: tuple[str, ...] | None = None
