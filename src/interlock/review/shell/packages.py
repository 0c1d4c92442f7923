"""Packages: commands of Node's package managers that fetch and run a program, or do what a system program does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..wordlist import name_set
from .interpreters import inline_code
from .model import NOTHING, Command, PipeContent
from .projects import run_script
from .scope import ShellScope, below
from .wrappers import Wrapper

if TYPE_CHECKING:
    from .reader import ScriptReader

VERSION = re.compile(r"(@?[^@]+)@[^@]*\Z")
"""`rimraf@5`, `@scope/tool@latest`."""

PROGRAMS = {"trash-cli": "trash"}
"""Packages whose program has a different name."""

RUNNING = name_set("exec x dlx")
"""Subcommands that run any package's program."""

TOOLS = name_set("rimraf del-cli shx trash cross-env cross-env-shell env-cmd dotenv concurrently nodemon npx")
"""Package programs that `yarn NAME` runs; any other name is assumed to be a script of the project."""

MANAGER = Wrapper(name_set("-C --cwd --dir --prefix --filter -F -w --workspace --loglevel"))
MANAGERS = name_set("npm pnpm yarn bun")
RUNNER = Wrapper(name_set("-p --package -w --workspace"))
CALL = ("-c", "--call", "--shell-mode")


def run_package(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`npx TOOL words...`, `npx -c CODE`."""
    code = inline_code(command, CALL)
    if code is not None:
        reader.add(command)
        return reader.nested(code, below(scope, command.program), flow)
    words = RUNNER.inner(command.args)
    return _run_tool(reader, command, words, scope, flow) if words else None


def run_manager(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`npm exec TOOL`, `pnpm dlx TOOL`, `yarn TOOL`, `yarn run TOOL`."""
    words = MANAGER.inner(command.args)
    if words[:1] == ["workspace"]:
        words = words[2:]
    if not words:
        return None
    if words[0] in RUNNING:
        inner = Command(program=command.program, args=tuple(words[1:]), redirects=command.redirects, span=command.span)
        return run_package(reader, inner, scope, flow)
    if run_script(reader, scope, words, command.program):
        reader.add(command)
        return NOTHING
    if words[0] in ("run", "run-script") and len(words) > 1:
        words = words[1:]
    return _run_tool(reader, command, words, scope, flow) if words[0] in TOOLS else None


def _run_tool(
    reader: ScriptReader, command: Command, words: list[str], scope: ShellScope, flow: PipeContent
) -> PipeContent:
    if len(words) == 1 and " " in words[0]:
        return reader.nested(words[0], below(scope, command.program), flow)
    found = VERSION.match(words[0])
    name = found[1] if found is not None else words[0]
    return reader.execute(
        [PROGRAMS.get(name, name), *words[1:]], below(scope, command.program), flow,
        redirects=command.redirects, filtered=command.filtered, span=command.span,
    )  # fmt: skip


def run_removal(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`rimraf` and `del-cli` are `rm -rf`."""
    operands = [arg for arg in command.args if arg[:1] != "-"]
    if not operands or "--dry-run" in command.args:
        return None
    return reader.execute(
        ["rm", "-rf", *operands], below(scope, command.program), flow, filtered=command.filtered,
        redirects=command.redirects,
    )  # fmt: skip


def run_concurrently(
    reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent
) -> PipeContent | None:
    """`concurrently CODE CODE`, `nodemon --exec CODE`."""
    code = inline_code(command, ("-x", "--exec"))
    codes = [code] if code is not None else []
    if command.program == "concurrently":
        codes += [arg for arg in command.args if arg[:1] != "-"]
    reader.add(command)
    for text in codes:
        reader.nested(text, below(scope, command.program), NOTHING)
    return NOTHING
