"""HubClient: lists and controls the runs of other machines."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Coroutine
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from ..config import Hub as HubSettings
from ..control import Request, RequestOutcome, decode_current, status_of
from ..core import InterlockError, Record, from_json
from ..journal import Head, RunSummary
from .hub_connect import open_session
from .hub_request import HubRequest, ReplyListener
from .hub_session import RUNS_STREAM, HubSession, LoopThread, SessionLost, current_subject, record_subject, run_subject
from .hub_signing import HubMessage, NotSigned
from .hub_streams import is_signed, read_all, read_newest
from .outbox import RemoteRun
from .owner_client import DEFAULT_TIMEOUT_S, Notice

T = TypeVar("T")


class HubClient:
    """A connection for commands and screens. Thread-safe; use it with `with`."""

    def __init__(self, settings: HubSettings) -> None:
        self._settings = settings
        self._thread = LoopThread("hub client")
        self._listener: ReplyListener | None = None
        self._opening = asyncio.Lock()
        self.refused: Counter[str] = Counter()
        """Why rows were rejected when runs were last listed, and how many."""
        try:
            self._thread.run(self.connect())
        except (InterlockError, SessionLost) as error:
            self._thread.close()
            raise error if isinstance(error, InterlockError) else _unreachable(error) from error

    def runs(self) -> list[RemoteRun]:
        """Every run on the hub, the newest first."""
        return sorted(self._run(self._runs()), key=lambda run: run.summary.started, reverse=True)

    def ask(
        self, request: Request, *, timeout: float = DEFAULT_TIMEOUT_S, notice: Notice | None = None
    ) -> RequestOutcome:
        """Send a request to a run, on any machine, and wait for its answer."""
        return self._thread.run(HubRequest(self.connect, request, timeout, notice or (lambda _: None)).run())

    def current(self, run_id: str) -> bytes | None:
        """The last message of a run on loop:current."""
        return self._run(self._current(run_id))

    def records(self, run_id: str, after: int = 0) -> list[Record]:
        """The records of a run's journal on the hub after a sequence number, each once."""
        return self._run(self._records(run_id, after))

    def heads(self, run_id: str) -> list[Head]:
        """The journal heads that a run's owner has published, for `verify_journal`."""
        return self._run(self._heads(run_id))

    def close(self) -> None:
        if self._listener is not None:
            with contextlib.suppress(TimeoutError):
                self._thread.begin(self._listener.session.close()).result(2)
        self._thread.close()

    def __enter__(self) -> HubClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def connect(self) -> ReplyListener:
        """The connection to the hub, reopened if it broke."""
        async with self._opening:
            if self._listener is None or self._listener.session.closed.is_set():
                self._listener = ReplyListener(await open_session(self._settings, "interlock", no_echo=True))
            return self._listener

    def _run(self, work: Coroutine[object, object, T]) -> T:
        try:
            return self._thread.run(work)
        except SessionLost as error:
            raise _unreachable(error) from error

    async def _runs(self) -> list[RemoteRun]:
        session = (await self.connect()).session
        await session.set_clock()
        refused: Counter[str] = Counter()
        found = []
        async for message in read_all(session, "loop:run.*", stream=RUNS_STREAM):
            run = _read_row(session, message, refused) or await self._by_state(session, message)
            if run is not None:
                found.append(replace(run, silent=max(0.0, session.broker_time() - message.time)))
        self.refused = refused
        return found

    async def _by_state(self, session: HubSession, row: HubMessage) -> RemoteRun | None:
        """A run whose row was rejected, from its owner's last state: nobody can hide a run with a row of their own."""
        subject = row.subject.replace("loop:run.", "loop:current.", 1)
        last = await read_newest(session, subject, "owner")
        event = decode_current(last.data) if last is not None else None
        if event is None or event.run_id is None:
            return None
        summary = RunSummary(
            run_id=event.run_id, status=status_of(event), problem="its row on the hub belongs to another run"
        )
        return RemoteRun(summary=summary, host="?", pid=0)

    async def _current(self, run_id: str) -> bytes | None:
        last = await read_newest((await self.connect()).session, current_subject(run_id), "owner")
        return last.data if last is not None and last.data else None

    async def _heads(self, run_id: str) -> list[Head]:
        session, found = (await self.connect()).session, []
        async for message in read_all(session, run_subject(run_id), stream=RUNS_STREAM, confirm=True):
            with contextlib.suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                head = from_json(message.data, RemoteRun).head if is_signed(session, message, "owner") else None
                if head is not None and head.run_id == run_id:
                    found.append(head)
        return found

    async def _records(self, run_id: str, after: int) -> list[Record]:
        found: dict[int, Record] = {}
        session = (await self.connect()).session
        async for message in read_all(session, record_subject(run_id)):
            if (message.run_seq or 0) <= after or not is_signed(session, message, "owner"):
                continue
            with contextlib.suppress(msgspec.DecodeError, RecursionError, UnicodeDecodeError):
                record = from_json(message.data, Record)
                found[record.seq] = record
        return [found[seq] for seq in sorted(found)]


def _read_row(session: HubSession, message: HubMessage, refused: Counter[str]) -> RemoteRun | None:
    try:
        session.signing.check(message, "owner", fresh=True)
        return from_json(message.data, RemoteRun)
    except NotSigned as why:
        refused[str(why)] += 1
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        refused["a row that cannot be read"] += 1
    return None


def _unreachable(error: SessionLost) -> InterlockError:
    return InterlockError(f"the hub does not respond ({error})", todo="Try again when it is back.")
