"""Archives: what packing and unpacking does besides, because an option says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .model import NOTHING, Command, PipeContent
from .scope import ShellScope, below

if TYPE_CHECKING:
    from .reader import ScriptReader

TAR_RUNS = ("--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command", "--rmt-command",
            "--info-script", "--new-volume-script", "-I", "-F")  # fmt: skip


def run_tar(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """Commands in options, and files that go once they are packed."""
    args = command.args
    inner = below(scope, command.program)
    for at, arg in enumerate(args):
        name, equals, value = arg.partition("=")
        if name in TAR_RUNS:
            text = value if equals else args[at + 1] if at + 1 < len(args) else ""
            text = text.removeprefix("exec=")
            if text and text not in ("dot", "echo", "bell"):
                reader.nested(text, inner, NOTHING)
    if "--remove-files" in args:
        _remove(reader, _packed(args), inner)
    return None


def _packed(args: tuple[str, ...]) -> list[str]:
    """The files that an archive is made of: every operand but the archive and the letters that say what to do."""
    found: list[str] = []
    skip = bool(args) and args[0][:1] != "-" and args[0].isalpha()
    archive = skip and "f" in args[0]
    for arg in args[1:] if skip else args:
        if arg[:1] == "-":
            archive = archive or (arg[1:2] != "-" and arg.endswith("f")) or arg == "--file"
        elif archive:
            archive = False
        else:
            found.append(arg)
    return found


def run_zip(reader: ScriptReader, command: Command, scope: ShellScope, flow: PipeContent) -> PipeContent | None:
    """`zip -m` and `7z -sdel` delete what they have packed."""
    args = command.args
    moves = any(arg == "--move" or (arg[:1] == "-" and arg[1:2] != "-" and "m" in arg) for arg in args)
    if (command.program == "zip" and moves) or "-sdel" in args:
        operands = [arg for arg in args if arg[:1] != "-"]
        _remove(reader, operands[1 if command.program == "zip" else 2 :], below(scope, command.program))
    return None


def _remove(reader: ScriptReader, paths: list[str], scope: ShellScope) -> None:
    if paths:
        reader.execute(["rm", "-r", *paths], scope, NOTHING)
