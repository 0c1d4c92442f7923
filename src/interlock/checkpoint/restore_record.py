"""Restoration: the durable record of a restore, written before anything is touched."""

from __future__ import annotations

import os
import time
from typing import Literal

import msgspec
import zstandard
from msgspec import Struct

from ..core import boot_clock, boot_id, from_msgpack
from .change import Difference
from .entry import TreeEntry
from .store import CheckpointStore
from .tree import compress

SETTLES_S = 60.0
"""After this long the kernel has written the renames by itself; a power cut before that may have lost some."""

State = Literal["staging", "applying", "done", "abandoned", "taking_back", "taken_back"]


class Body(Struct, array_like=True):
    """Everything needed to finish a restore after a crash.

    `steps` are (path, entry before, entry after); `folders` get mode, owner and time at the end, deepest first.
    """

    token: str
    steps: list[tuple[bytes, TreeEntry | None, TreeEntry | None]]
    folders: list[tuple[bytes, TreeEntry]]
    keep_times: bool = True
    force: bool = False
    boot: str = ""

    def differences(self) -> dict[str, Difference]:
        return {os.fsdecode(path): Difference(os.fsdecode(path), a, b) for path, a, b in self.steps}

    @property
    def folder(self) -> str:
        """The name of the staging folder in the workspace."""
        return f".interlock-{self.token}"


class Restoration(Struct, frozen=True):
    """One restore: from the safety checkpoint to the target."""

    n: int
    state: State
    target: str
    safety: str
    time: float
    body: Body


def make_body(
    token: str, steps: dict[str, Difference], folders: dict[str, TreeEntry], *, keep_times: bool, force: bool
) -> Body:
    return Body(
        token,
        [(os.fsencode(step.path), step.a, step.b) for step in steps.values()],
        [(os.fsencode(path), entry) for path, entry in folders.items()],
        keep_times,
        force,
        boot_id(),
    )


def begin(store: CheckpointStore, target: str, safety: str, now: float, body: Body) -> int:
    """Record what is about to be done; on the disk before the first file is moved (see `advance`)."""
    with store.transaction():
        store.db.execute(
            "INSERT INTO restore(state, target, safety, time, body) VALUES('staging',?,?,?,?)",
            (target, safety, now, _encode(body)),
        )
        return store.db.last_insert_rowid()


def advance(store: CheckpointStore, n: int, state: State, body: Body | None = None) -> None:
    """Record the progress of a restore; durable when it returns, if the workspace changes next."""
    with store.transaction(durable=state in ("applying", "taking_back")):
        if body is None:
            store.db.execute("UPDATE restore SET state=? WHERE n=?", (state, n))
        else:
            store.db.execute("UPDATE restore SET state=?, body=? WHERE n=?", (state, _encode(body), n))


def unfinished(store: CheckpointStore) -> list[Restoration]:
    """Restores that were interrupted, oldest first."""
    return _load(store, "state IN ('staging','applying','taking_back') ORDER BY n")


def last_done(store: CheckpointStore) -> Restoration | None:
    """The newest restore that took effect."""
    found = _load(store, "state='done' ORDER BY n DESC LIMIT 1")
    return found[0] if found else None


def lost_in_outage(store: CheckpointStore) -> list[Restoration]:
    """The last restore, if the machine went down so soon after it that some of it may be lost."""
    last = last_done(store)
    if last is None or last.body.boot in ("", boot_id()):
        return []
    return [last] if started_at() - last.time < SETTLES_S else []


def _load(store: CheckpointStore, where: str) -> list[Restoration]:
    rows = store.rows(f"SELECT n, state, target, safety, time, body FROM restore WHERE {where}")
    decompress = zstandard.ZstdDecompressor().decompress
    return [
        Restoration(n, state, target, safety, at, from_msgpack(decompress(body), Body))
        for n, state, target, safety, at, body in rows
    ]


def _encode(body: Body) -> bytes:
    return compress(msgspec.msgpack.encode(body))


def started_at() -> float:
    """When the machine was started, in seconds since the epoch."""
    return time.time() - boot_clock()
