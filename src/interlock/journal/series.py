"""Series: a run's usage and progress over its steps; summed while reading, and stored next to the journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import Struct, field

from ..core import InterlockError, Intervention, Issue, msgpack_decoder, read_small, write_whole
from ..journal_records import (
    GuiChunkRecord,
    GuiModelCallRecord,
    InterventionEvent,
    InterventionRecord,
    RecordBody,
    StepRecord,
    decode_body,
)
from .folder import RunFolder
from .interface import digest
from .reader import JournalReader

SERIES_KINDS = frozenset(("step", "issue", "intervention", "effect", "gui_chunk", "gui_event", "gui_model_call"))

POINTS = 2048
"""Points kept; when there are twice as many, every second one is dropped."""

NAMES = 200
"""Different names that are counted separately: an agent can invent any number."""

WINDOW = 20
"""Progress is the share of the last 20 steps that made progress."""


class Series(Struct):
    """Parallel lists with one entry per point: the step, and totals up to it; `progress` is 0..1."""

    steps: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    progress: list[float] = field(default_factory=list)
    issues: list[int] = field(default_factory=list)
    interventions: list[int] = field(default_factory=list)


class Sums(Struct):
    """Issues by type and severity, interventions by type and outcome, and usage.

    `looks` are a GUI session's checks of the screen, by their results.
    """

    steps: int = 0
    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    issues: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    severities: Counter[str] = field(default_factory=Counter)
    interventions: dict[str, Counter[str]] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    looks: Counter[str] = field(default_factory=Counter)


def count(counter: Counter[str], name: str) -> None:
    """Count a name; beyond a number of different ones, under `…`."""
    counter[name if name in counter or len(counter) < NAMES else "…"] += 1


Point = tuple[int, int, float, float, int, int]


class SeriesTally(Struct):
    """Sums up records in order; `seq` is the last one. It can be stored and continued."""

    seq: int = 0
    sums: Sums = field(default_factory=Sums)
    points: list[Point] = field(default_factory=list)
    every: int = 1
    since: int = 0
    forward: list[bool] = field(default_factory=list)
    issues: int = 0
    acted: int = 0
    last: Point | None = None
    last_is_point: bool = False

    def add_records(self, records: Iterable[tuple[int, str, bytes]]) -> None:
        """Add records (seq, kind, body) of SERIES_KINDS; unreadable ones are skipped."""
        for seq, kind, body in records:
            self.seq = seq
            self._count(decode_body(kind, body))

    def series(self, max_points: int) -> Series:
        """At most `max_points` points, evenly spaced, including the first and the last."""
        points = list(self.points)
        if self.last is not None and not self.last_is_point:
            points.append(self.last)
        if len(points) > max_points >= 2:
            last = len(points) - 1
            points = [points[round(at * last / (max_points - 1))] for at in range(max_points)]
        columns = list(zip(*points, strict=True)) if points else [()] * 6
        return Series(*(list(column) for column in columns))

    def _count(self, body: RecordBody | None) -> None:
        sums = self.sums
        match body:
            case StepRecord():
                self._step(body)
            case Issue(is_note=True):
                count(sums.notes, body.type)
            case Issue():
                self.issues += 1
                count(sums.issues, body.type)
                count(sums.severities, body.severity or "medium")
                self._amend()
            case InterventionRecord():
                made = body.intervention
                self.acted += bool(body.directives)
                sums.interventions.setdefault(made.type, Counter())[made.outcome] += 1
                self._amend()
            case Intervention():
                outcomes = sums.interventions.setdefault(body.type, Counter())
                outcomes[body.outcome] += 1
                if outcomes["pending"] > 0:
                    outcomes["pending"] -= 1
            case GuiChunkRecord():
                # A typed chunk is a step of a GUI session, and progress.
                sums.steps += 1
                self._add(body.chunk, forward=True)
            case InterventionEvent():
                self._check(body)
            case GuiModelCallRecord():
                sums.input_tokens += body.input_tokens
                sums.output_tokens += body.output_tokens
                sums.cost_usd += body.cost_usd

    def _step(self, line: StepRecord) -> None:
        sums, step = self.sums, line.step
        sums.steps += 1
        usage = step.usage
        if usage is not None:
            sums.input_tokens += usage.input_tokens
            sums.output_tokens += usage.output_tokens
            sums.cost_usd += usage.cost_usd or line.cost_usd
        failed = bool(step.error) or bool(step.exit_code)
        if step.kind == "tool_call":
            sums.calls += 1
            if step.tool is not None:
                count(sums.tools, step.tool.name)
            if line.review is not None:
                refused = line.decision is not None and line.decision.action == "deny"
                verdict = line.review.verdict
                count(sums.verdicts, "deny" if verdict == "modify" and refused else verdict)
        elif step.kind == "tool_result":
            sums.failed += failed
        self._add(step.index, forward=not (line.stalled or failed))

    def _add(self, index: int, *, forward: bool) -> None:
        """A point after a step."""
        sums = self.sums
        if len(self.forward) == WINDOW:
            del self.forward[0]
        self.forward.append(forward)
        self.last = (
            index,
            sums.input_tokens + sums.output_tokens,
            sums.cost_usd,
            sum(self.forward) / len(self.forward),
            self.issues,
            self.acted,
        )
        self.since += 1
        self.last_is_point = self.since >= self.every
        if self.last_is_point:
            self.since = 0
            self.points.append(self.last)
            if len(self.points) >= 2 * POINTS:
                self.points, self.last_is_point = self.points[::2], False
                self.every *= 2

    def _check(self, check: InterventionEvent) -> None:
        """Count a check of the screen: one that found something is an issue, one that acted an intervention."""
        count(self.sums.looks, check.outcome)
        if check.outcome == "none":
            return
        self.issues += 1
        self.acted += check.outcome in ("recovered", "failed")
        count(self.sums.issues, f"screen: {check.status.value}")
        self._amend()

    def _amend(self) -> None:
        """Add what a step led to to its point."""
        if self.last is None:
            return
        self.last = (*self.last[:4], self.issues, self.acted)
        if self.last_is_point:
            self.points[-1] = self.last


VERSION = 1
"""Increment this whenever something is counted differently, so that stored sums are discarded."""

MOST_BYTES = 4_000_000


class _File(Struct, array_like=True):
    version: int
    run_id: str
    chain: bytes
    tally: SeriesTally


def _counter(_wanted: type, value: dict[str, int]) -> Counter[str]:
    return Counter(value)


_DECODER = msgpack_decoder(_File, _counter)


def load_series(folder: RunFolder, reader: JournalReader) -> SeriesTally:
    """The stored sums; empty if in doubt."""
    try:
        stored = read_small(folder.series, MOST_BYTES)
        if digest(stored[16:]) != stored[:16]:
            return SeriesTally()
        read = _DECODER.decode(stored[16:])
    except (OSError, InterlockError, msgspec.MsgspecError):
        return SeriesTally()
    fits = read.version == VERSION and read.run_id == reader.run_id and read.chain == reader.link(read.tally.seq)
    return read.tally if fits else SeriesTally()


def store_series(folder: RunFolder, reader: JournalReader, tally: SeriesTally) -> None:
    """Store the sums, if the journal is chained: else nothing would tell whether they fit it."""
    chain = reader.link(tally.seq)
    if chain is not None:
        data = msgspec.msgpack.encode(_File(VERSION, reader.run_id, chain, tally))
        write_whole(folder.series, digest(data) + data)
