"""HubLedger: budgets of runs on many machines, in a JetStream key-value bucket changed by compare-and-set."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import time
from typing import Any

import msgspec

from ..config import Hub as HubSettings
from ..core import InterlockError, from_json
from ..journal import BudgetLedger, Page, Standing, UsageReport, apply_report
from .hub_connect import open_session
from .hub_session import HubSession, LoopThread, SessionLost, translated_errors

log = logging.getLogger("interlock")

BUCKET = "INTERLOCK_BUDGETS"
TRIES = 200
"""How often a page is reread because another run changed it in between."""

ANSWER_S = 20.0
AGAIN_S = 5.0
"""How long after a failure the hub is retried; meanwhile this machine's own ledger counts."""


class HubLedger:
    """The ledger of all machines on a hub. This machine's ledger gets every report too, and counts while it is away."""

    def __init__(self, settings: HubSettings, local: BudgetLedger) -> None:
        self._settings, self._local = settings, local
        self._thread: LoopThread | None = None
        self._session: HubSession | None = None
        self._bucket: Any = None
        self._try_at = 0.0

    def report(self, budget: str, period: str, report: UsageReport) -> Standing:
        """Apply a run's report to a page."""
        own = self._local.report(budget, period, report)
        if time.monotonic() < self._try_at:
            return own
        try:
            if self._thread is None:
                self._thread = LoopThread("interlock-budgets")
            return self._thread.run(self._report(f"{_token(budget)}.{_token(period)}", report), ANSWER_S)
        except (SessionLost, InterlockError, TimeoutError) as error:
            log.warning("budgets: the hub does not respond (%s); using this machine's own count", error)
            self._session, self._try_at = None, time.monotonic() + AGAIN_S
            return own

    def page(self, budget: str, period: str) -> Page:
        """A page as it is."""
        try:
            if self._thread is None:
                self._thread = LoopThread("interlock-budgets")
            return self._thread.run(self._read(f"{_token(budget)}.{_token(period)}"), ANSWER_S)[0]
        except (SessionLost, InterlockError, TimeoutError):
            return self._local.page(budget, period)

    def close(self) -> None:
        self._local.close()
        if self._thread is not None:
            if self._session is not None:
                self._thread.run(_close(self._session))
            self._thread.close()
            self._thread = None

    async def _report(self, key: str, report: UsageReport) -> Standing:
        from nats.js.errors import APIError, KeyWrongLastSequenceError

        for turn in range(TRIES):
            page, revision = await self._read(key)
            # Ages count by the broker's clock, as those of two machines may differ.
            assert self._session is not None
            changed, standing = apply_report(page, report, self._session.broker_time())
            async with translated_errors():
                try:
                    await self._bucket.update(key, msgspec.json.encode(changed), last=revision)
                except (KeyWrongLastSequenceError, APIError):
                    # Random, because runs that wait equally long collide again.
                    await asyncio.sleep(random.uniform(0, 0.004 * min(turn + 1, 40)))
                    continue
            return standing
        raise SessionLost("too many runs change this budget at once")

    async def _read(self, key: str) -> tuple[Page, int]:
        from nats.js.errors import KeyNotFoundError

        await self._connect()
        async with translated_errors():
            try:
                entry = await self._bucket.get(key)
            except KeyNotFoundError:
                return Page(), 0
        return from_json(bytes(entry.value or b"{}"), Page), int(entry.revision or 0)

    async def _connect(self) -> None:
        if self._session is not None and not self._session.closed.is_set():
            return
        from nats.js.api import KeyValueConfig
        from nats.js.errors import BucketNotFoundError

        self._session = await open_session(self._settings, "interlock-budgets")
        await self._session.set_clock()
        async with translated_errors():
            try:
                self._bucket = await self._session.stream.key_value(BUCKET)
            except BucketNotFoundError:
                self._bucket = await self._session.stream.create_key_value(KeyValueConfig(bucket=BUCKET, history=1))


async def _close(session: HubSession) -> None:
    async with translated_errors():
        await session.client.close()


def _token(word: str) -> str:
    """A name as part of a key, whatever its characters."""
    return hashlib.sha256(word.encode()).hexdigest()[:24]
