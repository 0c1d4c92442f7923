"""The interface of every journal, JournalEntry (its input), and the chain: each record's hash covers the last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from hashlib import sha256
from struct import Struct as Layout
from threading import Event
from typing import Protocol, Self

import msgspec
from msgspec import Struct

from ..core import RECORD_VERSION, BadInput, Record
from .summary import RunSummary


class JournalProblem(Struct, frozen=True):
    """A problem with writing, when it began, and what was lost.

    `waiting` entries are in memory and are written as soon as that works again; `lost` ones are gone, and a
    record of kind `lost` marks where they belong. `over` is true when writing works again.
    """

    reason: str
    since: float
    waiting: int = 0
    lost: int = 0
    over: bool = False


class JournalReading(Protocol):
    """Read a run's records; positions are sequence numbers, from 1 without a gap."""

    def read(self, after: int = 0, kinds: Set[str] | None = None, limit: int | None = None) -> Iterator[Record]:
        """Records with seq > `after`, in order; only of some kinds, only the first `limit` of them."""

    def follow(
        self, after: int = 0, kinds: Set[str] | None = None, stop: Event | None = None, timeout: float | None = None
    ) -> Iterator[Record]:
        """Like read, then what is added, each once; ends when `stop` is set or nothing came for `timeout` seconds."""

    def last(self, kind: str | None = None) -> Record | None:
        """The newest record, of one kind or of any."""

    def count(self, kind: str | None = None) -> int:
        """How many records there are, of one kind or in all."""

    def summary(self) -> RunSummary | None:
        """The run in one row."""

    def close(self) -> None:
        """Close the journal."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JournalWriting(Protocol):
    """Add to a run's records. Thread-safe."""

    run_id: str

    def append(
        self, entries: Sequence[JournalEntry], *, durable: bool = False, summary: RunSummary | None = None
    ) -> int:
        """Add entries, all or none, and give the last one's seq (0 if they could not be kept).

        Without `durable` this never waits for the disk or fails because of it: see `problem`. With it, everything up to
        here is on the disk when it returns; if that fails, it raises InterlockError and the entries are not added.
        The summary is stored in the same transaction.
        """

    def flush(self) -> None:
        """Return when everything appended so far is on the disk; raise InterlockError if it cannot be."""

    def problem(self) -> JournalProblem | None:
        """Why the journal is incomplete; None if it is not."""

    def reader(self) -> JournalReading:
        """A separate reader."""

    def close(self) -> None:
        """Write what is pending, and close. A second call does nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


MAX_BODY = 16 * 1024 * 1024
"""Bytes of one body. Redaction limits steps to far less: more is a bug in Interlock."""

LOST = "lost"
"""The kind of a record that replaces others that could not be written."""

_encoder = msgspec.json.Encoder()


class JournalEntry(Struct, frozen=True):
    """One event. A `time` of None means now, by the journal's clock."""

    kind: str
    body: object
    time: float | None = None
    v: int = RECORD_VERSION


def encode_body(body: object) -> str:
    """The JSON text of a body."""
    try:
        text = str(body, "utf-8") if type(body) is msgspec.Raw else _encoder.encode(body).decode()
    except UnicodeEncodeError:
        # File names and arguments may contain bytes that are not UTF-8, as lone surrogates.
        text = _encoder.encode(_mend(msgspec.to_builtins(body))).decode()
    if len(text) > MAX_BODY:
        raise BadInput(f"a record of {len(text):,} characters is too large", todo=f"At most {MAX_BODY:,} fit.")
    return text


def _mend(value: object) -> object:
    """The same JSON value with every lone surrogate replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mend(key): _mend(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_mend(item) for item in value]
    return value


LINK_BYTES = 16
"""Of SHA-256; 128 bits are enough against a second record with the same hash."""

_FIELDS = Layout(">qqd")


class Head(Struct, frozen=True, kw_only=True):
    """The end of a journal at one moment: its newest record, the chain up to there, and the owner's signature.

    `summary` is the hash of the run's summary at that moment. `key` is the owner's public key; with no key and no
    signature, the owner could not sign. If a head is published elsewhere, truncating the journal is noticed.
    """

    run_id: str
    seq: int
    chain: bytes
    summary: bytes
    key: str = ""
    signature: bytes = b""

    def message(self) -> bytes:
        """The bytes that are signed."""
        return b"interlock head\0%b\0%d\0%b%b" % (self.run_id.encode(), self.seq, self.chain, self.summary)


def first_link(run_id: str, first: int) -> bytes:
    """The hash before the first chained record: of the run id, and the number at which the chain begins."""
    return digest(b"interlock journal\0%b\0%d" % (run_id.encode(), first))


def next_link(before: bytes, seq: int, v: int, time: float, kind: str, body: bytes) -> bytes:
    """The hash of a record and of everything before it."""
    return sha256(b"%b%b%b\0%b" % (before, _FIELDS.pack(seq, v, time), kind.encode(), body)).digest()[:LINK_BYTES]


def digest(data: bytes) -> bytes:
    """A hash of the chain's length."""
    return sha256(data).digest()[:LINK_BYTES]
