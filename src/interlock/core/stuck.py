"""Stuck: what an issue is about, kept so that every later step can be asked whether it happens again."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

StuckKind = Literal["failure", "repeat", "pattern"]
"""A failing check; a call that brings the same again; a pattern without its own call."""

Sign = Literal["again", "changed", "clear", "better", "solved"]
"""What one opportunity showed.

`again`: the same thing happened. `changed`: it went wrong in another way, which is neither. `clear`: it did not happen.
`better`: it got measurably better. `solved`: what failed now passes.
"""


class Stuck(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One thing that an agent is stuck on.

    `key` names it within the run, with numbers masked. `program` and `targets` tell which calls are opportunities.
    `marks` are fingerprints of the failures or outcomes that count as the same; `names` of the tests that fail;
    `failures` the fewest failures and `passes` the most passes reported so far. `any_target` says that the same failure
    met different calls.
    `call` is the fingerprint of a call that repeats, `level` what a call cost that was too dear.
    A pattern has an opportunity `every` so many turns, and happened again where `needed` of them showed it. `turns`,
    `bad` and `gained` are counted since the last opportunity.
    """

    kind: StuckKind
    key: str
    tool: str = ""
    program: str = ""
    targets: tuple[str, ...] = ()
    marks: tuple[int, ...] = ()
    names: tuple[int, ...] = ()
    failures: int | None = None
    passes: int | None = None
    place: str = ""
    any_target: bool = False
    call: int = 0
    level: float = 0.0
    every: int = 3
    needed: int = 1
    turns: int = 0
    bad: int = 0
    gained: bool = False

    @property
    def check(self) -> str:
        """The check or call in a few words."""
        return " ".join((self.program or self.tool, *self.targets[:2])).strip()
