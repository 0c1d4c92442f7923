"""Flows: what a program hands on through its pipe, where that can be known without running it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

from .model import Command, Flow
from .scope import Scope
from .words import ansi

MAX_SOURCES = 8
MAX_ITEMS = 32


def flow_of(command: Command, scope: Scope, flow: Flow) -> Flow:
    """The output of a program that has just run, and what it changed in the scope."""
    make = MAKERS.get(command.program)
    out = Flow(None, (*flow.sources, command.program)[-MAX_SOURCES:])
    if make is not None:
        out = make(command, scope, flow, out)
    if command.redirects and out.text is not None:
        for redirect in command.redirects:
            if redirect.writes:
                scope.remember(redirect.target, out.text)
    return out


def echo(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    args = command.args
    escapes = False
    while args and args[0] in ("-n", "-e", "-E", "-ne", "-en"):
        escapes = escapes or "e" in args[0]
        args = args[1:]
    text = " ".join(args)
    return Flow(ansi(text) if escapes else text, out.sources)


def printf(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    if not command.args:
        return out
    form, *values = command.args
    text = ansi(form)
    for value in values[:MAX_ITEMS]:
        if "%s" not in text and "%b" not in text:
            break
        text = text.replace("%s" if "%s" in text else "%b", value, 1)
    return Flow(text, out.sources)


def cat(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    names = [arg for arg in command.args if not arg.startswith("-")]
    if not names:
        return Flow(flow.text, out.sources if flow.text is None else flow.sources, flow.items)
    if all(name in scope.files for name in names):
        return Flow("\n".join(scope.files[name] for name in names), out.sources)
    return out


def decode(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    if flow.text is None or not any(arg in ("-d", "-D", "--decode", "-di", "-id") for arg in command.args):
        return out
    try:
        raw = (
            base64.b64decode(flow.text.strip()) if command.program != "base32" else base64.b32decode(flow.text.strip())
        )
    except (binascii.Error, ValueError):
        return out
    return Flow(raw.decode("utf-8", "replace"), out.sources)


def reverse(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    return out if flow.text is None else Flow(flow.text.strip("\n")[::-1], out.sources)


def unhex(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    if flow.text is None or not any(arg.startswith("-") and "r" in arg for arg in command.args):
        return out
    try:
        return Flow(bytes.fromhex(flow.text.strip()).decode("utf-8", "replace"), out.sources)
    except ValueError:
        return out


def listed(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    folders = [arg for arg in command.args if not arg.startswith("-")] or ["."]
    return Flow(None, out.sources, tuple(f"{folder.rstrip('/')}/*" for folder in folders[:MAX_ITEMS]))


def picked(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    """A filter hands on what it was given, or some of it; `tee` writes it down as well."""
    if command.program == "tee" and flow.text is not None:
        for name in command.args:
            scope.remember(name, flow.text)
    return Flow(flow.text if command.program in ("tee", "sort", "uniq") else None, out.sources, narrowed(flow.items))


def narrowed(items: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the items: no longer everything in a folder."""
    return tuple(f"{item[:-1]}{{}}" if item.endswith("/*") else item for item in items)


def here(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    return Flow(scope.cwd or ".", out.sources)


def temporary(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    return Flow("/tmp/tmp.XXXXXXXXXX", out.sources)


def located(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    names = [arg for arg in command.args if not arg.startswith("-")]
    if command.program == "command" and "-v" not in command.args and "-V" not in command.args:
        return out
    return Flow(names[0], out.sources) if names else out


def repository(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    if command.args[:2] == ("rev-parse", "--show-toplevel"):
        return Flow(scope.cwd or ".", out.sources)
    return out


def change_folder(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    names = [arg for arg in command.args if not arg.startswith("-")]
    target = names[0] if names else "~"
    if target.startswith(("/", "~", "$")) or scope.cwd is None:
        # A relative folder of an unknown place stays relative: it is still below where the script began.
        scope.cwd = target if target.startswith(("/", "~", "$")) else join_folder(None, target)
    else:
        scope.cwd = join_folder(scope.cwd, target)
    return out


def join_folder(folder: str | None, name: str) -> str:
    return name if folder is None else f"{folder.rstrip('/')}/{name}"


def define_alias(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    for arg in command.args[:MAX_ITEMS]:
        name, equals, text = arg.partition("=")
        if equals and name and not name.startswith("-"):
            scope.aliases[name] = text
    return out


def set_parameters(command: Command, scope: Scope, flow: Flow, out: Flow) -> Flow:
    if "--" in command.args:
        scope.params = ("sh", *command.args[command.args.index("--") + 1 :])
    return out


MAKERS: dict[str, Callable[[Command, Scope, Flow, Flow], Flow]] = {
    "echo": echo, "printf": printf, "cat": cat, "tee": picked, "sort": picked, "uniq": picked, "grep": picked,
    "egrep": picked, "fgrep": picked, "rg": picked, "head": picked, "tail": picked, "sed": picked, "awk": picked,
    "base64": decode, "base32": decode, "rev": reverse, "xxd": unhex, "ls": listed, "pwd": here, "mktemp": temporary,
    "which": located, "command": located, "git": repository, "cd": change_folder, "pushd": change_folder,
    "alias": define_alias, "set": set_parameters,
}  # fmt: skip
