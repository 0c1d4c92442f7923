"""Reading what the stream has of a subject."""

from __future__ import annotations

import asyncio
import datetime
from typing import Any

import msgspec

from .hub import STREAM, HubSession, SessionLost, telling


async def read_all(session: HubSession, subject: str, *, last_only: bool = False, since: float | None = None) -> Any:
    """Every message that the stream has of a subject now, or the last one of each subject."""
    from nats.js import api

    policy = api.DeliverPolicy.LAST_PER_SUBJECT if last_only else api.DeliverPolicy.ALL
    config = api.ConsumerConfig(
        deliver_policy=policy if since is None else api.DeliverPolicy.BY_START_TIME,
        opt_start_time=datetime.datetime.fromtimestamp(since, datetime.UTC) if since is not None else None,
        filter_subject=subject,
        ack_policy=api.AckPolicy.NONE,
        inactive_threshold=30.0,
        mem_storage=True,
    )
    arrived: asyncio.Queue[Any] = asyncio.Queue()
    inbox = session.client.new_inbox()
    async with telling():
        info = await session.stream.add_consumer(STREAM, config)
        listening = await session.client.subscribe(inbox, cb=arrived.put)
        left = info.num_pending or 0
    want = msgspec.json.encode({"batch": max(1, left), "no_wait": True})
    try:
        async with telling():
            await session.client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{info.name}", want, inbox)
        while left > 0:
            try:
                message = await asyncio.wait_for(arrived.get(), 5)
            except TimeoutError:
                raise SessionLost("the hub does not answer") from None
            if (message.headers or {}).get("Status"):
                return
            left -= 1
            yield message
    finally:
        async with telling():
            await listening.unsubscribe()
            await session.stream.delete_consumer(STREAM, info.name)
