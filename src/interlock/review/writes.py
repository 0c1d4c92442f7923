"""Writes: the files that a tool call writes, with their text, whatever the tool's argument names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .wordlist import as_text
from .written_files import MAX_TEXT, Write, shortened

MAX_EDITS = 256
"""Edits of one call that are checked."""

MAX_PATCH = 262_144
"""Characters of a patch that are checked."""

WHOLE = (
    "content",
    "file_text",
    "contents",
    "text",
    "data",
    "new_source",
    "source",
    "body",
    "code",
    "fileText",
    "newSource",
)
NEW = (
    "new_string",
    "new_str",
    "replace",
    "replacement",
    "insert_text",
    "new_text",
    "new",
    "newString",
    "newStr",
    "newText",
)
OLD = ("old_string", "old_str", "search", "old_text", "old", "oldString", "oldStr", "oldText")
PATCHES = ("patch", "diff", "input", "changes")

PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update) File: |\+\+\+ (?:b/)?)([^\t\n]{1,1024})")


def writes_of(path: str | None, arguments: dict[str, object]) -> tuple[Write, ...]:
    """The texts that a call writes to files or edits into them."""
    if path is not None:
        found = tuple(_edits(path, arguments))
        if found:
            return found
    for key in PATCHES:
        value = arguments.get(key)
        if isinstance(value, str) and ("*** " in value or "+++ " in value):
            return tuple(_patched(value[:MAX_PATCH]))
    return ()


def _edits(path: str, arguments: dict[str, object]) -> Iterator[Write]:
    edits = arguments.get("edits")
    if isinstance(edits, list):
        for edit in edits[:MAX_EDITS]:
            if isinstance(edit, dict):
                yield from _edit(path, edit)
        return
    if _first(arguments, NEW) is not None:
        yield from _edit(path, arguments)
        return
    for key in WHOLE:
        value = arguments.get(key)
        if isinstance(value, str):
            yield Write(path, _bounded(value))
            return


def _edit(path: str, edit: dict[str, object]) -> Iterator[Write]:
    new = _first(edit, NEW)
    if new is not None:
        yield Write(path, _bounded(new), _bounded(_first(edit, OLD) or ""))


def _first(edit: dict[str, object], keys: tuple[str, ...]) -> str | None:
    for key in keys:
        value = edit.get(key)
        if isinstance(value, str):
            return value
    return None


def _patched(patch: str) -> Iterator[Write]:
    """The lines that a patch adds, file by file."""
    path = ""
    lines: list[str] = []
    for line in patch.split("\n"):
        found = PATCHED.match(line)
        if found is not None:
            if path and lines:
                yield Write(path, _bounded("\n".join(lines)), "")
            path, lines = found[1].strip(), []
        elif line[:1] == "+":
            lines.append(line[1:])
    if path and lines:
        yield Write(path, _bounded("\n".join(lines)), "")


def _bounded(text: str) -> str:
    """The text, or its beginning and its end."""
    return as_text(text if len(text) <= MAX_TEXT * 2 else shortened(text))
