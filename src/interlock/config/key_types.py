"""The configuration's sections and keys, with the type, default and description of each, read from the schema."""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from .schema import Config


class Key(NamedTuple):
    """One key of a section: its type, description and default."""

    name: str
    kind: inspect.Type
    choices: tuple[str, ...]
    description: str
    default: object
    required: bool

    @property
    def section(self) -> inspect.StructType | None:
        """The section behind this key, if it is one."""
        return self.kind if isinstance(self.kind, inspect.StructType) else None


@cache
def root() -> inspect.StructType:
    """The outermost section."""
    kind = inspect.type_info(Config)
    assert isinstance(kind, inspect.StructType)
    return kind


def keys_of(section: inspect.StructType) -> dict[str, Key]:
    """The keys of a section, in the order of the model."""
    return _keys_of(section.cls)


@cache
def _keys_of(cls: type[msgspec.Struct]) -> dict[str, Key]:
    hints = get_type_hints(cls, include_extras=True)
    section = inspect.type_info(cls)
    assert isinstance(section, inspect.StructType)
    found = {}
    for field in section.fields:
        kind, description = unwrap(field.type)
        default = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
        found[field.name] = Key(field.name, kind, _choices(hints[field.name]), description, default, field.required)
    return found


def unwrap(kind: inspect.Type) -> tuple[inspect.Type, str]:
    """A type without its metadata, and its description."""
    if isinstance(kind, inspect.Metadata):
        inner, _ = unwrap(kind.type)
        return inner, str((kind.extra_json_schema or {}).get("description", ""))
    return kind, ""


def without_none(kind: inspect.Type) -> tuple[inspect.Type, bool]:
    """The type of a key without null, and whether it allows null."""
    if isinstance(kind, inspect.UnionType):
        rest = [unwrap(part)[0] for part in kind.types if not isinstance(unwrap(part)[0], inspect.NoneType)]
        return rest[0], len(rest) < len(kind.types)
    return kind, False


@cache
def sections() -> dict[str, inspect.StructType]:
    """Every section by its dotted path; the outermost one has the empty path."""
    found: dict[str, inspect.StructType] = {}

    def walk(path: str, section: inspect.StructType) -> None:
        found[path] = section
        for key in keys_of(section).values():
            if key.section:
                walk(join(path, key.name), key.section)

    walk("", root())
    return found


def sections_with(name: str) -> list[str]:
    """The sections that have a key of this name."""
    return [path for path, section in sections().items() if name in keys_of(section)]


def join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _choices(hint: object) -> tuple[str, ...]:
    """The literal values that a key allows, in the order of the schema."""
    if get_origin(hint) is Literal:
        return tuple(str(value) for value in get_args(hint))
    for part in get_args(hint):
        if words := _choices(part):
            return words
    return ()


PREFIX = "INTERLOCK_"


def is_override(name: str) -> bool:
    """Whether a variable sets a key: INTERLOCK_A__B sets a.b, INTERLOCK_A all of a; INTERLOCK_SOCKET sets none."""
    return name.startswith(PREFIX) and ("__" in name or name.removeprefix(PREFIX).lower() in Config.__struct_fields__)
