"""Rows: what the table says about one program, made from the short form in which the table is written."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Literal, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from .model import CheckKind, Extent, Verb, Zone

DRY = frozenset(("--dry-run", "--help", "--version"))


class Action(Struct, frozen=True, omit_defaults=True, array_like=True):
    """One clause of a row: what happens to which operands, or to a thing that the row names."""

    verb: Verb
    role: str = ""
    zone: Zone | None = None
    extent: Extent | None = None
    name: str = ""


class Token(Struct, frozen=True, omit_defaults=True, array_like=True):
    """One word of a condition."""

    kind: Literal["option", "without", "any", "none", "next"]
    choices: tuple[str, ...]
    value: str = ""
    globs: bool = False

    def fits(self, word: str) -> bool:
        """Whether a word is one of the choices."""
        return word in self.choices or (self.globs and any(fnmatchcase(word, choice) for choice in self.choices))


class Row(Struct, frozen=True, omit_defaults=True):
    """What is known about a program, or about one way to call it."""

    does: tuple[Action, ...] = ()
    also: tuple[Action, ...] = ()
    options: frozenset[str] = frozenset()
    skip: int = 0
    unless: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    dry: frozenset[str] = DRY
    server: tuple[str, ...] = ()
    single: bool = False
    runs: str = ""
    items: bool = False
    elsewhere: Zone | None = None
    code: str = ""
    coded: tuple[str, ...] = ()
    module: str = ""
    service: bool = False
    check: str = ""
    waits: Literal["", "sleeps", "polls", "limits"] = ""
    lists: str = ""
    when: tuple[tuple[tuple[Token, ...], Row], ...] = ()
    verb: bool = False
    act: Literal["", "install", "deploy"] = ""
    known: bool = True

    @property
    def has_verb(self) -> bool:
        """Whether the first operand is a subcommand."""
        return self.verb or self.service or any(tokens[0].kind == "next" for tokens, _ in self.when)


class Line(Struct, frozen=True):
    """A command line, split by its row: the options with their values, and the operands."""

    options: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def has(self, pattern: str) -> bool:
        return any(name == pattern for name, _ in self.options)

    def values(self, name: str) -> list[str]:
        return [value for option, value in self.options if option == name and value]


ROLES = ("operands", "first", "rest", "last", "init", "files")
KEYS = frozenset((*Row.__struct_fields__, "examples")) - {"coded", "unless", "known"}
LISTS = ("options", "many", "dry")


def as_row(given: object, base: Row) -> Row:
    """A row from the table; `base` has the values that it does not give."""
    values: dict[str, Any] = given if isinstance(given, dict) else {"does": given}
    if unknown := set(values) - KEYS:
        raise ValueError(f"unknown key {sorted(unknown)[0]}")
    fields: dict[str, Any] = {}
    for key, value in values.items():
        if key in ("does", "also"):
            fields[key] = actions(value)
        elif key in LISTS:
            fields[key] = frozenset(value.split()) | (DRY if key == "dry" else frozenset())
        elif key == "server":
            fields[key] = tuple(value.split())
        elif key == "skip":
            count, _, unless = str(value).partition(" unless ")
            fields |= {"skip": int(count), "unless": frozenset(unless.split())}
        elif key == "code":
            language, *coded = value.split()
            fields |= {"code": "" if language == "none" else language, "coded": tuple(coded)}
        elif key == "check":
            if value != "none" and value not in get_args(CheckKind):
                raise ValueError(f"unknown check {value!r}")
            fields[key] = "" if value == "none" else value
        elif key not in ("when", "examples"):
            fields[key] = value
    row = replace(base, **fields)
    taking = {option for option in row.coded if option[:1] == "-"}
    for action in (*row.does, *row.also):
        taking |= {action.role} if action.role[:1] == "-" and action.role in row.coded else set()
    row = replace(row, options=row.options | taking)
    if "when" in values:
        bare = replace(row, when=())
        row = replace(
            row, when=tuple((condition(str(text)), as_row(other, bare)) for text, other in values["when"].items())
        )
    return row


def actions(text: str) -> tuple[Action, ...]:
    """The clauses of `does` and `also`."""
    result: list[Action] = []
    for clause in filter(None, (clause.strip() for clause in text.split(","))):
        verb, *words = clause.split()
        if verb not in get_args(Verb):
            raise ValueError(f"{verb!r} is not one of {', '.join(get_args(Verb))}")
        if words and words[0] in get_args(Zone):
            zone = words.pop(0)
            extent = words.pop(0) if words and words[0] in get_args(Extent) else None
            result.append(
                Action(cast(Verb, verb), "", cast(Zone, zone), cast("Extent | None", extent), " ".join(words))
            )
            continue
        extent = words.pop() if words and words[-1] in get_args(Extent) else None
        for role in words:
            if role not in ROLES and role[:1] != "-" and role[-1:] != "=":
                raise ValueError(f"{role!r} in {clause!r} is neither a role nor an option")
            result.append(Action(cast(Verb, verb), role, None, cast("Extent | None", extent)))
    return tuple(result)


def condition(text: str) -> tuple[Token, ...]:
    """The words of a condition of `when`."""
    return tuple(_token(word) for word in text.split())


def _token(word: str) -> Token:
    negated, word = word[:1] == "!", word.removeprefix("!")
    if word[:1] == "-" and word != "-":
        name, _, value = word.partition("=")
        return Token("without" if negated else "option", tuple(name.split("|")), value, _has_glob(name))
    if word[:1] == "~":
        word = word.replace("~", "")
        return Token("none" if negated else "any", tuple(word.split("|")), "", _has_glob(word))
    return Token("next", tuple(word.split("|")), "", _has_glob(word))


def _has_glob(text: str) -> bool:
    return any(mark in text for mark in "*?[")
