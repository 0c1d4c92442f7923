"""Write docs/cli.md and the man page from the commands themselves: `make cli`; with --check only compare."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from interlock import __version__
from interlock.cli.main import COMMANDS, GROUPS, app

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cli.md"
MANUAL = ROOT / "share" / "man" / "man1" / "interlock.1"

ABOUT = """# Command line

<!-- Written by scripts/cli_reference.py: run `make cli` after changing a command. -->

Every command has `-h`/`--help`. `interlock --install-completion` adds completion of commands, options, runs and
incidents to bash, zsh or fish. Exit statuses: 0 done, 1 not everything (the command says what), 2 wrong usage, 3 not
found, 4 failed, 5 outcome unknown, 130 interrupted; `interlock run` ends with the status of its command, or 123 (not
proven done), 124 (limit), 125 (emergency stop), 130 (cancelled).
"""


def commands() -> Iterator[tuple[str, Any, Any]]:
    """Every command that can be called, with its name in full, in the order of the help."""
    root = typer.main.get_command(app)
    context = root.make_context("interlock", [], resilient_parsing=True)
    yield "interlock", root, context
    for name in COMMANDS:
        yield from below(f"interlock {name}", root.get_command(context, name), context)


def below(path: str, command: Any, parent: Any) -> Iterator[tuple[str, Any, Any]]:
    context = type(parent)(command, info_name=path.rpartition(" ")[2], parent=parent)
    yield path, command, context
    for name, each in getattr(command, "commands", {}).items():
        yield from below(f"{path} {name}", each, context)


def usage(path: str, command: Any, context: Any) -> str:
    return " ".join([path, *command.collect_usage_pieces(context)])


def rows(command: Any, context: Any) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Arguments and options, each with its help on one line."""
    arguments, options = [], []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            kind = arguments if parameter.param_type_name == "argument" else options
            kind.append((record[0], " ".join(record[1].split())))
    return arguments, options


def paragraphs(command: Any) -> tuple[list[str], list[str]]:
    """The help in paragraphs, and the commands of its examples."""
    prose, examples = [], []
    for part in (command.help or "").strip().split("\n\n"):
        text = " ".join(part.split())
        if text.startswith("Example: "):
            examples.append(text.removeprefix("Example: "))
        elif text:
            prose.append(text)
    return prose, examples


def page() -> str:
    parts = [ABOUT]
    for title, group in GROUPS.items():
        lines = "".join(f"| [`{name}`](#interlock-{name}) | {about} |\n" for name, about in group.items())
        parts.append(f"## {title}\n\n| command | what it does |\n|---|---|\n{lines}")
    parts.append("## Options of every command\n")
    for path, command, context in commands():
        if path == "interlock":
            parts.append(table("Option", rows(command, context)[1]))
            continue
        prose, examples = paragraphs(command)
        parts.append(f"{'##' if path.count(' ') == 1 else '###'} {path}\n")
        parts += [f"{marked(text)}\n" for text in prose]
        parts.append(f"```text\n{usage(path, command, context)}\n```\n")
        if examples:
            parts.append("Example:\n\n```text\n" + "\n".join(examples) + "\n```\n")
        arguments, options = rows(command, context)
        parts += [table("Argument", arguments)] if arguments else []
        own = [row for row in options if "--help" not in row[0]]
        parts += [table("Option", own)] if own else []
    return "\n".join(parts).rstrip("\n") + "\n"


def table(title: str, given: list[tuple[str, str]]) -> str:
    lines = "".join(f"| `{cell(name)}` | {marked(cell(about))} |\n" for name, about in given)
    return f"| {title} | |\n|---|---|\n{lines}"


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def marked(text: str) -> str:
    """Text in which nothing is taken for a tag or for emphasis outside of code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([*_<>{}\[\]])", r"\\\1", piece) for piece in pieces)


def manual() -> str:
    """The man page: groups, then every command with its options."""
    lines = [
        f'.TH INTERLOCK 1 "" "interlock {__version__}" "User Commands"',
        ".SH NAME",
        r"interlock \- supervise autonomous agents",
        ".SH SYNOPSIS",
        r".B interlock",
        "[OPTIONS] COMMAND [ARGS]...",
        ".SH DESCRIPTION",
        "Interlock supervises autonomous agents: it reviews each call, detects loops and damage, intervenes with the",
        "mildest measure that works, and can undo what was done.",
        ".SH COMMANDS",
    ]
    for title, group in GROUPS.items():
        lines.append(f".SS {title}")
        for name, about in group.items():
            lines += [".TP", f".B {name}", roff(about)]
    lines.append(".SH REFERENCE")
    for path, command, context in commands():
        prose, examples = paragraphs(command)
        lines += [f".SS {roff(path)}", f".B {roff(usage(path, command, context))}"]
        lines += [line for text in prose for line in (".PP", roff(text))]
        for name, about in [row for part in rows(command, context) for row in part]:
            lines += [".TP", rf"\fB{roff(name)}\fR", roff(about)]
        lines += [line for text in examples for line in (".PP", f"Example: {roff(text)}")]
    lines += [
        ".SH EXIT STATUS",
        "0 done, 1 not everything, 2 wrong usage, 3 not found, 4 failed, 5 outcome unknown, 130 interrupted.",
        ".B interlock run",
        "ends with the status of its command, or 123 (not proven done), 124 (limit), 125 (emergency stop),",
        "130 (cancelled).",
        ".SH FILES",
        ".TP",
        ".I ~/.config/interlock/interlock.yaml, interlock.yaml",
        "Configuration of the user, and of a workspace.",
        ".TP",
        ".I ~/.local/state/interlock",
        "Journals, checkpoints and incidents.",
    ]
    return "\n".join(lines) + "\n"


def roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def main() -> int:
    stale = []
    for path, text in ((PAGE, page()), (MANUAL, manual())):
        if path.exists() and path.read_text() == text:
            continue
        stale.append(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    print(
        *(f"{path} {'is out of date: run make cli' if '--check' in sys.argv else 'written'}" for path in stale),
        sep="\n",
    )
    return int("--check" in sys.argv and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
