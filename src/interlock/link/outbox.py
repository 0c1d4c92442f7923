"""Outbox: sends a run's journal to the hub, in sequence, at least once; HubProblems: records failures of the hub."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from ..control import TransportNoted, stamp_seq
from ..core import InterlockError, Record, from_json
from ..journal import Head, JournalReader, JournalReading, RunSummary
from .hub_session import RUNS_STREAM, STREAM, HubSession, control_subject, current_subject, record_subject, run_subject
from .hub_signing import SEQ_HEADER
from .hub_streams import read_newest

CHUNK = 128
"""Records that are sent before waiting for the broker's acknowledgements."""

MAX_RECORD = 900_000
"""The most bytes of a record in one message; of a longer one only the head is sent."""

GRACE_S = 0.006
SOON_S = 0.01
"""How long records wait for commands to finish."""

POLL_S = 1.0
"""How often the journal is polled for records without a command, and how often the run's row is sent."""

HEARTBEAT_S = 30.0
"""How often a run reports that it is alive."""

SILENT_AFTER_S = 3 * HEARTBEAT_S
"""The state of a live run that has sent nothing for this long is unknown."""


class Outbox:
    """Publishes what the journal has and the hub does not. It belongs to one session.

    Messages for topics are sent at once, records a little later: the hub has a record only if it also has the
    record's topic message.
    """

    def __init__(
        self, session: HubSession, run_id: str, reader: JournalReading, problems: HubProblems, token: str
    ) -> None:
        self._token = token
        self._session, self._run_id, self._reader, self._problems = session, run_id, reader, problems
        self._limit = min(MAX_RECORD, session.max_body)
        self._read = self._settled = 0
        self._records: list[Record] = []
        self._sending = asyncio.Lock()
        self._unsettled: list[Any] = []
        self._host = socket.gethostname()

    @property
    def is_connected(self) -> bool:
        return not self._session.closed.is_set()

    async def work(self, more: asyncio.Event) -> None:
        """Send new records and heartbeats until the session ends. `more` is set when a command was committed."""
        await self._find_cursor()
        clock = asyncio.get_running_loop().time
        sent_at, changed = -HEARTBEAT_S, True
        while True:
            if more.is_set():
                # The sender has the answer already: let the command finish before its messages are sent.
                await asyncio.sleep(GRACE_S)
            more.clear()
            busy = await self._send_topics(more)
            if not busy or len(self._records) >= CHUNK:
                changed = await self._send_records() or changed
            waited = clock() - sent_at
            if waited >= HEARTBEAT_S:
                await self._session.set_clock()
            if waited >= (POLL_S if changed else HEARTBEAT_S):
                await self.tell_summary()
                sent_at, changed = clock(), False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(more.wait(), SOON_S if self._records else POLL_S)

    async def finish(self) -> None:
        """Send everything that is left when the owner ends."""
        more = asyncio.Event()
        more.set()
        while more.is_set():
            more.clear()
            await self._send_topics(more)
            await self._send_records()
        await self.tell_summary()

    async def tell_summary(self) -> None:
        """Send the run's row, for lists on other machines."""
        summary = self._reader.summary()
        if summary is not None:
            row = RemoteRun(summary=summary, host=self._host, pid=os.getpid(), head=self._head())
            body = msgspec.json.encode(row)
            headers = {SEQ_HEADER: str(self._settled)}
            sent = await self._session.publish(run_subject(self._run_id), body, os.urandom(12).hex(), **headers)
            await self._session.settle([sent])

    def _head(self) -> Head | None:
        """The signed head of the journal: with it on the hub, truncating the journal is noticed."""
        with contextlib.suppress(InterlockError):
            return self._reader.head() if isinstance(self._reader, JournalReader) else None
        return None

    async def _find_cursor(self) -> None:
        """Find where the hub's copy ends, ignoring what others put there."""
        known = 0
        for subject, stream in ((record_subject(self._run_id), STREAM), (run_subject(self._run_id), RUNS_STREAM)):
            last = await read_newest(self._session, subject, "owner", stream=stream)
            if last is not None:
                known = max(known, last.run_seq or 0)
        newest = self._reader.last()
        if newest is not None and newest.seq >= known:
            # Else the hub has a longer journal than we do: another run of the same id.
            self._read = self._settled = known

    async def _send_topics(self, more: asyncio.Event) -> bool:
        """Send new topic messages without waiting for the broker; returns whether there were any."""
        async with self._sending:
            new = list(self._reader.read(self._read, limit=CHUNK))
            for record in new:
                found = topic_message(record)
                if found is not None:
                    subject, body = found
                    await self._publish(subject, self._fit(body, record.seq), record.seq, "")
                self._read = record.seq
            self._records += new
            if len(new) == CHUNK:
                more.set()
            return bool(new)

    async def _send_records(self) -> bool:
        """Send the records, and wait until the broker has everything sent so far."""
        async with self._sending:
            new, self._records = self._records, []
            for record in new:
                await self._publish(record_subject(self._run_id), self._fit_record(record), record.seq, ":record")
            waiting, self._unsettled = self._unsettled, []
            if waiting:
                await self._session.settle(waiting)
            if new:
                self._settled = new[-1].seq
            return bool(new)

    async def _publish(self, subject: str, body: bytes, seq: int, suffix: str) -> None:
        headers = {SEQ_HEADER: str(seq)}
        sent = await self._session.publish(subject, body, f"{self._token}:{seq}{suffix}", **headers)
        self._unsettled.append(sent)

    def _fit(self, body: bytes, seq: int) -> bytes:
        """A topic message that fits: its long texts are cut if it is too long."""
        if len(body) <= self._limit:
            return body
        self._problems.quarantine(f"the message of record {seq} is cut to fit", "hub", body)
        return cut_to(body, self._limit)

    def _fit_record(self, record: Record) -> bytes:
        body = msgspec.json.encode(record)
        if len(body) <= self._limit:
            return body
        self._problems.quarantine("records are too long for the hub, which has only their beginning", "hub", body)
        head = {"too_large": len(record.body)}
        return msgspec.json.encode(msgspec.structs.replace(record, body=msgspec.Raw(msgspec.json.encode(head))))


class RemoteRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run on some machine, as its owner last reported it, `silent` seconds ago by the hub's clock.

    `head` is the signed end of its journal at that moment.
    """

    summary: RunSummary
    host: str
    pid: int
    silent: float = 0.0
    head: Head | None = None

    @property
    def status(self) -> str:
        return "unknown" if self.is_unknown else self.summary.status

    @property
    def outcome(self) -> str:
        """A word or two for lists."""
        return "unknown" if self.is_unknown else self.summary.outcome if self.summary.ended else self.summary.status

    @property
    def is_unknown(self) -> bool:
        """Whether its state is unknown: it has not ended as far as we know, and its host is silent."""
        return self.summary.status not in ("done", "aborted") and self.silent > SILENT_AFTER_S


def topic_message(record: Record) -> tuple[str, bytes] | None:
    """A record as a message on the protocol's topics, if it is one."""
    if record.kind in ("ack", "result"):
        return control_subject(record.run_id), bytes(record.body)
    if record.kind == "state":
        return current_subject(record.run_id), stamp_seq(bytes(record.body), record.seq)
    return None


def cut_to(body: bytes, limit: int) -> bytes:
    """A JSON object with its long texts and lists cut until it fits."""
    message = from_json(body, dict)
    for length in (4096, 1024, 256, 64):
        cut = msgspec.json.encode(_cut(message, length))
        if len(cut) <= limit:
            return cut
    return cut


def _cut(value: object, length: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= length else value[: length - 1] + "…"
    if isinstance(value, list):
        return [_cut(each, length) for each in value[-length:]]
    if isinstance(value, dict):
        return {key: _cut(each, length) for key, each in list(value.items())[:length]}
    return value


TELL_AFTER_S = 10.0
"""An outage of the hub shorter than this is not recorded."""

TELL_EVERY_S = 60.0
"""One row a minute for each kind of problem; the next one says how many there were."""


class HubProblems:
    """Writes audit rows about the hub, never many. `tell` must not block."""

    def __init__(self, tell: Callable[[TransportNoted], object], counts: Counter[tuple[str, str]]) -> None:
        self.problem = "not connected yet"
        self._tell, self._counts = tell, counts
        self._since = time.monotonic()
        self._recorded = False
        self._last: dict[str, float] = {}
        self._more: Counter[str] = Counter()

    def set(self, problem: str) -> None:
        """The run is not on the hub, for this reason."""
        if not self.problem:
            self._since = time.monotonic()
        changed, self.problem = problem != self.problem, problem
        if time.monotonic() - self._since >= TELL_AFTER_S and (changed or not self._recorded):
            self._recorded = True
            self._write("hub_away", problem)

    def clear(self) -> None:
        """The run is on the hub."""
        if self._recorded:
            self._write("hub_back", "the run is on the hub again")
        self.problem, self._recorded = "", False

    def quarantine(self, why: str, subject: str, data: bytes = b"") -> None:
        """Record a message that is not acted upon."""
        now = time.monotonic()
        if now - self._last.get(why, -TELL_EVERY_S) < TELL_EVERY_S or len(self._last) > 100:
            self._more[why] += 1
            self._counts["", "quarantined"] += 1
            return
        self._last[why] = now
        more = self._more.pop(why, 0)
        self._write("quarantined", f"{subject}: {why}" + (f", and {more:,} more like it" if more else ""), len(data))

    def _write(self, what: str, problem: str, size: int = 0) -> None:
        self._tell(TransportNoted(what, problem[:500], size or None, "hub"))
