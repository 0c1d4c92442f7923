"""The chain: each record's hash covers the record before it, and the owner signs the newest, the head."""

from __future__ import annotations

from struct import Struct as Layout

from msgspec import Struct

from ..core import sha256

LINK_BYTES = 16
"""Of SHA-256: no one finds another record with the same 128 bits."""

_FIELDS = Layout(">qqd")


class Head(Struct, frozen=True, kw_only=True):
    """The end of a journal at one moment: its newest record, the chain up to there, and the owner's signature.

    `summary` is the hash of the run's row in lists at that moment. `key` is the owner's public key; with no key and no
    signature, the owner could not sign. Publish a head elsewhere, and cutting the journal's end is noticed.
    """

    run_id: str
    seq: int
    chain: bytes
    summary: bytes
    key: str = ""
    signature: bytes = b""

    def message(self) -> bytes:
        """What is signed."""
        return b"interlock head\0%b\0%d\0%b%b" % (self.run_id.encode(), self.seq, self.chain, self.summary)


def first_link(run_id: str, first: int) -> bytes:
    """What the first chained record follows: the run itself, and the number at which the chain begins."""
    return digest(b"interlock journal\0%b\0%d" % (run_id.encode(), first))


def next_link(before: bytes, seq: int, v: int, time: float, kind: str, body: bytes) -> bytes:
    """The hash of a record and of everything before it."""
    return sha256(b"%b%b%b\0%b" % (before, _FIELDS.pack(seq, v, time), kind.encode(), body)).digest()[:LINK_BYTES]


def digest(data: bytes) -> bytes:
    """A hash as the chain has them."""
    return sha256(data).digest()[:LINK_BYTES]
