"""Load: rules from YAML, validated, with errors that name the location."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ...core import BadInput, from_json, from_plain
from ..paths import ZONES
from ..sql import KINDS
from .compiled import RuleSet
from .model import Match, Rule, RuleFamily

FAMILIES = Path(__file__).parent / "families"
SHIPPED = Path(__file__).parent / "shipped.json"

PRIVATE = "supervision.secrets"
"""The rule that protects secrets with which a user controls runs."""

LISTS = ("program", "words", "verbs", "options", "without", "args", "paths", "target", "sql", "via", "fed_by")
"""Keys of a match that take one entry or a list."""


@lru_cache(1)
def shipped() -> tuple[RuleFamily, ...]:
    """The shipped families, from the file written by `build`."""
    return from_json(SHIPPED.read_bytes(), tuple[RuleFamily, ...])


def rule_set(rules_path: str | None = None, private: tuple[Path, ...] = ()) -> RuleSet:
    """The shipped rules and the user's, compiled; the user's are read again each time.

    Files that are `private` to the user are protected like those of Interlock itself.
    """
    if not rules_path and not private:
        return shipped_rules()
    return RuleSet((*shipped(), *(read_rules(rules_path) if rules_path else ()), *_protecting(private)))


def _protecting(private: tuple[Path, ...]) -> tuple[RuleFamily, ...]:
    """The shipped rule about secrets, for these files: by the names of their folder and file."""
    if not private:
        return ()
    rule = next(rule for family in shipped() for rule in family.rules if rule.id == PRIVATE)
    names = tuple(f"*{path.parent.name}/{path.name}" for path in private)
    match = Match(program=rule.match[0].program, args=names)
    return (RuleFamily(family="private", rules=(msgspec.structs.replace(rule, match=(match,)),)),)


@lru_cache(1)
def shipped_rules() -> RuleSet:
    """The shipped rules alone, shared by all callers that add none."""
    return RuleSet(shipped())


def read_rules(rules_path: str) -> tuple[RuleFamily, ...]:
    """The user's rules: one file, or every .yaml and .yml file in a folder."""
    path = Path(rules_path).expanduser()
    if not path.exists():
        raise BadInput(
            "there are no rules here", where=rules_path, todo="Set review.rules_path to a YAML file or a folder."
        )
    files = sorted(p for p in path.iterdir() if p.suffix in (".yaml", ".yml")) if path.is_dir() else [path]
    return tuple(read_family(file) for file in files)


def read_family(path: Path) -> RuleFamily:
    """Read one file of rules."""
    import yaml

    try:
        raw = yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise BadInput(f"not YAML: {first_line(error)}", where=str(path), todo="Correct the file.") from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", where=str(path)) from None
    return as_family(raw, str(path))


def as_family(raw: Any, where: str) -> RuleFamily:
    """A family from plain data; errors name the file, the rule and the field."""
    if not isinstance(raw, dict) or not isinstance(raw.get("rules", []), list):
        raise BadInput("has no list of rules", where=where, todo="A file of rules has the keys family and rules.")
    rules = []
    seen: set[str] = set()
    for index, entry in enumerate(raw.get("rules", [])):
        rule = as_rule(entry, where, index)
        if rule.id in seen:
            raise BadInput(f"the rule {rule.id} is defined twice", where=where, todo="Give every rule a unique id.")
        seen.add(rule.id)
        rules.append(rule)
    rest = {key: value for key, value in raw.items() if key != "rules"}
    rest.setdefault("family", Path(where).stem)
    try:
        family = from_plain(rest, RuleFamily)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=where, todo="Known keys: family, rules, valued, disabled.") from None
    return msgspec.structs.replace(family, rules=tuple(rules))


def as_rule(entry: Any, where: str, index: int) -> Rule:
    """One rule, validated as far as possible without running it."""
    name = entry.get("id", f"number {index + 1}") if isinstance(entry, dict) else f"number {index + 1}"
    place = f"{where}: rule {name}"
    if not isinstance(entry, dict):
        raise BadInput("is not a mapping", where=place, todo="A rule has id, why, instead, verdict and match.")
    matches = entry.get("match")
    entry = {**entry, "match": [as_match(m) for m in (matches if isinstance(matches, list) else [matches])]}
    try:
        rule = from_plain(entry, Rule)
    except msgspec.ValidationError as error:
        raise BadInput(str(error), where=place, todo="See docs/review.md for the keys of a rule.") from None
    for match in rule.match:
        check_match(match, place)
    return rule


def as_match(raw: Any) -> Any:
    """Wrap a single entry in a list where a list is expected."""
    if not isinstance(raw, dict):
        return raw
    made = {key: [value] if key in LISTS and isinstance(value, str) else value for key, value in raw.items()}
    http = made.get("http")
    if isinstance(http, dict) and isinstance(http.get("method"), str):
        made["http"] = {**http, "method": [http["method"]]}
    return made


def check_match(match: Match, where: str) -> None:
    """Check names that the types cannot: zones, kinds of statements, regular expressions."""
    for key, given, known in (
        ("paths", match.paths, ZONES),
        ("target", match.target, ZONES),
        ("sql", match.sql, KINDS),
    ):
        for name in given:
            if name not in known:
                raise BadInput(f"match.{key} names {name!r}", where=where, todo=f"Known: {', '.join(known)}.")
    import re2

    if not match.program:
        raise BadInput("match.program is empty", where=where, todo="List at least one program.")
    patterns = {
        "text": match.text,
        "http.url": match.http and match.http.url,
        "http.body": match.http and match.http.body,
    }
    for key, pattern in patterns.items():
        try:
            if pattern:
                re2.compile(pattern)
        except re2.error as error:
            raise BadInput(f"match.{key} is not an RE2 expression: {first_line(error)}", where=where) from None


def first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
