"""A trace file as a stream of events: the beginning, the steps and the end of each trace, and errors in between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from ...core import Step, json_decoder
from .common_format import LineShape, LooseStep, LooseTrace, shape_of, tighten
from .lines import LineError, read_lines
from .trace_workspace import find_workspace
from .transcript import Transcript, TranscriptLine

BATCH_BYTES = 8 * 1024 * 1024
"""Lines that are processed together have at most this size, or are a single line: memory must stay bounded."""

TODO = "See docs/traces.md for the three kinds of line that scan reads"


class TraceBegin(Struct, frozen=True):
    """A trace begins; `task` may be empty, and `workspace` unknown."""

    trace_id: str
    task: str = ""
    workspace: str | None = None


class TraceEnd(Struct, frozen=True):
    """A trace is complete."""

    trace_id: str


TraceEvent = TraceBegin | Step | TraceEnd | LineError

_shape = json_decoder(LineShape)
_trace = json_decoder(LooseTrace)
_step = json_decoder(LooseStep)
_transcript = json_decoder(TranscriptLine)


def read_batches(name: str, together: int = 1) -> Iterator[list[TraceEvent]]:
    """All events of a file, in batches of whole lines: at least so many events, or fewer if their lines are long.

    BadInput if the file cannot be opened.
    """
    feed, size = Feed(name), 0
    gathered: list[TraceEvent] = []
    for number, line in read_some_lines(name):
        gathered += feed.read(number, line)
        size += 0 if isinstance(line, LineError) else len(line)
        if len(gathered) >= together or (gathered and size >= BATCH_BYTES):
            yield gathered
            gathered, size = [], 0
    if gathered := [*gathered, *feed.finish()]:
        yield gathered


def read_some_lines(name: str) -> Iterator[tuple[int, bytes | LineError]]:
    """Lines of a file, stopping after the first binary one; an empty file yields one LineError."""
    empty = True
    for number, line in read_lines(name):
        empty = False
        yield number, line
        if isinstance(line, bytes) and b"\x00" in line:
            # The rest of a binary file is of no use either.
            break
    if empty:
        yield 1, LineError(1, "the file is empty", TODO)


class Feed:
    """The state between lines: the traces whose steps arrive one per line."""

    def __init__(self, name: str) -> None:
        self._name = name_of(name)
        self._open: dict[str, int] = {}
        self._sessions: dict[str, Transcript] = {}
        self._whole = False

    def read(self, number: int, line: bytes | LineError) -> list[TraceEvent]:
        """The events of one line."""
        if isinstance(line, LineError):
            return [line]
        try:
            return list(self._events(line))
        except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
            return [LineError(number, _explain(line, error), TODO)]
        except RecursionError:
            return [LineError(number, "the JSON is nested too deeply", TODO)]

    def finish(self) -> list[TraceEnd]:
        """The ends of the traces that were not ended by a line."""
        return [TraceEnd(run_id) for run_id in self._open]

    def _events(self, line: bytes) -> Iterator[TraceEvent]:
        # A whole trace is usually followed by another: checking its shape first would mean to parse it twice.
        trace = _whole_trace(line) if self._whole else None
        if trace is not None:
            return _events(trace)
        shape = _shape.decode(line)
        kind = shape_of(shape)
        self._whole = kind == "trace"
        if kind == "trace":
            return _events(_trace.decode(line))
        if kind == "transcript":
            return self._transcript(_transcript.decode(line))
        return self._step(_step.decode(line), step_run(shape, self._name))

    def _begin(self, run_id: str, task: str = "", workspace: str | None = None) -> Iterator[TraceEvent]:
        if run_id not in self._open:
            self._open[run_id] = 0
            yield TraceBegin(run_id, task, workspace)

    def _step(self, loose: LooseStep, run_id: str) -> Iterator[TraceEvent]:
        asked = loose.content if loose.role == "user" and isinstance(loose.content, str) else ""
        yield from self._begin(run_id, asked)
        yield tighten(loose, run_id, self._open[run_id])
        self._open[run_id] += 1

    def _transcript(self, line: TranscriptLine) -> Iterator[TraceEvent]:
        run_id = line.sessionId or next(iter(self._sessions), "session")
        session = self._sessions.setdefault(run_id, Transcript(run_id))
        for step in session.steps(line):
            asked = step.content if step.role == "user" and step.kind == "message" else ""
            yield from self._begin(run_id, asked, line.cwd)
            yield step


def step_run(shape: LineShape, name: str) -> str:
    """The run that a step line belongs to."""
    return shape.run_id or shape.trace_id or name


def name_of(file: str) -> str:
    """The run that a file's steps belong to if they name none."""
    return "stdin" if file == "-" else Path(file).name


def _whole_trace(line: bytes) -> LooseTrace | None:
    try:
        return _trace.decode(line)
    except msgspec.ValidationError:
        return None


def _events(trace: LooseTrace) -> Iterator[TraceEvent]:
    steps = [tighten(loose, trace.trace_id, index) for index, loose in enumerate(trace.steps)]
    workspace = find_workspace(step.tool for step in steps if step.kind == "tool_call" and step.tool is not None)
    yield TraceBegin(trace.trace_id, trace.task or "", workspace)
    yield from steps
    yield TraceEnd(trace.trace_id)


def _explain(line: bytes, error: Exception) -> str:
    if b"\x00" in line:
        return "this is binary, not text"
    try:
        line.decode()
    except UnicodeDecodeError:
        return "this is not UTF-8"
    if isinstance(error, msgspec.ValidationError):
        return f"invalid step or trace ({error})"
    if b"\\ud" in line.lower() and _is_json(line):
        return "a text contains half of a surrogate pair"
    return f"this is not JSON ({error})"


def _is_json(line: bytes) -> bool:
    """Whether a reader that is less strict about text would accept it as JSON."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
