"""Record: one entry of a run's journal."""

from __future__ import annotations

from msgspec import Raw, Struct

RECORD_VERSION = 1


class Record(Struct, frozen=True, kw_only=True):
    """What happened, in order. `body` is the JSON of the record's kind."""

    seq: int
    run_id: str
    time: float
    kind: str
    body: Raw
    v: int = RECORD_VERSION
