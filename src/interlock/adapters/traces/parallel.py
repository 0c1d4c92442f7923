"""Scans on all cores: whole traces in blocks, step lines by run, results in the same order as on one core.

Each lane is a process with its own scanner. All lines of a run go to the same lane, in order.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain
from zlib import crc32

import msgspec
from msgspec import Struct

from ...core import BadInput, InterlockError, json_decoder
from .common_format import LineShape, shape_of
from .lines import LineError
from .scan import Scanned, TraceScanner
from .trace_events import Feed, TraceBegin, TraceEnd, TraceEvent, name_of, read_some_lines, step_run

BLOCK_BYTES = 512 * 1024
"""Size of the blocks of lines sent to a lane; a longer line is a block of its own."""
PR_SET_PDEATHSIG = 1
AHEAD = 4
"""Blocks in progress per lane: enough to keep it busy, few enough to bound memory."""

Line = tuple[int, bytes | LineError]
Result = Scanned | LineError | BadInput

_shape = json_decoder(LineShape)


class LaneResults(Struct, frozen=True):
    """The results of a lane, each with the line that determines its position."""

    results: list[tuple[int, Scanned | LineError]]
    steps: int


class ParallelScanner:
    """Same results in the same order as a `TraceScanner`, from several processes."""

    def __init__(self, lanes: int, scanner: Callable[[], TraceScanner]) -> None:
        self.steps = 0
        fork = multiprocessing.get_context("fork")
        self._lanes = [
            ProcessPoolExecutor(1, mp_context=fork, initializer=_start_lane, initargs=(scanner,)) for _ in range(lanes)
        ]
        self._busy: list[list[Future[LaneResults]]] = [[] for _ in range(lanes)]

    def scan(self, files: list[str]) -> Iterator[tuple[str, Result]]:
        """Each result with its file; BadInput for a file that cannot be opened."""
        under_way: deque[tuple[str, list[Future[LaneResults]] | BadInput]] = deque()
        try:
            for name, block in self._blocks(files):
                under_way.append((name, block))
                while len(under_way) > AHEAD * len(self._lanes):
                    yield from self._collect(*under_way.popleft())
            while under_way:
                yield from self._collect(*under_way.popleft())
        except BrokenProcessPool:
            raise InterlockError(
                "a process of the scan was killed", todo="Free some memory, or scan on one core with --jobs 1."
            ) from None
        finally:
            for lane in self._lanes:
                lane.shutdown(cancel_futures=True)

    def _blocks(self, files: list[str]) -> Iterator[tuple[str, list[Future[LaneResults]] | BadInput]]:
        for number, name in enumerate(files):
            lines_of = _LineLanes(name, len(self._lanes), self._idlest)
            try:
                for sent in lines_of.blocks():
                    yield (
                        name,
                        [self._scan_lines(lane, number, name, lines) for lane, lines in enumerate(sent) if lines],
                    )
            except BadInput as error:
                yield name, error
                continue
            yield name, [self._lanes[lane].submit(_finish_file, number) for lane in sorted(lines_of.stateful)]

    def _scan_lines(self, lane: int, file: int, name: str, lines: list[Line]) -> Future[LaneResults]:
        sent = self._lanes[lane].submit(_scan_lines, file, name, lines)
        self._busy[lane].append(sent)
        return sent

    def _idlest(self) -> int:
        """The lane with the fewest pending blocks: some blocks take much longer than others."""
        self._busy = [[sent for sent in lane if not sent.done()] for lane in self._busy]
        return min(range(len(self._busy)), key=lambda lane: len(self._busy[lane]))

    def _collect(self, name: str, block: list[Future[LaneResults]] | BadInput) -> Iterator[tuple[str, Result]]:
        if isinstance(block, BadInput):
            yield name, block
            return
        found = [future.result() for future in block]
        self.steps += sum(each.steps for each in found)
        for _, result in sorted(chain.from_iterable(each.results for each in found), key=lambda each: each[0]):
            yield name, result


class _LineLanes:
    """Assigns the lines of a file to lanes."""

    def __init__(self, name: str, lanes: int, idlest: Callable[[], int]) -> None:
        """`idlest` returns the lane for a block of whole traces."""
        self._file, self._name, self._lanes, self._idlest = name, name_of(name), lanes, idlest
        self._session = ""
        self._next = 0
        self.stateful: set[int] = set()
        """Lanes that keep state for this file until it ends."""

    def blocks(self) -> Iterator[list[list[Line]]]:
        """Blocks of lines, each split by lane."""
        size, block = 0, self._new_block()
        for number, line in read_some_lines(self._file):
            block[self._lane_of(line)].append((number, line))
            size += 0 if isinstance(line, LineError) else len(line)
            if size >= BLOCK_BYTES:
                yield block
                size, block = 0, self._new_block()
        yield block

    def _new_block(self) -> list[list[Line]]:
        self._next = self._idlest()
        return [[] for _ in range(self._lanes)]

    def _lane_of(self, line: bytes | LineError) -> int:
        if isinstance(line, LineError):
            return self._next
        try:
            shape = _shape.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            # The lane reports what is wrong with it.
            return self._next
        kind = shape_of(shape)
        if kind == "trace":
            return self._next
        if kind == "transcript":
            # A line without a session belongs to the first session of the file.
            self._session = self._session or shape.sessionId or "session"
            run = shape.sessionId or self._session
        else:
            run = step_run(shape, self._name)
        lane = crc32(run.encode()) % self._lanes
        self.stateful.add(lane)
        return lane


class _Lane:
    """The state of one lane process between blocks."""

    def __init__(self, scanner: TraceScanner) -> None:
        self._scanner = scanner
        self._feeds: dict[int, Feed] = {}
        self._began: dict[str, int] = {}

    def scan(self, file: int, name: str, lines: list[Line]) -> LaneResults:
        """The traces and invalid lines of a block, each with its line number."""
        feed = self._feeds.setdefault(file, Feed(name))
        events, numbers = [], []
        for number, line in lines:
            for event in feed.read(number, line):
                events.append(event)
                if isinstance(event, TraceBegin):
                    self._began[event.trace_id] = number
                elif isinstance(event, TraceEnd | LineError):
                    numbers.append(number)
        return self._process(events, numbers)

    def finish(self, file: int) -> LaneResults:
        """The traces that end with their file, each with the number of its first line."""
        ends = self._feeds.pop(file).finish()
        return self._process(ends, [self._began.pop(end.trace_id) for end in ends])

    def _process(self, events: Sequence[TraceEvent], numbers: list[int]) -> LaneResults:
        before = self._scanner.steps
        results = list(zip(numbers, self._scanner.process(events), strict=True))
        return LaneResults(results, self._scanner.steps - before)


_lane: _Lane


def _start_lane(scanner: Callable[[], TraceScanner]) -> None:
    global _lane
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # If a scan is killed, its lanes are killed, too, instead of waiting for lines forever.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _lane = _Lane(scanner())


def _scan_lines(file: int, name: str, lines: list[Line]) -> LaneResults:
    return _lane.scan(file, name, lines)


def _finish_file(file: int) -> LaneResults:
    return _lane.finish(file)
