"""Reading what a stream has of a subject: no consumer is made, so nothing is left behind."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ..core import KeyRole
from .hub_session import ANSWER_S, STREAM, HubSession, SessionLost, message_of, telling
from .hub_signing import HubMessage, NotSigned

BATCH = 1000
BATCH_BYTES = 8 * 1024 * 1024
"""How much of a stream is on its way to us at a time."""


async def read_all(
    session: HubSession, subject: str, *, stream: str = STREAM, since: float | None = None, after: int = 0,
    confirm: bool = False,
) -> AsyncIterator[HubMessage]:  # fmt: skip
    """Every message that the stream has of a subject, from a time or beyond a sequence number on.

    A replica answers, which may be a little behind; with `confirm` the leader says whether that is all.
    """
    inbox, arrived = session.client.new_inbox(), asyncio.Queue[Any]()
    async with telling():
        listening = await session.client.subscribe(inbox, cb=arrived.put)
    start: dict[str, object] = {"seq": after + 1}
    if since is not None:
        start = {"start_time": datetime.datetime.fromtimestamp(since, datetime.UTC).isoformat().replace("+00:00", "Z")}
    try:
        more = True
        while more:
            want = {"batch": BATCH, "max_bytes": BATCH_BYTES, "next_by_subj": subject, **start}
            async with telling():
                await session.client.publish(f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode(want), inbox)
            more = False
            while True:
                try:
                    # Waiting costs more than reading: what is there already is taken at once.
                    raw = arrived.get_nowait() if arrived.qsize() else await asyncio.wait_for(arrived.get(), ANSWER_S)
                except TimeoutError:
                    raise SessionLost(f"no reply within {ANSWER_S:.0f} s") from None
                status = (raw.headers or {}).get("Status")
                if status == "204":
                    more = int(raw.headers.get("Nats-Num-Pending", 0)) > 0
                    break
                if status == "404":
                    break
                if status is not None:
                    raise SessionLost(f"the hub cannot read ({status} {raw.headers.get('Description', '')})".rstrip())
                message = message_of(raw)
                if message.seq:
                    start = {"seq": message.seq + 1}
                    yield message
    finally:
        async with telling():
            await listening.unsubscribe()
    while confirm:
        last = await session.get(stream, next_by_subj=subject, **start)
        if last is None:
            return
        start = {"seq": last.seq + 1}
        yield last


async def read_newest(session: HubSession, subject: str, role: KeyRole, *, stream: str = STREAM) -> HubMessage | None:
    """The newest message of a subject that a key with this role signed; what no one may say is passed over."""
    last = await session.get(stream, last_by_subj=subject)
    if last is None or is_signed(session, last, role):
        return last
    newest = None
    async for message in read_all(session, subject, stream=stream, confirm=True):
        if is_signed(session, message, role) and (newest is None or order_of(message) >= order_of(newest)):
            newest = message
    return newest


def is_signed(session: HubSession, message: HubMessage, role: KeyRole) -> bool:
    try:
        session.signing.check(message, role)
    except NotSigned:
        return False
    return True


def order_of(message: HubMessage) -> tuple[int, int]:
    """Newer by the run's own count, then by the store's: an old message that is sent again stays old."""
    return message.run_seq or 0, message.seq
