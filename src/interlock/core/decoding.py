"""Decodes bytes and plain values into typed values, from any thread.

msgspec analyses a type on first use; if another thread uses the same type at that moment, the whole process crashes
(0.22 and earlier). Types are therefore first used here, under a lock, and nowhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Text = bytes | bytearray | memoryview | str
Hook = Callable[[type, Any], Any]

_lock = threading.RLock()
_json: dict[object, msgspec.json.Decoder[Any]] = {}
_msgpack: dict[object, msgspec.msgpack.Decoder[Any]] = {}


@overload
def from_json(data: Text, kind: type[T]) -> T: ...
@overload
def from_json(data: Text, kind: Any = Any) -> Any: ...
def from_json(data: Text, kind: Any = Any) -> Any:
    """Decode JSON text; msgspec.DecodeError if it does not have this type."""
    try:
        return (_json.get(kind) or json_decoder(kind)).decode(data)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(
            f"JSON is {'not text' if isinstance(error, ValueError) else 'nested too deeply'}"
        ) from None


@overload
def from_msgpack(data: bytes, kind: type[T]) -> T: ...
@overload
def from_msgpack(data: bytes, kind: Any = Any) -> Any: ...
def from_msgpack(data: bytes, kind: Any = Any) -> Any:
    """Decode msgpack bytes; msgspec.DecodeError if they do not have this type."""
    return (_msgpack.get(kind) or msgpack_decoder(kind)).decode(data)


@overload
def from_plain(value: object, kind: type[T]) -> T: ...
@overload
def from_plain(value: object, kind: Any) -> Any: ...
def from_plain(value: object, kind: Any) -> Any:
    """Convert dictionaries, lists and scalars to a typed value; msgspec.ValidationError if they do not fit."""
    if kind not in _json:
        json_decoder(kind)
    return msgspec.convert(value, kind)


@overload
def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """The JSON decoder for a type, for callers that decode very often."""
    with _lock:
        return _json.setdefault(kind, msgspec.json.Decoder(kind))


@overload
def msgpack_decoder(kind: type[T], hook: Hook | None = None) -> msgspec.msgpack.Decoder[T]: ...
@overload
def msgpack_decoder(kind: Any, hook: Hook | None = None) -> msgspec.msgpack.Decoder[Any]: ...
def msgpack_decoder(kind: Any, hook: Hook | None = None) -> msgspec.msgpack.Decoder[Any]:
    """The msgpack decoder for a type, for callers that decode very often.

    `hook` creates values of types that msgspec does not support.
    """
    with _lock:
        return _msgpack.setdefault(kind, msgspec.msgpack.Decoder(kind, dec_hook=hook))
