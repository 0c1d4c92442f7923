"""Flows: a program's output through its pipe, where it can be known without running it."""

from __future__ import annotations

import base64
import binascii
import posixpath
import re
from collections.abc import Callable

from msgspec.structs import replace

from .model import MAX_TEXT, Command, KnownFile, PipeContent, Redirect
from .scope import UNKNOWN, ShellScope
from .secret_flow import (
    MARKS,
    MAX_PATH,
    NAMING,
    SECRET,
    SECRET_VARIABLE,
    UNREVEALING,
    everything_of,
    is_secret_file,
    prints_secret,
    secret_in,
    secret_of,
    secret_word,
)
from .sinks import note_clone
from .transfers import INSTALLER, fetcher_of, note_program, program_at
from .words import ansi

MAX_SOURCES = 8
MAX_ITEMS = 32

MAX_ELEMENTS = 1_024
"""Elements of an array that are kept."""


def flow_of(command: Command, scope: ShellScope, flow: PipeContent, *, heard: bool) -> PipeContent:
    """The output of a program that has just run; updates the scope. `heard`: something reads the output."""
    make = MAKERS.get(command.program)
    out = PipeContent(None, add_source(flow.sources, command.program))
    if make is not None:
        out = make(command, scope, flow, out)
    if not heard and (mark := everything_of(command)):
        for name in packed_into(command):
            scope.note(name, KnownFile(secret=mark))
    if (heard or not command.args) and (secret := secret_shown(command, scope)):
        out = replace(out, sources=add_source(out.sources, secret))
    if command.redirects:
        keep(command.redirects, scope, out)
    return out


PACKED = re.compile(r"[\w./~-]+\.(?:tgz|tar(?:\.\w+)?|zip|7z|bundle|gz|bz2|xz|zst|sql|dump|rdb|archive|cpio|bak)\Z")
"""A file that everything is packed into."""


def packed_into(command: Command) -> list[str]:
    """The archive files that a program writes."""
    return [name for arg in command.args for name in (arg.rpartition("=")[2],) if PACKED.match(name)][:MAX_ITEMS]


def add_source(sources: tuple[str, ...], program: str) -> tuple[str, ...]:
    """The programs of a pipe plus one more; the marks of secrets stay, however long the pipe."""
    if len(sources) < MAX_SOURCES:
        return (*sources, program)
    return (*(name for name in sources if name in MARKS), *sources[1 - MAX_SOURCES :], program)


def keep(redirects: tuple[Redirect, ...], scope: ShellScope, out: PipeContent) -> None:
    """Record the text written to a file, if it is known or a secret."""
    secret = secret_of(out.sources)
    fetcher = out.sources[-1] if out.sources and out.sources[-1] in FETCHERS else ""
    for redirect in redirects:
        if redirect.writes and redirect.target and redirect.target[0] not in "&0123456789":
            if fetcher:
                scope.note(redirect.target, KnownFile(fetched=fetcher))
                continue
            if out.program:
                scope.note(redirect.target, KnownFile(program=out.program))
                continue
            if out.text is None and not secret and ">>" in redirect.op:
                continue
            scope.remember(redirect.target, out.text, more=">>" in redirect.op, secret=secret)


FETCHERS = frozenset(("curl", "wget", "aria2c", "axel", "fetch", INSTALLER))


def fed(redirects: tuple[Redirect, ...], scope: ShellScope, flow: PipeContent) -> PipeContent:
    """The input of a command that reads from a file: the text, if known, and whether it is a secret."""
    for redirect in redirects:
        if redirect.op == "<":
            file = scope.file(redirect.target)
            secret = secret_in(redirect.target, file)
            if file.text is not None or secret:
                flow = PipeContent(file.text, (secret,) if secret else ())
    return flow


def secret_shown(command: Command, scope: ShellScope) -> str:
    """The mark of the secret that a program shows because one of its arguments is a secret or a file with one."""
    if prints_secret(command):
        return SECRET
    if mark := everything_of(command):
        return mark
    if command.program in UNREVEALING:
        return ""
    if command.program == "printenv" and any(SECRET_VARIABLE.search(arg) for arg in command.args):
        return SECRET
    for arg in command.args[:MAX_ITEMS]:
        if arg[:1] == "-" and "=" not in arg:
            continue
        if mark := secret_word(arg):
            return mark
        if command.program not in NAMING and len(arg) < MAX_PATH:
            if is_secret_file(arg):
                return SECRET
            if (scope.files.known or scope.files.made) and (mark := scope.file(arg).secret):
                return mark
    return ""


def echo(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    args = command.args
    escapes = False
    while args and args[0] in ("-n", "-e", "-E", "-ne", "-en"):
        escapes = escapes or "e" in args[0]
        args = args[1:]
    text = " ".join(args)
    return PipeContent(ansi(text) if escapes else text, out.sources)


def printf(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    if not command.args:
        return out
    form, *values = command.args
    text = ansi(form)
    for value in values[:MAX_ITEMS]:
        if "%s" not in text and "%b" not in text:
            break
        text = text.replace("%s" if "%s" in text else "%b", value, 1)
    return PipeContent(text, out.sources)


def cat(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    names = [arg for arg in command.args if not arg.startswith("-")]
    if not names:
        return PipeContent(flow.text, out.sources if flow.text is None else flow.sources, flow.items)
    if len(names) == 1 and (program := program_at(names[0])):
        return PipeContent(None, out.sources, program=program)
    texts = [scope.recall(name) for name in names[:MAX_ITEMS]]
    known = [text for text in texts if text is not None]
    return PipeContent("\n".join(known)[:MAX_TEXT], out.sources) if len(known) == len(texts) else out


def copied(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """A copy of a file has the same contents."""
    names = [arg for arg in command.args if not arg.startswith("-")]
    for name in names[:-1][:MAX_ITEMS]:
        file = scope.file(name)
        if program := file.program or program_at(name):
            note_program(names[-1], program, scope)
            file = KnownFile(program=program)
        elif secret := secret_in(name, file):
            file = KnownFile(file.text, secret=secret)
        if file != UNKNOWN:
            for target in (names[-1], f"{names[-1]}/{name.rpartition('/')[2]}"):
                scope.note(target, file)
    return out


def split_file(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`split FILE PREFIX`: the pieces of a secret are secrets."""
    names = operands_of(command.args, SPLIT_VALUED)
    if names and (secret := secret_in(names[0], scope.file(names[0]))):
        scope.note(f"{names[1] if len(names) > 1 else 'x'}*", KnownFile(secret=secret))
    return out


SPLIT_VALUED = frozenset(("-a", "-b", "-C", "-l", "-n", "--bytes", "--lines", "--number"))


def processes(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """A placeholder for a process id, by the process name, which rules can match."""
    if command.program == "ps":
        asks = "ppid" in " ".join(command.args) and any(arg in ("$$", "$BASHPID") for arg in command.args)
        return PipeContent("$PPID", out.sources) if asks else out
    names = [arg for arg in command.args if arg[:1] != "-"]
    return PipeContent(f"pid-of-{names[-1]}", out.sources) if names else out


def decode(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    if flow.text is None or not any(arg in ("-d", "-D", "--decode", "-di", "-id") for arg in command.args):
        return out
    try:
        raw = (
            base64.b64decode(flow.text.strip()) if command.program != "base32" else base64.b32decode(flow.text.strip())
        )
    except (binascii.Error, ValueError):
        return out
    return PipeContent(raw.decode("utf-8", "replace"), out.sources)


def reverse(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    return out if flow.text is None else PipeContent(flow.text.strip("\n")[::-1], out.sources)


def translated(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`tr SET SET`: character by character."""
    args = command.args
    if flow.text is not None and len(args) == 2 and args[0] == "-d" and "[:" not in args[1]:
        return replace(out, text=flow.text.translate(dict.fromkeys(map(ord, ansi(args[1])))))
    if flow.text is None or len(args) != 2 or args[0][:1] == "-" or "[:" in "".join(args):
        return out
    one, other = (TR_RANGE.sub(_letters, arg.replace("\\n", "\n")) for arg in args)
    if not one or not other:
        return out
    other = other[: len(one)].ljust(len(one), other[-1])
    return replace(out, text=flow.text.translate(dict(zip(map(ord, one), other, strict=True))))


def _letters(found: re.Match[str]) -> str:
    return "".join(map(chr, range(ord(found[1]), min(ord(found[2]), 0x17F) + 1)))


TR_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def resolved(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`readlink -f`, `realpath`: the canonical path."""
    paths = [arg for arg in command.args if arg[:1] != "-"]
    return replace(out, text=scope.place(paths[0])) if len(paths) == 1 and "$" not in paths[0] else out


def folder_of(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`dirname PATH`."""
    paths = [arg for arg in command.args if arg[:1] != "-"]
    return replace(out, text=posixpath.dirname(paths[0].rstrip("/")) or ".") if len(paths) == 1 else out


def unhex(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    if flow.text is None or not any(arg.startswith("-") and "r" in arg for arg in command.args):
        return out
    try:
        return PipeContent(bytes.fromhex(flow.text.strip()).decode("utf-8", "replace"), out.sources)
    except ValueError:
        return out


def listed(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    folders = [arg for arg in command.args if not arg.startswith("-")] or ["."]
    return PipeContent(None, out.sources, tuple(f"{folder.rstrip('/')}/*" for folder in folders[:MAX_ITEMS]))


def picked(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """A filter passes on all or part of its input; `tee` also writes it to files."""
    if command.program == "tee" and flow.text is not None:
        more = "-a" in command.args or "--append" in command.args
        for name in command.args:
            if name[:1] != "-":
                scope.remember(name, flow.text, more=more)
    if command.program in ("tee", "sort", "uniq"):
        return PipeContent(flow.text, out.sources, narrowed(flow.items))
    if command.program in LINE_PICKERS and not INVERTED.isdisjoint(command.args):
        return PipeContent(None, out.sources, flow.items, flow.text or "")
    whole_lines = command.program in LINE_PICKERS and LINE_CUTS.isdisjoint(arg[:2] for arg in command.args)
    return PipeContent(None, out.sources, narrowed(flow.items), flow.text or "" if whole_lines else "")


INVERTED = frozenset(("-v", "-vE", "-Ev", "-vi", "-iv", "-vF", "-vx", "--invert-match"))
"""All but a few lines are still nearly all."""
LINE_PICKERS = frozenset(("head", "tail", "grep", "egrep", "fgrep", "rg"))
LINE_CUTS = frozenset(("-o", "-c", "-r", "--"))
"""Prefixes of options that print parts of lines, or something else; a long option may be any of them."""


def silent(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    return PipeContent("", out.sources)


def copied_block(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`dd of=FILE` writes its input."""
    if flow.text is not None:
        for arg in command.args:
            if arg.startswith("of="):
                scope.remember(arg[3:], flow.text)
    return out


def narrowed(items: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the items: no longer everything in a folder."""
    return tuple(f"{item[:-1]}{{}}" if item.endswith("/*") else item for item in items)


ENVIRONMENT_LISTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "env": ((), ("-0",)), "printenv": ((), ("-0",)), "set": ((),), "export": ((), ("-p",)),
    "declare": ((), ("-x",), ("-p",), ("-px",), ("-xp",)), "typeset": ((), ("-x",), ("-p",)), "compgen": (("-e",),),
}  # fmt: skip
"""The arguments with which these print all variables, rather than print one or run something."""


def all_variables(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """The whole environment has its own name, so that a rule can distinguish it from one variable."""
    if command.args in ENVIRONMENT_LISTS[command.program]:
        return PipeContent(None, (*flow.sources, "environment")[-MAX_SOURCES:])
    return set_parameters(command, scope, flow, out) if command.program == "set" else out


def here(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    return PipeContent(scope.cwd or ".", out.sources)


def temporary(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    return PipeContent("/tmp/tmp.XXXXXXXXXX", out.sources)


def located(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    names = [arg for arg in command.args if not arg.startswith("-")]
    if command.program == "command" and "-v" not in command.args and "-V" not in command.args:
        return out
    if not names:
        return out
    return PipeContent(names[0] if "/" in names[0] else f"/usr/bin/{names[0]}", out.sources)


def repository(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    if command.args[:2] == ("rev-parse", "--show-toplevel"):
        return PipeContent(scope.cwd or ".", out.sources)
    note_clone(command.args, scope)
    return out


def change_folder(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    names = [arg for arg in command.args if not arg.startswith("-")]
    target = names[0] if names else "~" if "-" not in command.args else scope.value("OLDPWD") or "."
    scope.variables["OLDPWD"] = scope.cwd or "."
    if target.startswith(("/", "~", "$")) or scope.cwd is None:
        # A relative folder below an unknown directory stays relative: it is still below where the script began.
        scope.cwd = target if target.startswith(("/", "~", "$")) else join_folder(None, target)
    else:
        scope.cwd = join_folder(scope.cwd, target)
    return out


def join_folder(folder: str | None, name: str) -> str:
    return name if folder is None else f"{folder.rstrip('/')}/{name}"


def define_alias(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    for arg in command.args[:MAX_ITEMS]:
        name, equals, text = arg.partition("=")
        if equals and name and not name.startswith("-"):
            scope.aliases[name] = text
    return out


def set_parameters(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    if "--" in command.args:
        scope.params = ("sh", *command.args[command.args.index("--") + 1 :])
    return out


READ_VALUED = frozenset(("-p", "-d", "-n", "-N", "-t", "-u", "-i"))
MAPFILE_VALUED = frozenset(("-d", "-n", "-O", "-s", "-u", "-C", "-c"))


def operands_of(args: tuple[str, ...], valued: frozenset[str]) -> list[str]:
    """The operands of a builtin, without values of options that take the next word."""
    return [arg for at, arg in enumerate(args) if arg[:1] != "-" and (at == 0 or args[at - 1] not in valued)]


def read_line(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`read NAMES`: the words of the first line; with unknown input, the variables become unknown."""
    names = operands_of(command.args, READ_VALUED) or ["REPLY"]
    if flow.text is None:
        for name in names:
            scope.variables.pop(name, None)
        if flow.items and flow.items[0].endswith("/*"):
            scope.variables[names[0]] = flow.items[0]
        return out
    line = flow.text.split("\n", 1)[0].strip()
    if any(arg[:1] == "-" and arg.endswith("a") for arg in command.args):
        scope.arrays[names[0]] = tuple(line.split()[:MAX_ELEMENTS])
        return out
    scope.variables.update(zip(names, [*line.split(None, len(names) - 1), *[""] * len(names)], strict=False))
    return out


def read_lines(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`mapfile NAME`: one element per line."""
    names = operands_of(command.args, MAPFILE_VALUED) or ["MAPFILE"]
    if flow.text is not None:
        scope.arrays[names[0]] = tuple(flow.text.split("\n")[:MAX_ELEMENTS])
    return out


def in_one_line(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """`xargs` alone prints its input on one line."""
    return out if flow.text is None else PipeContent(" ".join(flow.text.split()), out.sources)


def fetched(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """Output fetched from the network; the installers of well-known tools have their own source name."""
    return PipeContent(None, add_source(flow.sources, fetcher_of(command)))


def archived(command: Command, scope: ShellScope, flow: PipeContent, out: PipeContent) -> PipeContent:
    """An archive that contains a secret is a secret; its name is the first argument that looks like an archive."""
    if secret := secret_shown(command, scope):
        names = (arg for arg in command.args if arg.endswith(ARCHIVES))
        if name := next(names, ""):
            scope.note(name, KnownFile(secret=secret))
    return out


ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".bz2", ".xz", ".zst", ".gpg", ".enc", ".b64", ".rar")

MAKERS: dict[str, Callable[[Command, ShellScope, PipeContent, PipeContent], PipeContent]] = {
    "echo": echo, "printf": printf, "cat": cat, "tee": picked, "sort": picked, "uniq": picked, "grep": picked,
    "egrep": picked, "fgrep": picked, "rg": picked, "head": picked, "tail": picked, "sed": picked, "awk": picked,
    "base64": decode, "base32": decode, "rev": reverse, "tr": translated,
    "readlink": resolved, "realpath": resolved, "dirname": folder_of,
    "xxd": unhex, "ls": listed, "pwd": here, "mktemp": temporary,
    "which": located, "command": located, "git": repository, "cd": change_folder, "pushd": change_folder,
    "alias": define_alias, "cp": copied, "mv": copied, "install": copied,
    **dict.fromkeys(ENVIRONMENT_LISTS, all_variables), "xargs": in_one_line, "dd": copied_block,
    **dict.fromkeys(("true", ":", "exit", "sleep"), silent),
    **dict.fromkeys(("zip", "tar", "7z", "gtar", "bsdtar", "rar", "gpg", "gzip"), archived),
    **dict.fromkeys(("curl", "wget", "aria2c", "axel", "fetch"), fetched),
    "split": split_file, "pgrep": processes, "pidof": processes, "ps": processes,
    "read": read_line, "mapfile": read_lines, "readarray": read_lines,
}  # fmt: skip
