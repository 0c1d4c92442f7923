"""Patch: differences of texts, as people read them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator

from .change import Difference
from .entry import Entry
from .tree import printable

LARGEST = 1024 * 1024
"""Texts from this size on are named, not shown: comparing them would take long."""

Read = Callable[[str, Entry], bytes]
"""The content of a file at one of the two moments."""


def patch(found: Iterable[Difference], read_a: Read, read_b: Read) -> str:
    """A unified diff of everything that differs; what is no text is said in one line."""
    return "".join(line for difference in found for line in _one(difference, read_a, read_b))


def _one(difference: Difference, read_a: Read, read_b: Read) -> Iterator[str]:
    path, a, b = difference.path, difference.a, difference.b
    shown = printable(path)
    yield f"diff --interlock a/{shown} b/{shown}\n"
    yield from _headers(a, b)
    if (a is None or not a.is_folder) and (b is None or not b.is_folder) and difference.kind not in ("mode", "touched"):
        old, new = _text(path, a, read_a), _text(path, b, read_b)
        if old is None or new is None:
            yield "Not shown: not a text, or too large\n"
            return
        names = (f"a/{shown}" if a is not None else "/dev/null", f"b/{shown}" if b is not None else "/dev/null")
        for line in difflib.unified_diff(old, new, *names):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _headers(a: Entry | None, b: Entry | None) -> Iterator[str]:
    if a is None and b is not None:
        yield f"new {b.kind} mode {b.mode:o}\n"
    elif b is None and a is not None:
        yield f"deleted {a.kind} mode {a.mode:o}\n"
    elif a is not None and b is not None and a.mode != b.mode:
        yield f"old mode {a.mode:o}\nnew mode {b.mode:o}\n"


def _text(path: str, entry: Entry | None, read: Read) -> list[str] | None:
    """The lines of a text; None for what is none. A link's text is its target."""
    if entry is None:
        return []
    if entry.size > LARGEST:
        return None
    content = entry.data if entry.is_link else read(path, entry)
    if b"\0" in content[:8192]:
        return None
    return content.decode("utf-8", "backslashreplace").splitlines(keepends=True)
