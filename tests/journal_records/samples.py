"""A body of every kind of record, made from its type, so that a kind that somebody adds has one too."""

from __future__ import annotations

from types import UnionType
from typing import Any, get_args

import msgspec
from msgspec import inspect

from interlock.journal_records import KINDS, RecordBody

TIME = "2026-01-01T00:00:00.000Z"


def types_of(kind: str) -> tuple[Any, ...]:
    """The structs that a kind's body can be."""
    body = KINDS[kind]
    return get_args(body) if isinstance(body, UnionType) else (body,)


def samples(kind: str, *, full: bool = False) -> list[RecordBody]:
    """One body of each struct of a kind: with what it must have, or with everything."""
    return [msgspec.convert(_value(inspect.type_info(each), full), each) for each in types_of(kind)]


def _value(info: inspect.Type, full: bool) -> Any:
    match info:
        case inspect.StructType():
            fields = [field for field in info.fields if field.required or full]
            made = {field.encode_name: _value(field.type, full) for field in fields}
            return {**made, info.tag_field: info.tag} if info.tag_field is not None else made
        case inspect.Metadata():
            return _value(info.type, full)
        case inspect.UnionType():
            # The first that says something.
            said = [each for each in info.types if not isinstance(each, inspect.NoneType | inspect.CustomType)]
            return _value(said[0], full)
        case inspect.LiteralType():
            return info.values[0]
        case inspect.EnumType():
            return next(iter(info.cls)).value
        case inspect.StrType():
            return TIME if info.pattern else "words"
        case inspect.BytesType():
            return "AQID"
        case inspect.BoolType():
            return True
        case inspect.IntType():
            return 7
        case inspect.FloatType():
            return 1.5
        case inspect.ListType() | inspect.VarTupleType() | inspect.CollectionType():
            return [_value(info.item_type, full)] if full else []
        case inspect.DictType():
            return {"key": "value"} if full and isinstance(info.value_type, inspect.StrType) else {}
        case _:
            return None
