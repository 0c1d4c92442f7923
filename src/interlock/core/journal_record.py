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


class LostRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `lost`: a record of `kind` could not be written, and why; or so many `entries` were dropped unseen."""

    kind: str = ""
    reason: str = ""
    entries: int = 0
