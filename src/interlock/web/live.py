"""Live: event streams of changes. One poll of a journal serves all pages that show the run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import InterlockError
from ..journal import EVERY_S, mark_viewed
from ..journal_records import InterventionRecord, StepRecord
from ..link import Requests
from ..report import RunRow, Story, TimelineMoment
from .run_head import Parts, make_head
from .source import Source

POLL_S = (0.04, 0.12)
"""Polling interval of a run while something changes, and while nothing does."""

FLEET_S = (0.12, 0.25)
HUB_S = 1.0
"""Polling interval of all runs: while something changes and while nothing does, and with a hub."""

INBOX_S = 2.0
"""Polling interval of the inbox while no run changes: an item may be dismissed or expire."""

SHARE = 4.0
"""After a slow poll, pause this many times its duration."""

KEPT = 1_000
"""New moments in memory for pages that are a little behind; others read the journal."""

SHOWN_DETAIL = 600
"""Characters of a moment's detail in the timeline; opening it loads the rest."""


class StreamEvent(Struct, frozen=True):
    """One event of a stream: its name, and JSON."""

    name: str
    data: bytes


class TimelineLine(Struct, frozen=True, omit_defaults=True):
    """A moment in the timeline. `call` links a call with its result, which has `ms` if its duration is known."""

    seq: int
    time: float
    kind: str
    level: str
    title: str
    detail: str = ""
    step: int | None = None
    look: str = ""
    cut: bool = False
    call: str = ""
    ms: float | None = None
    tokens: int = 0


def to_line(moment: TimelineMoment) -> TimelineLine:
    """A moment as a line of the timeline: without the record's body."""
    cut = len(moment.detail) > SHOWN_DETAIL
    detail = moment.detail[:SHOWN_DETAIL] + "…" if cut else moment.detail
    line = TimelineLine(moment.seq, moment.time, moment.kind, moment.level, moment.title, detail, moment.step, cut=cut)
    match moment.body if moment.record in ("step", "intervention") else None:
        case StepRecord(step=step):
            return replace(
                line,
                look=step.role if step.kind == "message" else step.kind,
                call=step.tool.call_id or "" if step.tool is not None else "",
                ms=step.duration_ms,
                tokens=step.usage.tokens if step.usage is not None else 0,
            )
        case InterventionRecord(intervention=made):
            return replace(line, look=f"rung-{made.level}")
    return line


class Watched:
    """One run that a page shows."""

    def __init__(self, story: Story, source: Source, controls: Requests) -> None:
        self.story, self._source = story, source
        self.users = 0
        self.over = False
        self.head: Parts = {}
        self.lines: tuple[TimelineLine, ...] = ()
        self._controls = controls
        self._mark: object = None
        self.changed = asyncio.Event()

    def poll(self) -> bool:
        """Read what is new; returns whether anything is."""
        self._source.refresh(self.story)
        news = self.story.update()
        self.lines = (*self.lines, *map(to_line, news))[-KEPT:]
        mark = (self.story.summary, self.story.problem, self._controls.version, len(news) and news[-1].seq)
        if not news and mark[:3] == self._mark:
            return False
        self._mark = mark[:3]
        self.head = make_head(self.story, self._controls.of(self.story.spec.run_id))
        return True

    def since(self, seq: int) -> list[TimelineLine]:
        """Lines after a number, from memory or from the journal."""
        known = self.lines
        if known and known[0].seq <= seq + 1:
            return [line for line in known if line.seq > seq]
        return [to_line(moment) for moment in self.story.page(after=seq, limit=KEPT)]

    def ring(self) -> None:
        """Wake all waiting streams."""
        self.changed.set()
        self.changed = asyncio.Event()


class Live:
    """The streams of all open pages."""

    def __init__(self, source: Source, controls: Requests) -> None:
        self._source, self._controls = source, controls
        self._watched: dict[str, Watched] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._marked = -EVERY_S

    def _mark_viewed(self) -> None:
        """Record that a page is open, so that runs may ask a person."""
        if time.monotonic() - self._marked >= EVERY_S:
            self._marked = time.monotonic()
            mark_viewed(self._source.store.root)

    async def run(self, run_id: str, after: int | None) -> AsyncIterator[StreamEvent]:
        """What changes in a run: parts of its head, and new lines after a number (or after now)."""
        watched = await self._join(run_id)
        try:
            sent: Parts = {}
            seq = watched.story.last_seq if after is None else after
            yield StreamEvent("at", msgspec.json.encode({"seq": seq}))
            while not watched.over:
                changed = watched.changed
                parts = {name: part for name, part in watched.head.items() if sent.get(name) != part}
                if parts:
                    sent = dict(watched.head)
                    yield StreamEvent("head", join_parts(parts))
                if watched.story.last_seq > seq:
                    lines = await asyncio.to_thread(watched.since, seq)
                    # Hidden records make no line, and are not read again.
                    seq = lines[-1].seq if len(lines) >= KEPT else max(seq, watched.story.last_seq)
                    if lines:
                        seq = max(seq, lines[-1].seq)
                        yield StreamEvent("lines", msgspec.json.encode(lines))
                    if len(lines) >= KEPT:
                        continue
                await changed.wait()
        finally:
            watched.users -= 1

    async def fleet(self) -> AsyncIterator[StreamEvent]:
        """Changed and removed rows, and the inbox; everything the first time."""
        sent: dict[str, RunRow] | None = None
        last: list[RunRow] | None = None
        problem: str | None = None
        needs, inbox_read_at = b"", 0.0
        fast, slow = (HUB_S, HUB_S) if self._source.hub is not None else FLEET_S
        pause = fast
        while True:
            began = time.monotonic()
            self._mark_viewed()
            # The list comes first; sparklines follow with the next poll.
            read_rows = partial(self._source.rows, sparks=sent is not None)
            listed = await asyncio.to_thread(read_rows)
            rows, changed, gone = sent or {}, [], []
            if listed is not last:
                last, rows = listed, {row.run_id: row for row in listed}
                changed = [row for row in listed if sent is None or sent.get(row.run_id) != row]
                gone = [run_id for run_id in sent or () if run_id not in rows]
            if changed or gone or sent is None or problem != self._source.problem:
                problem = self._source.problem
                body = {"rows": changed, "gone": gone, "all": sent is None, "problem": problem}
                yield StreamEvent("rows", msgspec.json.encode(body))
            if sent is None or changed or time.monotonic() - inbox_read_at >= INBOX_S:
                inbox_read_at = time.monotonic()
                items = msgspec.json.encode({"items": await asyncio.to_thread(self._source.inbox)})
                if items != needs:
                    needs = items
                    yield StreamEvent("inbox", items)
            sent = rows
            pause = fast if changed or gone else min(slow, pause * 1.2)
            await asyncio.sleep(max(pause, SHARE * (time.monotonic() - began)))

    async def _join(self, run_id: str) -> Watched:
        watched = self._watched.get(run_id)
        if watched is None:
            story = await asyncio.to_thread(self._source.open, run_id)
            watched = self._watched.get(run_id) or Watched(story, self._source, self._controls)
            await asyncio.to_thread(watched.poll)
        watched.users += 1
        if run_id not in self._watched:
            self._watched[run_id] = watched
            task = asyncio.get_running_loop().create_task(self._keep_polling(run_id, watched))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return watched

    async def _keep_polling(self, run_id: str, watched: Watched) -> None:
        fast, slow = POLL_S
        pause = fast
        try:
            while watched.users > 0:
                began = time.monotonic()
                self._mark_viewed()
                if await _quietly(watched.poll):
                    watched.ring()
                    pause = fast
                await asyncio.sleep(max(pause, SHARE * (time.monotonic() - began)))
                pause = min(slow, pause * 1.2)
        finally:
            # Clients that still follow are disconnected, and reconnect to fresh data.
            self._watched.pop(run_id, None)
            watched.over = True
            watched.ring()
            watched.story.close()


def join_parts(parts: Parts) -> bytes:
    """The parts as one JSON object."""
    return b"{%s}" % b",".join(b'"%s":%s' % (name.encode(), part) for name, part in parts.items())


async def _quietly(poll: Callable[[], bool]) -> bool:
    """Poll; errors are retried, and the story's `problem` says them."""
    try:
        return await asyncio.to_thread(poll)
    except InterlockError:
        return False
