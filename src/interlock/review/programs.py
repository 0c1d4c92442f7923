"""Programs: the action of a command, by its name and subcommand."""

from __future__ import annotations

from typing import Literal

from .code_signs import signs_in
from .program_names import EDITS_IN_PLACE, GIT_QUESTIONS, PROGRAMS, SUBCOMMANDS, ListingOption
from .shell import Command
from .shell.names import CODE_OPTIONS, INTERPRETERS, SHELLS

Action = Literal["delete", "network", "modify", "create", "read", "unknown", "unparsable"]

RISKS: dict[Action, float] = {
    "delete": 0.8, "network": 0.6, "modify": 0.4, "create": 0.3, "read": 0.1, "unknown": 0.4, "unparsable": 0.7,
}  # fmt: skip
"""Base risk by action; .4 for an unknown program, .7 for a script that cannot be parsed."""

READING = (
    "select",
    "show",
    "describe",
    "explain",
    "get",
    "info",
    "ping",
    "keys",
    ".tables",
    ".schema",
    "\\d",
    "\\l",
    "with",
)
"""First words of statements that only read."""


def action_of(command: Command) -> Action:
    """The action of a command; `unknown` for a program that is not in the tables, or that runs code we cannot see."""
    program = command.program
    action = PROGRAMS.get(program)
    if action is not None:
        edits = EDITS_IN_PLACE.get(program)
        return "modify" if edits is not None and any(arg.startswith(edits) for arg in command.args) else action
    table = SUBCOMMANDS.get(program)
    if table is not None:
        at = next((at for at, arg in enumerate(command.args[:6]) if arg in table), None)
        if at is None:
            # An unknown subcommand may do anything; options alone ask for help or a version.
            return table.get("", "unknown" if any(arg[:1] != "-" for arg in command.args) else "read")
        subcommand = command.args[at]
        return git_action(subcommand, command.args[at + 1 :], table) if program == "git" else table[subcommand]
    if program in SHELLS or program in INTERPRETERS:
        return action_of_code(command)
    if program in CODE_OPTIONS:
        return "read" if (command.code or "").lstrip().lower().startswith(READING) else "modify"
    return "unknown"


def git_action(subcommand: str, args: tuple[str, ...], table: dict[str, Action]) -> Action:
    """The action of a git subcommand that lists or changes, by its arguments."""
    if subcommand in ("clean", "rm"):
        previews = any(arg == "--dry-run" or (arg[:1] == "-" != arg[1:2] and "n" in arg) for arg in args)
        return "read" if previews else "modify" if "--cached" in args else "delete"
    question = GIT_QUESTIONS.get(subcommand)
    if question is None:
        return table[subcommand]
    return "read" if asks(question, args) else question.otherwise


def asks(question: ListingOption, args: tuple[str, ...]) -> bool:
    """Whether the arguments query something rather than change it."""
    names = {arg.partition("=")[0] for arg in args}
    operands = [arg for arg in args if arg[:1] != "-"]
    if not question.changing.isdisjoint(names):
        return False
    if not question.asking.isdisjoint(names):
        return True
    if operands and question.words:
        return operands[0] in question.words
    return len(operands) <= question.operands


def action_of_code(command: Command) -> Action:
    """The action of an interpreter: visible code is judged by its own commands."""
    if command.code is not None or command.stdin is not None:
        return "read" if command.program in SHELLS or not signs_in(command.code or "").harms else "unknown"
    module = command.args[1] if command.args[:1] == ("-m",) and len(command.args) > 1 else ""
    if module in PROGRAMS:
        # `python -m pytest` does what `pytest` does.
        return PROGRAMS[module]
    return "read" if command.args[-1:] in (("--version",), ("-V",), ("--help",)) else "unknown"
