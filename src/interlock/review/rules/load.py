"""Load: rules from YAML, validated, with errors that name the location."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, get_args

import msgspec

from ...calls import Extent, Verb, Zone
from ...core import BadInput, from_json, from_plain
from ..file_kinds import KINDS
from .matching import RuleSet
from .model import Match, Rule, RuleFile

SOURCE = Path(__file__).with_name("rules.yaml")
SHIPPED = Path(__file__).with_name("shipped.json")

PRIVATE = "supervision.secrets"
"""The rule that protects secrets with which a user controls runs."""

KNOWN = {
    "verb": get_args(Verb), "zone": get_args(Zone), "extent": get_args(Extent), "kind": tuple(KINDS),
    "also": get_args(Verb),
}  # fmt: skip
GONE = {
    "paths": "zone and kind", "sql": "verb: delete with target: 'table *'",
    "http": "verb and target",
    "text": "verb and target", "fed_by": "concealed", "filtered": "extent", "moved": "verb: move", "verbs": "verb",
    "unless_args": "unless",
}  # fmt: skip
"""Keys of earlier versions, and what to use instead."""


@lru_cache(1)
def shipped() -> RuleFile:
    """The shipped rules, from the file written by `build`."""
    return from_json(SHIPPED.read_bytes(), RuleFile)


def rule_set(rules_path: str | None = None, private: tuple[Path, ...] = ()) -> RuleSet:
    """The shipped rules and the user's; the user's are read again each time.

    Files that are `private` to the user are protected like those of Interlock itself.
    """
    if not rules_path and not private:
        return shipped_rules()
    return RuleSet(shipped(), (*(read_rules(rules_path) if rules_path else ()), *_protecting(private)))


def _protecting(private: tuple[Path, ...]) -> tuple[RuleFile, ...]:
    """The shipped rule about secrets, for these files: by the names of their folder and file."""
    if not private:
        return ()
    rule = next(rule for rule in shipped().rules if rule.id == PRIVATE)
    names = tuple(f"*{path.parent.name}/{path.name}" for path in private)
    match = msgspec.structs.replace(rule.match[0], target=names)
    return (RuleFile(family="private", rules=(msgspec.structs.replace(rule, match=(match,)),)),)


@lru_cache(1)
def shipped_rules() -> RuleSet:
    """The shipped rules alone, shared by all callers that add none."""
    return RuleSet(shipped())


def read_rules(rules_path: str) -> tuple[RuleFile, ...]:
    """The user's rules: one file, or every .yaml and .yml file in a folder."""
    path = Path(rules_path).expanduser()
    if not path.exists():
        raise BadInput(
            "there are no rules here", where=rules_path, todo="Set review.rules_path to a YAML file or a folder."
        )
    files = sorted(p for p in path.iterdir() if p.suffix in (".yaml", ".yml")) if path.is_dir() else [path]
    return tuple(map(read_file, files))


def read_file(path: Path) -> RuleFile:
    """One file of rules."""
    import yaml

    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"is not YAML: {' '.join(str(error).split())[:200]}", where=str(path)) from None
    return as_file(raw, str(path))


def as_file(raw: Any, where: str) -> RuleFile:
    """Rules from plain data; errors name the file, the rule and the field."""
    if not isinstance(raw, dict) or not isinstance(raw.get("rules", []), list):
        raise BadInput("has no list of rules", where=where, todo="A file of rules has the keys family and rules.")
    if "valued" in raw:
        todo = "Say which options take a value in the table of programs, review.programs_path: docs/programs.md."
        raise BadInput("the key valued is not known any more", where=where, todo=todo)
    rules: list[Rule] = []
    for index, entry in enumerate(raw.get("rules", [])):
        rule = as_rule(entry, where, index)
        if any(rule.id == other.id for other in rules):
            raise BadInput(f"the rule {rule.id} is defined twice", where=where, todo="Give every rule a unique id.")
        rules.append(rule)
    try:
        file = from_plain({key: value for key, value in raw.items() if key != "rules"}, RuleFile)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, todo="Known keys: family, rules, disabled.") from None
    return msgspec.structs.replace(file, rules=tuple(rules))


def as_rule(entry: Any, where: str, index: int) -> Rule:
    """One rule, validated as far as possible without running it."""
    name = entry.get("id", f"number {index + 1}") if isinstance(entry, dict) else f"number {index + 1}"
    place = f"{where}: rule {name}"
    if not isinstance(entry, dict):
        raise BadInput("is not a mapping", where=place, todo="A rule has id, why, instead, verdict and match.")
    matches = entry.get("match")
    entry = {
        **entry,
        "match": [_as_match(each, place) for each in (matches if isinstance(matches, list) else [matches])],
    }
    try:
        rule = from_plain(entry, Rule)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=place, todo="See docs/review.md for the keys of a rule.") from None
    for match in rule.match:
        _check(match, place)
    return rule


def _as_match(raw: Any, where: str) -> Any:
    """Every key as a list; keys of an effect may be written `read|write`."""
    if not isinstance(raw, dict):
        return raw
    for key in raw:
        if key in GONE:
            raise BadInput(
                f"match.{key} is not known any more", where=where, todo=f"Use {GONE[key]}: see docs/review.md."
            )
    return {key: _as_list(key, value) for key, value in raw.items()}


def _as_list(key: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [value] if key in ("words", "options") else value.split("|")


def _check(match: Match, where: str) -> None:
    """Check names that the types cannot, and that the match says what it is about."""
    for key, known in KNOWN.items():
        for name in getattr(match, key):
            if name not in known:
                raise BadInput(f"match.{key} names {name!r}", where=where, todo=f"Known: {', '.join(known)}.")
    if not match.verb and {">", ">>", "<", "="} & set(match.program):
        raise BadInput("match.program names an operator", where=where, todo="Use verb: write, append or read.")
    if not (match.verb or match.program or match.concealed or match.language):
        raise BadInput("match has neither verb nor program", where=where, todo="Say what it is about.")
    effect_keys = (match.zone, match.extent, match.target, match.kind, match.unless, match.server, match.also)
    if not (match.verb or match.concealed) and any(effect_keys):
        raise BadInput("match has no verb", where=where, todo="zone, extent, target and kind belong to a verb.")
