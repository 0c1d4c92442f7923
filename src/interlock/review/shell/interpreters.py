"""Interpreters: program text in other languages, and statements for databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ..code import read_calls
from .languages import CODE_OPTIONS, INTERPRETERS
from .model import NOTHING, Command, Flow
from .scope import Scope, below
from .transfers import is_fetched

if TYPE_CHECKING:
    from .reader import Reader


def run_interpreter(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`python -c CODE`, `node -e CODE`, `python - <<EOF`: calls that act become commands."""
    code = inline_code(command, INTERPRETERS[command.program])
    operands = operands_of(command.args)
    if code is not None or operands:
        # Its program is given: what comes through the pipe is data.
        command = msgspec.structs.replace(command, fed_by=())
    fetcher = is_fetched(operands[0], scope) if operands and code is None else None
    if fetcher is not None:
        command = msgspec.structs.replace(command, fed_by=(fetcher,))
    if code is None:
        code = scope.recall(operands[0]) if operands else flow.text
    reader.add(msgspec.structs.replace(command, code=code))
    if code is not None:
        run_code(reader, code, command.program, scope)
    return Flow(None, (*flow.sources, command.program)[-4:])


def operands_of(args: tuple[str, ...]) -> list[str]:
    """The file to run and its words; `-m a.b` is the file `a/b.py`."""
    if "-m" in args[:-1] and all(arg[:1] == "-" for arg in args[: args.index("-m")]):
        at = args.index("-m")
        return [f"{args[at + 1].replace('.', '/')}.py", *args[at + 2 :]]
    return [arg for at, arg in enumerate(args) if arg[:1] != "-" and (at == 0 or args[at - 1] not in ("-W", "-X"))]


def run_code(reader: Reader, code: str, program: str, scope: Scope) -> None:
    """Carry out the calls of a piece of program text, as far as they can be read."""
    inner = below(scope, program)
    for call in read_calls(code):
        if call.script is not None:
            reader.nested(call.script, inner.copy(), NOTHING)
        elif call.words:
            reader.execute(list(call.words), inner.copy(), NOTHING if call.text is None else Flow(call.text))


def inline_code(command: Command, options: tuple[str, ...]) -> str | None:
    """The text that follows one of the options, joined if there are several."""
    found: list[str] = []
    args = command.args
    for at, arg in enumerate(args):
        if arg in options:
            found += args[at + 1 : at + 2]
        elif arg.startswith("--") and "=" in arg and arg.partition("=")[0] in options:
            found.append(arg.partition("=")[2])
        elif len(arg) > 2 and arg[:2] in options and arg[1] != "-":
            found.append(arg[2:])
        elif arg[:1] == "-" and arg[1:2] != "-" and len(arg) > 2 and f"-{arg[-1]}" in options and arg[1:].isalpha():
            found += args[at + 1 : at + 2]
    return "\n".join(found) if found else None


def database(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """Statements given to a database client by option, operand or pipe."""
    code = inline_code(command, CODE_OPTIONS[command.program])
    if code is None and command.program in (
        "sqlite3",
        "sqlite",
        "turso",
        "bq",
        "isql",
        "db2",
        "cypher-shell",
        "duckdb",
        "rqlite",
    ):
        operands = [arg for arg in command.args if not arg.startswith("-")]
        code = operands[-1] if len(operands) > 1 else None
    if code is None:
        source = next((r.target for r in command.redirects if r.op == "<"), None)
        code = flow.text if source is None else scope.recall(source)
    reader.add(msgspec.structs.replace(command, code=code))
    return Flow(None, (*flow.sources, command.program)[-4:])
