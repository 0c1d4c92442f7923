"""The hub's two streams: created if missing, updated by owners, and read without a consumer."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ..config import Hub as HubSettings
from ..core import InterlockError, KeyRole
from .hub_session import (
    ANSWER_S,
    RUNS_STREAM,
    STREAM,
    HubSession,
    NobodyAnswers,
    SessionLost,
    message_of,
    translated_errors,
)
from .hub_signing import HubMessage, NotSigned

SUBJECTS = {STREAM: ["loop:control.*", "loop:current.*", "loop:record.*"], RUNS_STREAM: ["loop:run.*"]}

MAX_AGE_S = 24 * 3600
"""How long the hub stores messages: far longer than the window of a stored RESULT."""

DEDUP_S = 300
ROWS_PER_RUN = 1
"""Listing all runs reads one row of each."""

REPLICAS = 3
NO_JETSTREAM = 10039
NOT_ENOUGH_SERVERS = (10005, 10074)


async def ensure_streams(session: HubSession, settings: HubSettings, *, owner: bool) -> bool:
    """Whether the streams are complete; if not, the cluster has too few servers for now, and an owner retries."""
    return all([await _ensure(session, name, settings.replicas, owner) for name in SUBJECTS])


async def _ensure(session: HubSession, name: str, replicas: int | None, owner: bool) -> bool:
    try:
        info = await session.api(f"STREAM.INFO.{name}", {})
    except NobodyAnswers:
        info = {"error": {"err_code": NO_JETSTREAM, "description": "no reply"}}
    if info.get("error", {}).get("code") == 404:
        info = await _create(session, name, replicas)
    error = info.get("error")
    if error is not None:
        why = error.get("description")
        if error.get("err_code") == NO_JETSTREAM or error.get("code") != 503:
            raise InterlockError(f"the hub has no JetStream ({why})", where=session.url, todo="Start it with -js.")
        raise SessionLost(str(why))
    config = info["config"]
    if set(SUBJECTS[name]) - set(config.get("subjects") or ()) or config.get("retention") != "limits":
        raise InterlockError(
            f"the hub's stream {name} belongs to something else",
            where=session.url,
            todo="Remove it, or use another account.",
        )
    if owner or ("republish" in _wanted(name) and "republish" not in config):
        return await _update(session, name, info, replicas)
    return True


def _wanted(name: str) -> dict[str, object]:
    wanted: dict[str, object] = {"allow_direct": True}
    if name == STREAM:
        wanted["republish"] = {"src": "loop:control.*", "dest": "stored:control.{{wildcard(1)}}"}
    else:
        wanted["max_msgs_per_subject"] = ROWS_PER_RUN
    return wanted


async def _create(session: HubSession, name: str, replicas: int | None) -> Any:
    config = {
        "name": name,
        "subjects": SUBJECTS[name],
        "retention": "limits",
        "storage": "file",
        "discard": "old",
        "max_age": MAX_AGE_S * 10**9,
        "duplicate_window": DEDUP_S * 10**9,
        "num_replicas": replicas or REPLICAS,
        **_wanted(name),
    }
    made = await session.api(f"STREAM.CREATE.{name}", config)
    if made.get("error", {}).get("err_code") in NOT_ENOUGH_SERVERS and replicas is None:
        made = await session.api(f"STREAM.CREATE.{name}", {**config, "num_replicas": 1})
    if made.get("error", {}).get("code") == 400:
        # Someone else may have created it just now.
        made = await session.api(f"STREAM.INFO.{name}", {}) if "in use" in str(made) else made
    if made.get("error", {}).get("err_code") in NOT_ENOUGH_SERVERS:
        raise _too_many_copies(replicas, made)
    return made


async def _update(session: HubSession, name: str, info: Any, replicas: int | None) -> bool:
    """Update an existing stream, for example of an older version, or of one server that became three."""
    config = info["config"]
    copies = config.get("num_replicas", 1)
    changed = {key: value for key, value in _wanted(name).items() if config.get(key) != value}
    if replicas is not None and copies != replicas:
        changed["num_replicas"] = replicas
    elif replicas is None and copies < REPLICAS and info.get("cluster", {}).get("name"):
        changed["num_replicas"] = REPLICAS
    if not changed:
        return True
    done = await session.api(f"STREAM.UPDATE.{name}", {**config, **changed})
    if "error" in done and "num_replicas" in changed:
        if replicas is not None:
            raise _too_many_copies(replicas, done)
        del changed["num_replicas"]
        if changed:
            await session.api(f"STREAM.UPDATE.{name}", {**config, **changed})
        return False
    return "error" not in done


def _too_many_copies(replicas: int | None, answer: Any) -> InterlockError:
    what = f"the hub cannot keep {replicas} copies ({answer['error'].get('description')})"
    return InterlockError(what, where="hub.replicas", todo="Use at most one per server of the cluster.")


BATCH = 1000
BATCH_BYTES = 8 * 1024 * 1024
"""How much of a stream is requested at a time."""


async def read_all(
    session: HubSession, subject: str, *, stream: str = STREAM, since: float | None = None, after: int = 0,
    confirm: bool = False,
) -> AsyncIterator[HubMessage]:  # fmt: skip
    """Every stored message of a subject, since a time or after a sequence number.

    A replica answers, which may be a little behind; with `confirm` the leader is asked for the rest.
    """
    inbox, arrived = session.client.new_inbox(), asyncio.Queue[Any]()
    async with translated_errors():
        listening = await session.client.subscribe(inbox, cb=arrived.put)
    start: dict[str, object] = {"seq": after + 1}
    if since is not None:
        start = {"start_time": datetime.datetime.fromtimestamp(since, datetime.UTC).isoformat().replace("+00:00", "Z")}
    try:
        more = True
        while more:
            want = {"batch": BATCH, "max_bytes": BATCH_BYTES, "next_by_subj": subject, **start}
            async with translated_errors():
                await session.client.publish(f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode(want), inbox)
            more = False
            while True:
                try:
                    # Waiting costs more than reading: what has arrived is read at once.
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
        async with translated_errors():
            await listening.unsubscribe()
    while confirm:
        last = await session.get(stream, next_by_subj=subject, **start)
        if last is None:
            return
        start = {"seq": last.seq + 1}
        yield last


async def read_newest(session: HubSession, subject: str, role: KeyRole, *, stream: str = STREAM) -> HubMessage | None:
    """The newest message of a subject that a key with this role signed; others are skipped."""
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
    """Sorts by the run's own sequence number, then the stream's: a replayed message stays old."""
    return message.run_seq or 0, message.seq
