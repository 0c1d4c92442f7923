"""Awk: the commands that an awk program runs, and the files that it writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ...core import late_pattern
from ..wordlist import name_set
from .model import NOTHING, Command, PipeContent
from .scope import ShellScope, below
from .words import ansi

if TYPE_CHECKING:
    from .reader import ScriptReader

ACTS = ("system", "|", ">")
"""Without any of these a program only prints."""

MAX_PROGRAM = 16_384
MAX_RUNS = 32
"""Commands checked per program."""

MAX_PIECE = 4_096
"""Maximum length of a joined text."""

MAX_PIECES = 32
"""Arguments of a `printf`."""

TOKEN = late_pattern(
    r'"(?P<string>(?:[^"\\\n]|\\.)*)"|(?P<regex>(?:^|(?<=[~(,!{};&|\n]))\s{0,4}/(?:[^/\\\n]|\\.){1,400}/)'
    r"|(?P<comment>#[^\n]*)|(?P<or>\|\|)|(?P<pipe>\|&?)|(?P<end>[;\n{}])|(?P<to>>>?(?!=))|(?P<comma>,)"
    r"|(?P<equals>=(?!=))|(?P<name>\$?[A-Za-z_]\w*|\$\d+)",
    re.DOTALL,
)
VALUED = name_set("-F -v -f -i -l -e -E --field-separator --assign --file --include --source --exec")


class AwkCommand(Struct, frozen=True):
    """A command that the program runs, with its input; or a file that it writes."""

    script: str = ""
    text: str | None = None
    file: str = ""


def run_awk(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`system(CODE)`, `print TEXT | CODE`, `CODE | getline`, `print > FILE`."""
    code, known = _program(command.args, scope)
    reader.add(msgspec.structs.replace(command, fed_by=(), code=code))
    inner = below(scope, command.program)
    for run in read_runs(code, known) if code and any(sign in code for sign in ACTS) else ():
        if run.file:
            reader.execute(["tee", run.file], inner.copy(), NOTHING)
        else:
            reader.nested(run.script.strip(), inner.copy(), PipeContent(run.text))
    return PipeContent(None, (*flow.sources, command.program)[-4:])


def _program(args: tuple[str, ...], scope: ShellScope) -> tuple[str | None, dict[str, str]]:
    """The program's text, and the variables that options set."""
    texts: list[str] = []
    known: dict[str, str] = {}
    at, given = 0, False
    while at < len(args):
        arg = args[at]
        at += 1
        if arg[:1] != "-" or len(arg) == 1:
            if not given:
                texts.append(arg)
            break
        option, value = (arg[:2], arg[2:]) if arg[1] != "-" else arg.partition("=")[::2]
        if option in VALUED and not value:
            value = args[at] if at < len(args) else ""
            at += 1
        if option in ("-v", "--assign"):
            name, _, text = value.partition("=")
            known[name] = text
        elif option in ("-f", "--file", "-E", "--exec"):
            given = True
            texts.append(scope.recall(value) or "")
        elif option in ("-e", "--source"):
            given = True
            texts.append(value)
    return "\n".join(texts) or None, known


def read_runs(code: str, known: dict[str, str]) -> list[AwkCommand]:
    """The commands and files of a program, statement by statement. The value of a name or field may be unknown."""
    found: list[AwkCommand] = []
    known = dict(known)
    words: list[tuple[str, str]] = []
    for token in TOKEN.finditer(f"{code[:MAX_PROGRAM]}\n"):
        kind = token.lastgroup or ""
        if kind == "end":
            found += _statement(words, known)
            words = []
            if len(found) >= MAX_RUNS:
                break
        elif kind == "string":
            words.append((kind, ansi(token["string"])))
        elif kind not in ("comment", "regex"):
            words.append((kind, token[0]))
    return found


def _statement(words: list[tuple[str, str]], known: dict[str, str]) -> list[AwkCommand]:
    names = [word for kind, word in words if kind == "name"]
    kinds = [kind for kind, _ in words]
    if kinds[:2] == ["name", "equals"]:
        known[words[0][1]] = _joined(words[2:], known)
    if "pipe" in kinds:
        at = kinds.index("pipe")
        if "getline" in names:
            return [AwkCommand(_joined(words[:at], known))]
        return [AwkCommand(_joined(words[at + 1 :], known), _joined(words[:at], known))]
    if "system" in names:
        return [AwkCommand(_joined(words[words.index(("name", "system")) + 1 :], known))]
    if "to" in kinds and names[:1] in (["print"], ["printf"]):
        file = _joined(words[kinds.index("to") + 1 :], known).strip()
        return [AwkCommand(file=file)] if file and not file.startswith("$") else []
    return []


def _joined(words: list[tuple[str, str]], known: dict[str, str]) -> str:
    """The text of an expression: adjacent pieces are joined, and `printf` inserts its values."""
    pieces: list[str] = [""]
    for kind, word in words:
        if kind == "comma":
            pieces.append("")
        elif kind == "string" or (kind == "name" and word not in PLAIN):
            text = word if kind == "string" else known.get(word, word if word[:1] == "$" else f"${word}")
            pieces[-1] = f"{pieces[-1]}{text}"[:MAX_PIECE]
    form, *values = pieces
    for value in values[:MAX_PIECES]:
        form = form.replace("%s", value, 1) if "%s" in form else f"{form} {value}"
    return form[:MAX_PIECE]


PLAIN = name_set("print printf system getline BEGIN END if else while for do in close return")
"""Keywords and functions of the language."""
