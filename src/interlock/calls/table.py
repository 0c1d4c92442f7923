"""The table of programs: its rows, and which actions of a row apply to a command line."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from ..core import BadInput, from_json
from .model import Verb
from .rows import Line, Row, Token, as_row

BUILT = Path(__file__).with_name("programs.json")
"""The rows of `programs.yaml`, written by `build`."""


def word_set(text: str) -> frozenset[str]:
    """The space-separated words of a text."""
    return frozenset(text.split())


DELETING = word_set(
    """delete del remove rm rb destroy purge drop terminate revoke wipe erase deregister detach disable deactivate
    cancel reset flush clear uninstall unregister forget undeploy discard truncate delall kill decommission
    invalidate evict expire expunge prune abandon rollback leave close archive unsubscribe stop undo unset ban
    suspend pause rdelete obliterate disassociate roll reject unlink withdraw remove-all clean dedupe force_reset"""
)
LOOKING = word_set(
    """list ls get describe show view status info inspect search query help cat head tail watch diff plan validate read
    top whoami check ping stat print export download dump lookup explain find tree du size verify peek trace create
    open add put set update apply extract mount init copy cp upload new start run enable login logout"""
)
LOOKS_ONLY = word_set(
    """list ls get describe show view status info inspect search query help cat head tail watch diff plan validate read
    top whoami check ping stat print export download dump lookup explain find tree du size verify peek trace logs
    log version history stats docs doctor simulate snapshots lsd md5sum --version"""
)
"""Words of a client's subcommand: the first that is a verb says what it does; without one it administers."""


UNKNOWN = Row(known=False)


class Table:
    """Rows by the names of their programs; each is made when it is first asked for."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self._given = {name: row for names, row in given.items() for name in names.split()}
        self._rows: dict[str, Row] = {}

    def row(self, program: str) -> Row:
        """The row of a program; an unknown program is one that runs and does what nobody knows."""
        row = self._rows.get(program)
        if row is None:
            given = self._given.get(program)
            if given is None and program not in self._given:
                return UNKNOWN
            row = self._rows[program] = as_row(given, Row())
        return row

    def with_rows(self, given: Mapping[str, object]) -> Table:
        """This table with a user's rows, which replace those of the same programs."""
        table = Table({})
        table._given = {**self._given, **Table(given)._given}
        return table


@lru_cache(1)
def shipped() -> Table:
    """The table that is shipped."""
    return Table(from_json(BUILT.read_bytes(), dict[str, object]))


def read_table(path: Path) -> dict[str, object]:
    """A table in YAML, each row checked. Raises BadInput."""
    import yaml

    try:
        given = yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise BadInput(f"not a table of programs: {error}", where=str(path), todo="Correct the file.") from None
    if not isinstance(given, dict):
        raise BadInput("not a table of programs", where=str(path), todo="Write `NAME: ACTIONS`, one program a line.")
    for names, row in given.items():
        try:
            if not isinstance(names, str) or '"' in names:
                raise ValueError("the names of programs are one text without quotes")
            as_row(row, Row())
        except (ValueError, TypeError, AttributeError) as error:
            raise BadInput(str(error), where=f"{path}, {names!r}", todo="See docs/programs.md.") from None
    return given


_in_use: list[Table] = []


def use_table(table: Table) -> None:
    """Read calls with this table from now on."""
    _in_use[:] = [table]


def row_for(program: str) -> Row:
    """The row of a program in the table in use."""
    return (_in_use[0] if _in_use else shipped()).row(program)


def split_line(row: Row, args: tuple[str, ...]) -> Line:
    """The options and operands of a command line; letters of one word are separate options."""
    options: list[tuple[str, str]] = []
    operands: list[str] = []
    at, count = 0, len(args)
    while at < count:
        word = args[at]
        at += 1
        if word[:1] != "-" or word == "-":
            operands.append(word)
            continue
        if word == "--":
            options.append(("--", ""))
            operands += args[at:]
            break
        name, equals, value = word.partition("=")
        if name in row.options:
            if not equals and at < count:
                value, at = args[at], at + 1
            options.append((name, value))
        else:
            options.append((name, value))
            if word[1:2] != "-" and len(word) > 2 and not row.single:
                for place in range(1, len(word)):
                    letter = f"-{word[place]}"
                    rest = word[place + 1 :]
                    if letter in row.options:
                        if not rest and at < count:
                            rest, at = args[at], at + 1
                        options.append((letter, rest))
                        break
                    options.append((letter, ""))
    return Line(tuple(options), tuple(operands))


def choose(row: Row, program: str, line: Line) -> tuple[Row, tuple[str, ...]]:
    """The row with what the command line's conditions change, and the operands that are left."""
    for tokens, other in row.when:
        left = matches(tokens, program, line)
        if left is not None:
            return other, left
    return row, line.operands


def matches(tokens: tuple[Token, ...], program: str, line: Line) -> tuple[str, ...] | None:
    """The operands after the subcommands of a condition; None if it does not hold."""
    at, operands = 0, line.operands
    for place, token in enumerate(tokens):
        if token.kind == "next":
            if place == 0 and program in token.choices:
                continue
            if at >= len(operands) or not token.fits(operands[at]):
                return None
            at += 1
        elif token.kind in ("any", "none"):
            if any(map(token.fits, operands[at:])) is (token.kind == "none"):
                return None
        elif _has_option(token, line) is (token.kind == "without"):
            return None
    return operands[at:]


def _has_option(token: Token, line: Line) -> bool:
    if not token.value:
        return any(token.fits(name) for name, _ in line.options)
    wanted = token.value.split("|")
    return any(
        token.fits(name) and any(fnmatchcase(value, choice) for choice in wanted) for name, value in line.options
    )


def english(program: str, operands: tuple[str, ...], options: tuple[tuple[str, str], ...]) -> tuple[Verb, str]:
    """What a client's subcommand says that it does: the first word that begins with a verb, or an option that does."""
    said: list[str] = []
    if not DELETING.isdisjoint(program.lower().replace("_", "-").split("-")[1:]):
        return "delete", " ".join((program, *operands[:2]))
    words = [word for word in operands[:6] if "/" not in word and "." not in word and ":" not in word]
    for word in words[:4]:
        said.append(word)
        first, *rest = word.lower().replace("_", "-").split("-")
        if first in DELETING or (first not in LOOKING and not DELETING.isdisjoint(rest)):
            return "delete", " ".join((program, *said))
        if first in LOOKING:
            break
    target = " ".join((program, *operands[:3]))
    for option, _ in options:
        first = option.lstrip("-").split("-")[0]
        if first in ("delete", "remove", "purge", "destroy", "unregister", "terminate") and option[:2] == "--":
            return "delete", f"{target} {option}"
    looks = not words or any(word.lower().split("-")[0] in LOOKS_ONLY for word in words[:4])
    return ("fetch" if looks else "administer"), target
