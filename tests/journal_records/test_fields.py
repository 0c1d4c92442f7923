"""Each field of a record or message that is published is written by something and read by something, or is gone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec import inspect

from interlock.control.messages import Abort, Ack, Done, Request, Result, State
from interlock.journal_records import RecordBody

ROOT = Path(__file__).parents[2]

READ_OUTSIDE = {
    "schema": "the protocol's version, checked by readers before they decode",
    "v": "the version, for readers of later versions",
    "previous_model": "the protocol's RESULT of escalate, for whoever sent it; our message says it in words",
    "new_model": "the protocol's RESULT of escalate, for whoever sent it; our message says it in words",
    "intervention_id": "joins what was carried out with its intervention, for readers of the journal",
    "recovery_success": "the documents' field of an event, for programs that get one; ours look at the outcome",
}
"""Fields for programs that read the journal or the messages, which ours need not look at: each with its reader."""

GIVEN_OUTSIDE = {"primary_goal": "a Context is also made by programs that use Interlock"}
"""Fields that only programs outside give."""


def published() -> Iterator[type[msgspec.Struct]]:
    """Every struct inside a record or a message."""
    seen: set[type[msgspec.Struct]] = set()
    waiting: list[object] = [Request, Ack, Result, State, Abort, Done, *get_args(RecordBody)]
    while waiting:
        kind = waiting.pop()
        info = inspect.type_info(kind) if not isinstance(kind, inspect.Type) else kind
        if isinstance(info, inspect.StructType):
            if info.cls not in seen:
                seen.add(info.cls)
                yield info.cls
                waiting += [field.type for field in info.fields]
        elif isinstance(info, inspect.UnionType):
            waiting += info.types
        elif isinstance(info, inspect.Metadata):
            waiting.append(info.type)
        elif isinstance(info, inspect.VarTupleType | inspect.ListType):
            waiting.append(info.item_type)
        elif isinstance(info, inspect.DictType):
            waiting.append(info.value_type)


@cache
def used() -> tuple[frozenset[str], dict[str, int], frozenset[str]]:
    """In our code: names given by keyword or assigned, the most positional arguments of each call, names read."""
    given, read = set(), set()
    positional: dict[str, int] = {}
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                given |= {word.arg for word in node.keywords if word.arg}
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                many = 99 if any(isinstance(one, ast.Starred) for one in node.args) else len(node.args)
                positional[name] = max(positional.get(name, 0), many)
            elif isinstance(node, ast.Dict):
                given |= {key.value for key in node.keys if isinstance(key, ast.Constant)}
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                given |= {node.slice.value} if isinstance(node.slice, ast.Constant) else set()
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                read.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                read |= set(re.findall(r"\$\.(?:\w+\.)*(\w+)", node.value))
                if node.value.isidentifier():
                    # As in getattr(body, "name") and body["name"].
                    read.add(node.value)
            elif isinstance(node, ast.MatchClass):
                read |= set(node.kwd_attrs)
    for file in (ROOT / "web" / "src").rglob("*.ts*"):
        if file.name != "generated.ts":
            read |= set(re.findall(r"\.(\w+)", file.read_text()))
    return frozenset(given), positional, frozenset(read)


FIELDS = sorted({(cls.__name__, name) for cls in published() for name in cls.__struct_fields__})
CLASSES = {cls.__name__: cls for cls in published()}


@pytest.mark.parametrize(("owner", "name"), FIELDS)
def test_a_published_field_is_written_and_read(owner: str, name: str) -> None:
    given, positional, read = used()
    at = CLASSES[owner].__struct_fields__.index(name)
    assert name in given or name in GIVEN_OUTSIDE or positional.get(owner, 0) > at, f"nothing writes {owner}.{name}"
    assert name in read or name in READ_OUTSIDE, f"nothing reads {owner}.{name}"
