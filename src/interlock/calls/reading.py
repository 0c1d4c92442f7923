"""Reading: a tool call's arguments become a CallReading. Pure: no input, no output, no state."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec

from ..core import late_pattern
from .findings import Findings, ReadFile
from .model import CallReading, Kind, Verb, Wait, Zone
from .python import read_python
from .scope import MAX_TEXT, Scope
from .shell import ShellReader
from .sql import BARE, read_sql
from .table import LOOKING, LOOKS_ONLY, read_table, shipped, use_table, word_set
from .tools import (
    ANSWERS,
    ARRANGING,
    CODES,
    FOLDERS,
    PATHS,
    SENDING,
    VIEWING,
    command_of,
    edits_of,
    first_text,
    is_shell,
    kind_of,
    waits_of,
)  # fmt: skip
from .zones import LOOPBACK, resolve

FILE = late_pattern(r"(?:~|\.{1,2})?/?(?:[\w.@-]+/)*[\w@-]*\.?[\w-]+")
MAX_PLACE = 300
VERBS = ("action", "operation", "op", "verb", "act", "command_type")
"""Arguments of a tool for many things that say which."""
WHOLE = word_set("directory tree folder dir")
MAX_VERB = 40
MAX_INNER = 64
LONG = 8_000
"""Characters from which on few readings are cached."""
SOURCES = ("source", "src", "from", "old_path")
"""Arguments that name the file to be moved."""
MAX_SAYS = 4_000
MAX_WHY = 400
ENCODER = msgspec.json.Encoder(order="sorted")
DESTROYING = word_set("delete remove destroy drop purge wipe erase terminate revoke")
CHANGING_WORDS = (LOOKING - LOOKS_ONLY) | word_set("send book return exchange fix commit push cancel submit")
PARTLY = word_set("edit editor multiedit replace insert patch apply update modify undo rename")
"""Words of tools that change a part of a file."""
LISTING = word_set("glob grep list ls search find")
METHODS: dict[str, Verb] = {"GET": "fetch", "HEAD": "fetch", "OPTIONS": "fetch", "DELETE": "delete"}


def read_call(
    name: str, arguments: dict[str, object], cwd: str = "", workspace: str = "", read_file: ReadFile | None = None
) -> CallReading:
    """Read a tool call: what it runs, changes, checks, waits for, and whether it can be read plainly.

    `read_file` gives the texts of files that the call may run: those of the workspace, or what earlier calls wrote.
    """
    kind, words = kind_of(name)
    if (verb := first_text(arguments, VERBS)) and kind in ("other", "edit") and len(verb) < MAX_VERB:
        words |= kind_of(f"x_{verb}")[1]
    here = first_text(arguments, FOLDERS)
    folder = resolve(here, cwd) if here else cwd
    if is_shell(kind, words, arguments) and (command := command_of(arguments)):
        return read_script(command, folder, workspace, read_file)
    key = key_of(name, arguments)
    findings = Findings(workspace, read_file)
    waits = waits_of(kind, words)
    if waits is None and kind == "shell" and "stdin" in words:
        waits = Wait("polls")  # writing nothing into a running command asks what it has printed since
    if waits is not None:
        findings.waits.append(waits)
        kind = "read" if kind in ("shell", "agent") and waits.how == "polls" else kind
    if kind == "code" and (code := first_text(arguments, CODES)):
        _read_cell(code, folder, findings)
    elif kind == "read" or (kind == "edit" and first_text(arguments, (*PATHS, *SOURCES))):
        kind = _read_file_tool(kind, words, arguments, folder, findings)
    elif kind == "edit" and "*** " in (patch := first_text(arguments, ("input", "patch", "content", "text"))):
        findings.patch(patch, folder, name)
    else:
        _read_other(kind, name, words, arguments, findings)
    return _reading(kind, key, findings)


def read_script(command: str, cwd: str = "", workspace: str = "", read_file: ReadFile | None = None) -> CallReading:
    """Read a shell command or script."""
    if read_file is not None:
        return _read_script(command, cwd, workspace, read_file)
    return (_cached if len(command) < LONG else _cached_long)(command, cwd, workspace)


def _read_script(command: str, cwd: str, workspace: str, read_file: ReadFile | None = None) -> CallReading:
    findings = Findings(workspace, read_file)
    key = _digest(" ".join(command.split()))
    if len(command) > MAX_TEXT:
        findings.conceal("it is too long")
    if BARE.match(command):
        read_sql(command, findings, "sql")
        return _reading("shell", key, findings)
    try:
        ShellReader(findings, len(command)).read(command[:MAX_TEXT], Scope(cwd), decides=True)
    except RecursionError:
        findings.conceal("it is nested too deeply")
    return _reading("shell", key, findings)


_cached = lru_cache(2_048)(_read_script)
_cached_long = lru_cache(16)(_read_script)


def teach(path: str) -> None:
    """Use a user's table of programs beside the shipped one, in this process. Raises BadInput."""
    use_table(shipped().with_rows(read_table(Path(path).expanduser())))
    _cached.cache_clear()
    _cached_long.cache_clear()


def key_of(name: str, arguments: dict[str, object]) -> str:
    """A digest that is equal for equal calls, apart from white space."""
    try:
        text = ENCODER.encode((name, arguments)).decode()
    except UnicodeEncodeError:  # lone surrogates
        text = json.dumps((name, arguments), sort_keys=True, default=str)
    return _digest(" ".join(text.split()))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _read_cell(code: str, cwd: str, findings: Findings) -> None:
    """Read a notebook's cell: Python, with lines that begin with ! for a shell; or the shell's alone (`%%bash`)."""
    reader = ShellReader(findings, len(code))
    if code.lstrip().startswith(("%%bash", "%%sh")):
        reader.read(code.lstrip().partition("\n")[2][:MAX_TEXT], Scope(cwd), decides=True)
        return
    lines = code.split("\n")
    for line in lines:
        if line.lstrip().startswith("!"):
            reader.read(line.lstrip()[1:], Scope(cwd))
    plain = "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
    read_python(plain, cwd, findings, reader.run_command(Scope(cwd)), "python", None)


def _read_file_tool(
    kind: Kind, words: frozenset[str], arguments: dict[str, object], cwd: str, findings: Findings
) -> Kind:
    """Read a call of a tool that works on one file; an editor that only views reads."""
    path = first_text(arguments, PATHS)
    verb = arguments.get("command")
    if kind == "read" or (isinstance(verb, str) and verb in VIEWING):
        findings.touch("read", path, cwd, "tool", many=bool(words & LISTING))
        return "read"
    if words & {"delete", "remove"}:
        findings.touch("delete", path, cwd, "tool", many=arguments.get("recursive") is True or bool(words & WHOLE))
    elif words & {"move", "rename"}:
        source = first_text(arguments, SOURCES) or path
        findings.touch("move", source, cwd, "tool")
        findings.touch("write", first_text(arguments, ("destination", "dst", "to", "new_path")), cwd, "tool")
    else:
        whole = not words & PARTLY or verb in ("create", "write")
        by = "tool" if whole else "editor"
        writes = edits_of(resolve(path, cwd), arguments, whole)
        for write in writes:
            findings.write(write, by)
        if not writes:
            findings.touch("write", path, cwd, by)
    return kind


def _read_other(kind: Kind, name: str, words: frozenset[str], arguments: dict[str, object], findings: Findings) -> None:
    """Read a call of a custom tool by the verb in its name and the texts in its arguments."""
    if words & SENDING:
        for value in _texts(arguments):
            if len(value) < MAX_PLACE and FILE.fullmatch(value.removeprefix("@")):
                findings.add("send", value.removeprefix("@"), "service", "one", "tool")
    if words & ARRANGING and not words & LOOKS_ONLY:
        findings.add("delete" if words & DESTROYING else "arrange", name, "host", "one", name)
    elif kind in ("other", "edit", "shell"):
        place = first_text(arguments, PATHS)
        if words & DESTROYING and "/" in place:
            findings.touch("delete", place, findings.workspace, "tool", many=True)
        elif words & DESTROYING:
            target = f"{name} {first_text(arguments, tuple(arguments))[:100]}"
            findings.add("delete", target, "service", "one", "tool")
        elif kind == "other" and words & CHANGING_WORDS:
            findings.add("administer", name, "service", "one", name)
        elif path := first_text(arguments, PATHS):
            findings.touch("execute", path, "", name)
        for inner in _calls_in(arguments):
            findings.take(read_call(name, inner, findings.workspace, findings.workspace))
        for value in _texts(arguments):
            if BARE.match(value):
                read_sql(value, findings, name)
    elif kind == "web":
        url = first_text(arguments, ("url", "uri", "link"))
        verb = METHODS.get(str(arguments.get("method") or "GET").upper(), "send")
        zone: Zone = "host" if any(place in url for place in LOOPBACK) else "service"
        findings.add(verb, url or name, zone, "one", name)
    elif kind == "answer":
        findings.says.append(first_text(arguments, ANSWERS))


def _calls_in(arguments: dict[str, object]) -> Iterator[dict[str, object]]:
    """The calls inside a call's arguments: one, or a list of them."""
    for value in arguments.values():
        for each in value[:MAX_INNER] if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                yield each


def _texts(value: object, depth: int = 4) -> list[str]:
    """All texts in a call's arguments."""
    if isinstance(value, str):
        return [value]
    if depth and isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one, depth - 1)]
    if depth and isinstance(value, list):
        return [text for one in value for text in _texts(one, depth - 1)]
    return []


def _reading(kind: Kind, key: str, findings: Findings) -> CallReading:
    says = "\n".join(text.rstrip("\n") for text in findings.says)[:MAX_SAYS]
    return CallReading(
        kind, key, tuple(findings.programs), tuple(findings.effects), tuple(findings.writes), tuple(findings.checks),
        tuple(findings.waits), tuple(findings.inline), says, "; ".join(findings.hidden)[:MAX_WHY], findings.unread,
    )  # fmt: skip
