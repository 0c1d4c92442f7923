"""Writes web/src/generated.ts: the dashboard's types, from the journal's records and from what the server sends.

web_build.py runs this, and compares where it only checks.
"""

from __future__ import annotations

import enum
import json
from pathlib import Path
from types import UnionType
from typing import get_args

import msgspec
from msgspec import inspect

from interlock.checkpoint import Restored, RestorePlan
from interlock.intervene.report import TimelineEntry as IncidentMoment
from interlock.journal import RunSummary
from interlock.journal_records import KINDS
from interlock.report import KINDS as MOMENT_KINDS
from interlock.report import LEVELS, Problem, RunRow, Series, ShownRequest, TimelineMoment
from interlock.report.inbox import InboxItem
from interlock.report.timeline_entry import HIDDEN, RECORDS
from interlock.runtime import StoredIncident
from interlock.web.files import FileDifference, StoredPicture
from interlock.web.incidents import IncidentChoice
from interlock.web.live import TimelineLine
from interlock.web.run_head import IncidentLine

TARGET = Path(__file__).parents[1] / "web" / "src" / "generated.ts"

SENT = {
    "Row": RunRow, "Summary": RunSummary, "Control": ShownRequest, "IncidentLine": IncidentLine,
    "InboxItem": InboxItem, "Series": Series,
    "Line": TimelineLine, "Moment": TimelineMoment, "Difference": FileDifference, "Preview": RestorePlan,
    "Restored": Restored, "Picture": StoredPicture, "Way": IncidentChoice, "Problem": Problem,
    "StoredIncident": StoredIncident,
}  # fmt: skip
"""What the server sends beside records, by the name that the dashboard gives it."""

HELD = {"IncidentMoment": IncidentMoment}
"""Names for what these hold, where the Python name is taken."""

HEAD = """// Made by scripts/web_types.py from the Python types: do not edit, run `make web`.
// Every string in here may come from an agent: it is shown as text, never as markup.
"""

PLAIN = {
    inspect.BoolType: "boolean", inspect.IntType: "number", inspect.FloatType: "number", inspect.StrType: "string",
    inspect.BytesType: "string", inspect.NoneType: "null", inspect.AnyType: "unknown", inspect.RawType: "unknown",
}  # fmt: skip


class Writer:
    """Writes an interface for each struct that is asked for, and for what these hold."""

    def __init__(self) -> None:
        self.interfaces: dict[str, str] = {}
        self._names: dict[type, str] = {struct: name for name, struct in (SENT | HELD).items()}

    def type_of(self, kind: object) -> str:
        """The TypeScript type of a Python type."""
        return self._write(inspect.type_info(kind))

    def _write(self, info: inspect.Type) -> str:
        if type(info) in PLAIN:
            return PLAIN[type(info)]
        match info:
            case inspect.StructType():
                return self._struct(info)
            case inspect.Metadata():
                return self._write(info.type)
            case inspect.UnionType():
                return " | ".join(dict.fromkeys(self._write(each) for each in info.types if not _is_unset(each)))
            case inspect.LiteralType():
                return " | ".join(json.dumps(value) for value in info.values)
            case inspect.EnumType():
                values: list[enum.Enum] = list(info.cls)
                return " | ".join(json.dumps(each.value) for each in values)
            case inspect.ListType() | inspect.VarTupleType() | inspect.CollectionType() | inspect.SetType():
                item = self._write(info.item_type)
                return f"({item})[]" if " | " in item else f"{item}[]"
            case inspect.TupleType():
                return f"[{', '.join(self._write(each) for each in info.item_types)}]"
            case inspect.DictType():
                return f"Record<string, {self._write(info.value_type)}>"
            case _:
                # A plain `object`, and the like.
                return "unknown"

    def _struct(self, info: inspect.StructType) -> str:
        name = self._names.setdefault(info.cls, info.cls.__name__)
        if list(self._names.values()).count(name) > 1:
            raise SystemExit(
                f"two types of the name {name} ({info.cls.__module__}): name one of them in {Path(__file__).name}"
            )
        if name not in self.interfaces:
            # The name first: a struct may hold itself.
            self.interfaces[name] = ""
            lines = [f"  {info.tag_field}: {json.dumps(info.tag)};"] if info.tag_field is not None else []
            lines += [self._field(info, field) for field in info.fields]
            self.interfaces[name] = "\n".join((f"export interface {name} {{", *lines, "}"))
        return name

    def _field(self, info: inspect.StructType, field: inspect.Field) -> str:
        left_out = info.cls.__struct_config__.omit_defaults and not field.required
        unset = isinstance(field.type, inspect.UnionType) and any(map(_is_unset, field.type.types))
        return f"  {field.encode_name}{'?' if left_out or unset else ''}: {self._write(field.type)};"


def _is_unset(info: inspect.Type) -> bool:
    return isinstance(info, inspect.CustomType) and info.cls is msgspec.UnsetType


def make_types() -> str:
    """The whole file."""
    writer = Writer()
    for sent in SENT.values():
        writer.type_of(sent)
    bodies = [f"  {kind}: {' | '.join(map(writer.type_of, _parts(body)))};" for kind, body in KINDS.items()]
    shown = {moment: [kind for kind in made_of if kind not in HIDDEN] for moment, made_of in RECORDS.items()}
    lists = [f"  {moment}: {json.dumps(kinds)}," for moment, kinds in shown.items()]
    return "\n".join(
        (
            HEAD,
            f"export type MomentKind = {' | '.join(map(json.dumps, MOMENT_KINDS))};",
            f"export type Level = {' | '.join(map(json.dumps, LEVELS))};",
            "",
            "/** Each kind of record with its body; a newer version may write others. */",
            "export interface Records {",
            *bodies,
            "}",
            "",
            "/** The kinds of record that each kind of moment is made of. */",
            "export const RECORDS: Record<MomentKind, (keyof Records)[]> = {",
            *lists,
            "};",
            "",
            "/** Records that timelines leave out. */",
            f"export const HIDDEN: (keyof Records)[] = {json.dumps(sorted(HIDDEN))};",
            "",
            "\n\n".join(writer.interfaces.values()),
            "",
        )
    )


def _parts(body: type | UnionType) -> tuple[object, ...]:
    return get_args(body) if isinstance(body, UnionType) else (body,)


def write_types(*, check: bool = False) -> None:
    """Write the file, or say that it is stale."""
    made = make_types()
    if not check:
        TARGET.write_text(made)
    elif not TARGET.exists() or TARGET.read_text() != made:
        raise SystemExit("web/src/generated.ts is not what the Python types make: run make web.")
