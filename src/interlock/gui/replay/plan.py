"""ReplayPlan: a session as chunks of input, each with the hash that the file must have afterwards; also for repairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from ...core import BadInput
from ..session import (
    Operation,
    OperationType,
    OutOfText,
    ReplaySession,
    apply,
    clean_path,
    inside,
    normalise,
    read_text,
    split_lines,
    text_hash,
)
from ..verifier import differing_sections

CHUNK_CHARS = 400
"""Typed between two checks of the disk: a fifth of a second, so that little is typed again after a problem."""


Edit = tuple[int, int, str]


class CursorPosition(Struct, frozen=True):
    """Where the cursor goes: line and column from 1.

    `at_end`: nothing follows on the line. A position is reachable at the beginning or end of a line, or after plain
    characters only: after a tab or a wide character, editors count columns differently.
    """

    line: int
    column: int
    at_end: bool = False
    reachable: bool = True


class Chunk(Struct, frozen=True, kw_only=True):
    """One piece of input: go to `start`, delete up to `end`, type `text`, save.

    `begin` and `finish` are the same as offsets into the text before; `expected` is the hash of the text after.
    """

    index: int
    path: str
    operation: int
    start: CursorPosition
    end: CursorPosition
    begin: int
    finish: int
    text: str
    expected: str
    length: int

    @property
    def edits(self) -> bool:
        """False for a plain move of the cursor."""
        return bool(self.text) or self.finish > self.begin

    def applied(self, text: str) -> str:
        return text[: self.begin] + self.text + text[self.finish :]


class ReplayPlan(Struct, frozen=True):
    """All chunks of a session in order; `before` are the files as they were, line ends normalised."""

    session: ReplaySession
    before: dict[str, str]
    chunks: tuple[Chunk, ...]

    def content(self, path: str, done: int) -> str:
        """What a file holds when the first `done` chunks of the plan are done."""
        text = self.before[path]
        for chunk in self.chunks[:done]:
            if chunk.path == path:
                text = chunk.applied(text)
        return text

    def restart(self, index: int) -> int:
        """The last chunk up to this one, of the same file, whose start the cursor can reach."""
        while not self.chunks[index].start.reachable:
            index -= 1
        return index

    def expected(self, path: str) -> str:
        return self.content(path, len(self.chunks))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self.before)


def make_plan(session: ReplaySession, before: Mapping[str, str], chunk_chars: int = CHUNK_CHARS) -> ReplayPlan:
    """Divide a session into chunks; BadInput if an operation does not fit the text at that point."""
    texts = {path: normalise(before.get(path, "")) for path in session.merged()}
    start = dict(texts)
    chunks: list[Chunk] = []
    for number, entry in enumerate(session.files):
        path = clean_path(entry.path)
        for index, operation in enumerate(entry.operations):
            try:
                target = apply(texts[path], operation, strict=True)
            except OutOfText as error:
                where = f"files[{number}] ({entry.path}), operations[{index}], field 'line'"
                raise BadInput(str(error), where=where) from None
            for begin, finish, text in _edits(texts[path], target, operation, chunk_chars):
                chunk = _chunk(len(chunks), path, index, texts[path], begin, finish, text)
                texts[path] = chunk.applied(texts[path])
                chunks.append(chunk)
    return ReplayPlan(session, start, tuple(chunks))


def plan_edits(session: ReplaySession, before: Mapping[str, str], edits: Mapping[str, Iterable[Edit]]) -> ReplayPlan:
    """A plan of plain edits (begin, end, text), each applied to the result of the one before."""
    chunks: list[Chunk] = []
    for path, several in edits.items():
        text = before[path]
        for begin, finish, wanted in several:
            pieces = list(split_text(wanted, CHUNK_CHARS)) or [""]
            for number, piece in enumerate(pieces):
                chunk = _chunk(len(chunks), path, 0, text, begin, begin if number else finish, piece)
                text = chunk.applied(text)
                begin += len(piece)
                chunks.append(chunk)
    return ReplayPlan(session, dict(before), tuple(chunks))


def _edits(text: str, target: str, operation: Operation, chunk_chars: int) -> Iterator[tuple[int, int, str]]:
    """Offsets and text of the chunks of one operation."""
    begin = _offset(text, operation.line)
    if operation.type is OperationType.DELETE:
        removed = len(text) - len(target)
        # Deleting a last line without a line end also deletes the line end before it.
        begin = min(begin, len(text) - removed)
        yield begin, begin + removed, ""
        return
    if operation.type is OperationType.NAVIGATE:
        yield begin, begin, ""
        return
    for piece in split_text(target[begin : begin + len(target) - len(text)], chunk_chars):
        yield begin, begin, piece
        begin += len(piece)


def split_text(text: str, size: int) -> Iterator[str]:
    """Pieces of at most `size`, cut after a line end where there is one."""
    while len(text) > size:
        cut = text.rfind("\n", 0, size) + 1 or size
        yield text[:cut]
        text = text[cut:]
    if text:
        yield text


def _chunk(index: int, path: str, operation: int, before: str, begin: int, finish: int, text: str) -> Chunk:
    after = before[:begin] + text + before[finish:]
    return Chunk(
        index=index,
        path=path,
        operation=operation,
        start=cursor_position(before, begin),
        end=cursor_position(before, finish),
        begin=begin,
        finish=finish,
        text=text,
        expected=text_hash(after),
        length=len(after),
    )


def cursor_position(text: str, offset: int) -> CursorPosition:
    """Line and column of an offset."""
    line_start = text.rfind("\n", 0, offset) + 1
    before = text[line_start:offset]
    at_end = offset == len(text) or text[offset] == "\n"
    plain = before.isascii() and before.isprintable()
    return CursorPosition(text.count("\n", 0, offset) + 1, len(before) + 1, at_end, plain or at_end)


def _offset(text: str, line: int) -> int:
    return sum(len(each) for each in split_lines(text)[: line - 1])


def repair_plan(plan: ReplayPlan, folder: Path) -> ReplayPlan:
    """What must be deleted and typed so that every file has its expected content."""
    before = {path: normalise(read_text(inside(folder, path)) or "") for path in plan.paths}
    return plan_edits(
        plan.session, before, {path: _edits_of_lines(plan.expected(path), before[path]) for path in plan.paths}
    )


def _edits_of_lines(expected: str, actual: str) -> list[Edit]:
    """Edits of whole lines, the last section first, so that offsets stay valid."""
    wanted, found = split_lines(expected), split_lines(actual)
    starts = [0]
    for line in found:
        starts.append(starts[-1] + len(line))
    return [
        (starts[section.start], starts[section.end], "".join(section.expected))
        for section in differing_sections(wanted, found)
    ]
