"""Rule: one rule as data, with its test cases."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from ...core import Verdict


class HttpMatch(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Conditions on a web request. `url`, `body` and `not_url` are regular expressions (RE2)."""

    method: tuple[str, ...] = ()
    url: str | None = None
    body: str | None = None
    not_url: str | None = None


class Match(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """When a rule matches: every given key must match; within a list one entry is enough, except for `options`."""

    program: Annotated[tuple[str, ...], Meta(description="Names, `*` as wildcard. `>` is a write to a file.")]
    words: Annotated[
        tuple[str, ...], Meta(description="Subcommands: `stash drop`, `a|b` for either, `*` for any word.")
    ] = ()
    verbs: Annotated[tuple[str, ...], Meta(description="A subcommand with this verb, alone or in a compound.")] = ()
    options: Annotated[tuple[str, ...], Meta(description="All of these are given; `-f|--force` for either.")] = ()
    without: Annotated[tuple[str, ...], Meta(description="None of these is given.")] = ()
    args: Annotated[tuple[str, ...], Meta(description="Some operand matches one of these wildcards.")] = ()
    unless_args: Annotated[
        tuple[str, ...], Meta(description="Does not match if every operand matches one of these wildcards.")
    ] = ()
    moved: Annotated[
        tuple[str, ...], Meta(description="Some folder before the last operand is in one of these zones.")
    ] = ()
    paths: Annotated[tuple[str, ...], Meta(description="Some operand is in one of these zones.")] = ()
    target: Annotated[tuple[str, ...], Meta(description="The last operand is in one of these zones.")] = ()
    text: Annotated[str | None, Meta(description="RE2 over the code or text that the program is given.")] = None
    sql: Annotated[tuple[str, ...], Meta(description="The statements given are of one of these kinds.")] = ()
    http: Annotated[HttpMatch | None, Meta(description="The request that is sent.")] = None
    via: Annotated[tuple[str, ...], Meta(description="Run through one of these wrappers.")] = ()
    fed_by: Annotated[tuple[str, ...], Meta(description="Fed by one of these programs.")] = ()
    filtered: Annotated[bool | None, Meta(description="Whether the operands are what a search picked.")] = None


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
    spares: Annotated[
        Literal["", "tests", "here"],
        Meta(
            description="Spares what is of tests on this machine, only warns of development or (`here`) of any there."
        ),
    ] = ""
    rewrite: dict[str, str] = {}
    matches: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()


class RuleFamily(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, kw_only=True):
    """A file of rules. `valued` names, by program, the options that take the next word."""

    family: str
    rules: tuple[Rule, ...] = ()
    valued: dict[str, str] = {}
    disabled: tuple[str, ...] = ()


RISKS: dict[Verdict, float] = {"block": 0.95, "modify": 0.8, "warn": 0.6, "allow": 0.0}
"""The risk of a step that a rule matches, unless the rule sets one: at least the level of its verdict."""


def warning(rule: Rule) -> Rule:
    """The same rule as a warning."""
    return replace(rule, verdict="warn", risk=RISKS["warn"])
