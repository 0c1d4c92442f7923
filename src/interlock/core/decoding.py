"""Bytes and plain values into typed ones, from any thread.

msgspec learns a type when it is first used, and while one thread has it do so, another that uses the same type brings
the whole process down (0.22 and before). So a type is learnt under a lock here, and nowhere else.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")
Text = bytes | bytearray | memoryview | str
Hook = Callable[[type, Any], Any]

_learning = threading.RLock()
_json: dict[object, msgspec.json.Decoder[Any]] = {}
_msgpack: dict[object, msgspec.msgpack.Decoder[Any]] = {}


@overload
def from_json(data: Text, kind: type[T]) -> T: ...
@overload
def from_json(data: Text, kind: Any = Any) -> Any: ...
def from_json(data: Text, kind: Any = Any) -> Any:
    """The value that JSON text holds; msgspec.DecodeError if it is not of that kind."""
    return (_json.get(kind) or json_decoder(kind)).decode(data)


@overload
def from_msgpack(data: bytes, kind: type[T]) -> T: ...
@overload
def from_msgpack(data: bytes, kind: Any = Any) -> Any: ...
def from_msgpack(data: bytes, kind: Any = Any) -> Any:
    """The value that msgpack bytes hold; msgspec.DecodeError if it is not of that kind."""
    return (_msgpack.get(kind) or msgpack_decoder(kind)).decode(data)


@overload
def from_plain(value: object, kind: type[T]) -> T: ...
@overload
def from_plain(value: object, kind: Any) -> Any: ...
def from_plain(value: object, kind: Any) -> Any:
    """The typed value of dictionaries, lists and scalars; msgspec.ValidationError if they do not fit."""
    if kind not in _json:
        json_decoder(kind)
    return msgspec.convert(value, kind)


@overload
def json_decoder(kind: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...
def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """What turns JSON text into values of that kind, for where it is done very often."""
    with _learning:
        return _json.setdefault(kind, msgspec.json.Decoder(kind))


@overload
def msgpack_decoder(kind: type[T], hook: Hook | None = None) -> msgspec.msgpack.Decoder[T]: ...
@overload
def msgpack_decoder(kind: Any, hook: Hook | None = None) -> msgspec.msgpack.Decoder[Any]: ...
def msgpack_decoder(kind: Any, hook: Hook | None = None) -> msgspec.msgpack.Decoder[Any]:
    """What turns msgpack bytes into values of that kind, for where it is done very often.

    `hook` makes what msgspec has no way to make.
    """
    with _learning:
        return _msgpack.setdefault(kind, msgspec.msgpack.Decoder(kind, dec_hook=hook))
