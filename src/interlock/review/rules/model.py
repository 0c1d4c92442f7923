"""Rule: one rule as data, with its test cases."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...core import Verdict

Words = tuple[str, ...]


class Match(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """When a rule matches an effect (keys up to `also`), a program, or both: then the program has the effect.

    Every given key must match; within a key one entry is enough, except for `options`.
    """

    verb: Annotated[Words, Meta(description="What is done: read, write, append, delete, move, execute ...")] = ()
    zone: Annotated[Words, Meta(description="Where: workspace, temp, caches, home, system, host, service ...")] = ()
    extent: Annotated[Words, Meta(description="How much: one, many, all.")] = ()
    target: Annotated[Words, Meta(description="To what: a path, an address or a thing, with wildcards.")] = ()
    unless: Annotated[Words, Meta(description="Not if the target matches one of these wildcards.")] = ()
    kind: Annotated[Words, Meta(description="The kind of file: credential, startup, device ...")] = ()
    server: Annotated[Words, Meta(description="The machine or account that it is done to, with wildcards.")] = ()
    also: Annotated[Words, Meta(description="The call also does this to a service: send, fetch ...")] = ()
    empties: Annotated[bool, Meta(description="Nothing is left in the file.")] = False
    program: Annotated[Words, Meta(description="Names of programs, `*` as wildcard.")] = ()
    words: Annotated[Words, Meta(description="Subcommands: `stash drop`, `a|b` for either, `*` for any word.")] = ()
    options: Annotated[Words, Meta(description="All of these are given; `-f|--force` for either.")] = ()
    without: Annotated[Words, Meta(description="None of these options or words is given.")] = ()
    args: Annotated[Words, Meta(description="Some word matches one of these wildcards.")] = ()
    via: Annotated[Words, Meta(description="Run through one of these programs.")] = ()
    concealed: Annotated[Words, Meta(description="A part cannot be read plainly, for this reason (wildcards).")] = ()
    language: Annotated[Words, Meta(description="It has code in one of these languages, which are not read.")] = ()

    @property
    def of_effect(self) -> bool:
        """Whether the match is about an effect."""
        return bool(self.verb)

    @property
    def of_program(self) -> bool:
        """Whether the match says more about a program than its name."""
        return bool(self.words or self.options or self.without or self.args or self.via)


class Rule(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """One rule. `why` and `instead` are one line each, for a person and for the agent."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$")]
    why: Annotated[str, Meta(min_length=8)]
    instead: Annotated[str, Meta(min_length=4)]
    verdict: Verdict
    match: tuple[Match, ...]
    risk: Annotated[float, Meta(ge=0, le=1)] | None = None
    unless_named: Annotated[bool, Meta(description="Does not apply if the task names that very place.")] = False
    ask_if_named: Annotated[
        bool, Meta(description="Needs approval instead if the task orders it for that very host or branch.")
    ] = False
    ask: Annotated[bool, Meta(description="Needs approval; the verdict applies if no person can be reached.")] = False
    undoable: Annotated[bool, Meta(description="Only warns if a checkpoint can undo it.")] = False
    in_workspace: Annotated[bool, Meta(description="Only warns in a run's own workspace.")] = False
    contained: Annotated[bool, Meta(description="Only warns if the agent has its own container.")] = False
    held: Annotated[
        Literal["", "guard", "fence"], Meta(description="Does not apply from this level on: the kernel holds it.")
    ] = ""
    spares: Annotated[
        Literal["", "tests"], Meta(description="Only warns of what is for tests on this machine, by its name.")
    ] = ""
    rewrite: dict[str, str] = {}
    matches: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


class RuleFile(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A file of rules. What a rule in `disabled` matches is allowed."""

    family: str = ""
    rules: tuple[Rule, ...] = ()
    disabled: tuple[str, ...] = ()


RISKS: dict[Verdict, float] = {"block": 0.95, "modify": 0.8, "warn": 0.6, "allow": 0.0}
"""The risk of a step that a rule matches, unless the rule sets one: at least the level of its verdict."""


def warning(rule: Rule) -> Rule:
    """The same rule as a warning."""
    return replace(rule, verdict="warn", risk=RISKS["warn"], ask=False)
