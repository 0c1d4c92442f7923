"""The text that operations mean: applied one after the other to what the file was before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from .session import Operation, OperationType


class OutOfText(Exception):
    """Raised when an operation names a line that the text does not have at that point."""


def expected_content(before: str, operations: Iterable[Operation]) -> str:
    """The text after all operations. A line beyond the end means the end; deleting there deletes nothing."""
    text = normalise(before)
    for operation in operations:
        text = apply(text, operation)
    return text


def apply(text: str, operation: Operation, *, strict: bool = False) -> str:
    """The text after one operation; with `strict`, OutOfText if a line that it needs is not there."""
    lines = split_lines(text)
    if operation.type is OperationType.DELETE:
        last = operation.line_end or operation.line
        if strict and last > len(lines):
            raise OutOfText(f"line {last} is beyond the end: the text has {len(lines)} lines at that point")
        return _without(lines, operation.line, last)
    if operation.type is OperationType.INSERT:
        if strict and operation.line > len(lines) + 1:
            raise OutOfText(f"line {operation.line} is beyond the end: the text has {len(lines)} lines at that point")
        lines.insert(operation.line - 1, _opening(lines, operation.line) + normalise(operation.content))
    return "".join(lines)


def split_lines(text: str) -> list[str]:
    """Lines with their ends, as an editor counts them; no empty line after the last line end."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def normalise(text: str) -> str:
    """One kind of line end, and no byte order mark: an editor keeps the file's own."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def text_hash(text: str) -> str:
    """The hash by which a text is recognised, whatever its line ends."""
    return hashlib.sha256(normalise(text).encode("utf-8", "surrogatepass")).hexdigest()


def _opening(lines: list[str], line: int) -> str:
    """A line end before text that goes behind a last line without one."""
    return "\n" if lines and line > len(lines) and not lines[-1].endswith("\n") else ""


def _without(lines: list[str], first: int, last: int) -> str:
    """The text without these lines; where the last one goes, so does the line end before it if it had none itself."""
    kept = lines[: first - 1] + lines[last:]
    ended = not lines or lines[-1].endswith("\n")
    if kept and first <= len(lines) <= last and not ended:
        kept[-1] = kept[-1].removesuffix("\n")
    return "".join(kept)
