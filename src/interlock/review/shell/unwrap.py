"""Unwrap: take the wrappers off a command, and read the scripts that it carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from ..code import read_calls
from .model import NOTHING, Command, Flow
from .names import program_name
from .scope import Scope
from .searches import run_find
from .wrappers import (
    CODE_OPTIONS,
    COMPOSE_EXEC,
    INTERPRETERS,
    PARALLEL,
    PREFIXES,
    SHELLS,
    SSH,
    SUBCOMMAND_PREFIXES,
    XARGS,
    Wrapper,
)

if TYPE_CHECKING:
    from .reader import Reader

MAX_ITEMS = 32
"""File names handed over by a pipe that are followed."""


def unwrap(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """Run what a wrapper wraps; None where the command is no wrapper and stands for itself."""
    handler = HANDLERS.get(command.program)
    if handler is None:
        prefix = PREFIXES.get(command.program)
        return None if prefix is None else run_prefix(reader, command, scope, flow, prefix)
    return handler(reader, command, scope, flow)


def run_prefix(reader: Reader, command: Command, scope: Scope, flow: Flow, wrapper: Wrapper) -> Flow | None:
    """`sudo rm x`: the command is what follows the wrapper's own words."""
    words = wrapper.inner(command.args)
    if command.program == "command" and command.args[:1] in (("-v",), ("-V",)):
        return None
    if command.program == "env" and any(arg in ("-S", "--split-string") for arg in command.args):
        return script(reader, command, scope, flow, " ".join(command.args[command.args.index("-S") + 1 :]))
    if not words:
        return None
    if wrapper.record:
        reader.add(command)
    inner = below(scope, command.program)
    return reader.execute(
        words, inner, flow, redirects=command.redirects, assignments=command.assignments,
        filtered=command.filtered, span=command.span,
    )  # fmt: skip


def run_subcommand(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`docker exec`, `poetry run`, `kubectl exec ... --`."""
    program = "docker" if command.program in ("podman", "nerdctl") else command.program
    args = command.args
    at = next((i for i, arg in enumerate(args[:8]) if (program, arg) in SUBCOMMAND_PREFIXES), None)
    if at is not None:
        wrapper = SUBCOMMAND_PREFIXES[program, args[at]]
    elif program in ("docker", "docker-compose") and "exec" in args[:6]:
        at, wrapper = args.index("exec"), COMPOSE_EXEC
    else:
        return database(reader, command, scope, flow) if program in CODE_OPTIONS else None
    rest = msgspec.structs.replace(command, args=args[at + 1 :])
    out = run_prefix(reader, rest, scope, flow, msgspec.structs.replace(wrapper, record=False))
    if out is not None and wrapper.record:
        reader.add(command)
    return out


def run_shell(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`bash -c CODE`, `bash FILE`, `... | bash`, `bash <<EOF`."""
    args = command.args
    at = 0
    while at < len(args):
        word = args[at]
        if word in ("-c", "-Command", "-command") or (
            word[0:1] == "-" and word[1:2] != "-" and "c" in word and word.islower()
        ):
            code = args[at + 1] if at + 1 < len(args) else ""
            inner = below(scope, command.program)
            inner.params = tuple(args[at + 2 :]) or ("sh",)
            reader.add(msgspec.structs.replace(command, code=code, stdin=None, fed_by=()))
            return reader.nested(code, inner, flow)
        if word in ("-o", "+o", "-O", "--rcfile", "--init-file"):
            at += 2
        elif word[0:1] in ("-", "+") and word not in ("-", "-s"):
            at += 1
        else:
            break
    name = args[at] if at < len(args) else "-"
    if name in ("-", "-s", "/dev/stdin"):
        reader.add(command)
        return NOTHING if flow.text is None else script(reader, command, scope, flow, flow.text)
    reader.add(msgspec.structs.replace(command, stdin=None, fed_by=()))
    if name in scope.files:
        return script(reader, command, scope, NOTHING, scope.files[name])
    return NOTHING


def run_interpreter(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`python -c CODE`, `node -e CODE`, `python - <<EOF`: calls that act become commands."""
    code = inline_code(command, INTERPRETERS[command.program])
    if code is None and command.program in ("awk", "gawk", "mawk"):
        code = next((arg for arg in command.args if not arg.startswith("-")), None)
    operands = [arg for arg in command.args if not arg.startswith("-")]
    if code is not None or operands:
        # Its program is given: what comes through the pipe is data.
        command = msgspec.structs.replace(command, fed_by=())
    if code is None:
        code = scope.files.get(operands[0]) if operands else flow.text
    reader.add(msgspec.structs.replace(command, code=code))
    if code is not None:
        run_code(reader, code, command.program, scope)
    return Flow(None, (*flow.sources, command.program)[-4:])


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
        code = flow.text if source is None else scope.files.get(source)
    reader.add(msgspec.structs.replace(command, code=code))
    return Flow(None, (*flow.sources, command.program)[-4:])


def run_eval(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`eval`: its words are a script in this very scope."""
    if not command.args:
        return None
    reader.add(msgspec.structs.replace(command, code=" ".join(command.args)))
    return reader.nested(" ".join(command.args), scope, flow)


def run_source(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    reader.add(command)
    text = scope.files.get(command.args[0]) if command.args else None
    return NOTHING if text is None else reader.nested(text, scope, flow)


def run_remote(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`ssh HOST words...`: the words are joined and read by a shell over there."""
    words = SSH.inner(command.args)
    reader.add(command)
    if not words:
        return NOTHING if flow.text is None else script(reader, command, elsewhere(scope, command), flow, flow.text)
    return reader.nested(" ".join(words), elsewhere(scope, command), flow)


def elsewhere(scope: Scope, command: Command) -> Scope:
    """Another machine: nothing of ours is known there."""
    other = Scope("~")
    other.via = (*scope.via, command.program)
    return other


def run_su(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`su -c CODE`, `script -c CODE`, `watch CODE`, `flock FILE -c CODE`."""
    code = inline_code(command, ("-c", "--command", "--session-command"))
    reader.add(command)
    if code is None and command.program == "runuser":
        return run_prefix(reader, command, scope, flow, Wrapper(frozenset(("-u", "-g", "-G"))))
    if code is None and command.program == "flock":
        return run_prefix(reader, command, scope, flow, PREFIXES["flock"])
    return NOTHING if code is None else script(reader, command, scope, flow, code)


def run_watch(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    words = Wrapper(frozenset(("-n", "--interval"))).inner(command.args)
    return script(reader, command, scope, flow, " ".join(words)) if words else None


def run_trap(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`trap CODE SIGNAL` runs later, `at` and `batch` run what they are fed."""
    if command.program != "trap":
        reader.add(command)
        return NOTHING if flow.text is None else script(reader, command, scope, NOTHING, flow.text)
    words = [arg for arg in command.args if arg != "--"]
    return script(reader, command, scope, NOTHING, words[0]) if len(words) > 1 and words[0] not in ("-", "") else None


def run_xargs(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`xargs rm`: the names come from the pipe."""
    words = (XARGS if command.program == "xargs" else PARALLEL).inner(command.args)
    items: tuple[str, ...] = flow.items or (tuple(flow.text.split()[:MAX_ITEMS]) if flow.text else ())
    if ":::" in words:
        at = words.index(":::")
        words, items = words[:at], tuple(words[at + 1 :][:MAX_ITEMS])
    if not words:
        return None
    mark = next((command.args[i + 1] for i, a in enumerate(command.args[:-1]) if a in ("-I", "--replace")), "{}")
    filled: list[str] = []
    for word in words:
        if word == mark:
            filled += items or ("{}",)
        elif mark in word and items:
            filled.append(word.replace(mark, items[0]))
        else:
            filled.append(word)
    if filled == words:
        filled += items or ("{}",)
    inner = below(scope, command.program)
    if command.program == "parallel" and len(words) == 1 and " " in words[0]:
        return reader.nested(" ".join(filled), inner, NOTHING)
    return reader.execute(filled, inner, Flow(None, flow.sources), redirects=command.redirects, filtered=not items)


def run_java(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`java -jar tool.jar words...` is the tool."""
    args = command.args
    if "-jar" not in args[:-1]:
        return None
    at = args.index("-jar") + 1
    name = program_name(args[at].rpartition("/")[2].removesuffix(".jar"))
    return reader.execute([name, *args[at + 1 :]], scope, flow, redirects=command.redirects, span=command.span)


def run_terminal(reader: Reader, command: Command, scope: Scope, flow: Flow) -> Flow | None:
    """`tmux new-session -d 'code'`, `screen -dm words`, `vagrant ssh -c code`, `gcloud ... ssh --command code`."""
    code = inline_code(command, ("-c", "--command", "/c", "/C"))
    if (
        code is None
        and command.program == "tmux"
        and command.args[:1]
        and command.args[0] in ("new", "new-session", "send-keys")
    ):
        code = next((arg for arg in reversed(command.args) if " " in arg), None)
    if command.program == "cmd" and command.args[:1] and command.args[0].lower() == "/c":
        code = " ".join(command.args[1:])
    if code is None or (command.program in ("gcloud", "vagrant") and "ssh" not in command.args):
        return None
    reader.add(command)
    return reader.nested(code, elsewhere(scope, command) if command.program != "tmux" else below(scope, "tmux"), flow)


def script(reader: Reader, command: Command, scope: Scope, flow: Flow, text: str) -> Flow:
    """A script carried by a command."""
    return reader.nested(text, below(scope, command.program), NOTHING if flow.text == text else flow)


def below(scope: Scope, program: str) -> Scope:
    """The scope inside a wrapper."""
    inner = scope.copy()
    inner.via = (*scope.via, program)
    return inner


Handler = Callable[["Reader", Command, Scope, Flow], Flow | None]

HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, run_shell),
    **dict.fromkeys(CODE_OPTIONS, database),
    **dict.fromkeys(INTERPRETERS, run_interpreter),
    **{program: run_subcommand for program, _ in SUBCOMMAND_PREFIXES},
    **dict.fromkeys(("podman", "nerdctl", "docker-compose"), run_subcommand),
    **dict.fromkeys(("xargs", "parallel"), run_xargs),
    **dict.fromkeys(("su", "runuser", "script", "flock"), run_su),
    **dict.fromkeys(("trap", "at", "batch"), run_trap),
    **dict.fromkeys(("tmux", "screen", "vagrant", "gcloud", "cmd", "wsl"), run_terminal),
    **dict.fromkeys(("source", "."), run_source),
    **dict.fromkeys(("ssh", "autossh", "mosh"), run_remote),
    "eval": run_eval, "watch": run_watch, "find": run_find, "java": run_java,
}  # fmt: skip
