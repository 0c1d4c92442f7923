"""JournalEntry: what is handed to a journal; the journal makes it a Record."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ..core import RECORD_VERSION, BadInput

MAX_BODY = 16 * 1024 * 1024
"""Bytes of one body. Steps are bounded far below at the border: more than this is a bug in Interlock."""

LOST = "lost"
"""The kind of a record that replaces others that could not be written."""

_encoder = msgspec.json.Encoder()


class JournalEntry(Struct, frozen=True):
    """One thing that happened. `time` None is the journal's clock."""

    kind: str
    body: object
    time: float | None = None
    v: int = RECORD_VERSION


def encode_body(body: object) -> str:
    """The JSON text of a body."""
    try:
        text = str(body, "utf-8") if type(body) is msgspec.Raw else _encoder.encode(body).decode()
    except UnicodeEncodeError:
        # File names and arguments from outside may carry bytes that are no UTF-8, as lone surrogates.
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
