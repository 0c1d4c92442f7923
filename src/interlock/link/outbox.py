"""Outbox: a run's journal on its way to the hub, in sequence, at least once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from typing import Any

import msgspec

from ..control import stamp_seq
from ..core import Record
from ..journal import RunSummary
from ..journal.interface import Reading
from .hub import SEQ_HEADER, Session, control_subject, current_subject, record_subject, summary_subject

CHUNK = 128
"""Records that are sent before the broker's acknowledgements are waited for."""

MAX_RECORD = 900_000
"""Bytes of a record that fit into one message; of a longer one only the head goes out."""

LOOK_S = 1.0
"""How often the journal is looked at for what came without a command, and how often the run is told in one row."""

HEARTBEAT_S = 30.0
"""How often a run tells that it lives."""

SILENT_AFTER_S = 3 * HEARTBEAT_S
"""A live run that has told nothing for this long is unknown."""


class Outbox:
    """Publishes what the journal has beyond what the hub has. It belongs to one session."""

    def __init__(self, session: Session, run_id: str, reader: Reading) -> None:
        self._session, self._run_id, self._reader = session, run_id, reader
        self._cursor = 0
        self._sending = asyncio.Lock()
        self._host = socket.gethostname()

    async def find_cursor(self) -> None:
        """Where the hub's copy ends: the hub itself knows best."""
        for subject in (record_subject(self._run_id), summary_subject(self._run_id)):
            last = await self._session.last(subject)
            if last is not None:
                self._cursor = max(self._cursor, int((last.headers or {}).get(SEQ_HEADER, 0)))
        newest = self._reader.last()
        if newest is None or newest.seq < self._cursor:
            # The hub knows a longer journal than there is: another run of the same id.
            self._cursor = 0

    async def work(self, more: asyncio.Event) -> None:
        """Send whatever comes, and a sign of life; ends with the session. `more` rings when a command was committed."""
        await self.find_cursor()
        clock = asyncio.get_running_loop().time
        told, changed = -HEARTBEAT_S, True
        while True:
            more.clear()
            changed = await self.flush() or changed
            waited = clock() - told
            if waited >= HEARTBEAT_S:
                await self._session.set_clock()
            if waited >= (LOOK_S if changed else HEARTBEAT_S):
                await self.tell_summary()
                told, changed = clock(), False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(more.wait(), LOOK_S)

    async def flush(self) -> bool:
        """Send all that the hub does not have; whether there was anything."""
        sent = False
        async with self._sending:
            while chunk := list(self._reader.read(self._cursor, limit=CHUNK)):
                await self._send(chunk)
                sent = True
        return sent

    async def finish(self) -> None:
        """The last words of an owner that goes."""
        await self.flush()
        await self.tell_summary()

    async def tell_summary(self) -> None:
        """The run in one row, for lists on other machines."""
        summary = self._reader.summary()
        if summary is not None:
            body = msgspec.json.encode(RemoteRun(summary=summary, host=self._host, pid=os.getpid()))
            sent = await self._session.publish(
                summary_subject(self._run_id), body, os.urandom(12).hex(), **{SEQ_HEADER: str(self._cursor)}
            )
            await self._session.settle([sent])

    async def _send(self, chunk: list[Record]) -> None:
        """Topics first: they are waited for, and what the hub has as a record it has on its topic too."""
        sent: list[Any] = []
        for record in chunk:
            found = topic_message(record)
            if found is not None:
                subject, body = found
                sent.append(await self._session.publish(subject, body, f"{self._run_id}:{record.seq}"))
        for record in chunk:
            body = encode_record(record)
            message_id = f"{self._run_id}:{record.seq}:record"
            subject = record_subject(self._run_id)
            sent.append(await self._session.publish(subject, body, message_id, **{SEQ_HEADER: str(record.seq)}))
        await self._session.settle(sent)
        self._cursor = chunk[-1].seq


class RemoteRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run on some machine, as its owner told it last; `silent` seconds ago by the hub's clock."""

    summary: RunSummary
    host: str
    pid: int
    silent: float = 0.0

    @property
    def is_unknown(self) -> bool:
        """Whether nobody can say how it is: it lives, as far as we know, and its host has gone quiet."""
        return self.summary.status not in ("done", "aborted") and self.silent > SILENT_AFTER_S


def topic_message(record: Record) -> tuple[str, bytes] | None:
    """What a record is on the protocol's topics, if anything."""
    if record.kind in ("ack", "result"):
        return control_subject(record.run_id), bytes(record.body)
    if record.kind == "state":
        return current_subject(record.run_id), stamp_seq(bytes(record.body), record.seq)
    return None


def encode_record(record: Record) -> bytes:
    body = msgspec.json.encode(record)
    if len(body) <= MAX_RECORD:
        return body
    head = {"too_large": len(record.body)}
    return msgspec.json.encode(msgspec.structs.replace(record, body=msgspec.Raw(msgspec.json.encode(head))))
