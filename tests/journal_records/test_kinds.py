"""Every kind of record that the code writes is in the union, published, typed in the dashboard, and has words."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import interlock
from interlock.cli.schema import json_schema, schema_types
from interlock.control.events import EntryKind
from interlock.core import Record, RunSpec
from interlock.journal_records import KINDS, RecordBody, decode_body, kind_of
from interlock.report.timeline_entry import HIDDEN, RECORDS, read_moment
from interlock.runtime import Run
from tests.journal.memory import MemoryJournal

from .samples import samples, types_of

SOURCE = Path(interlock.__file__).parent
ROOT = SOURCE.parents[1]
UNTYPED = {"runtime/run.py", "link/control_server.py", "link/steering_without_owner.py", "report/all_runs.py"}
"""Where entries are made: from a typed body, from a message that control has encoded, from another host's record."""

sys.path.insert(0, str(ROOT / "scripts"))
from web_types import TARGET, make_types  # noqa: E402

every_kind = pytest.mark.parametrize("kind", KINDS)


def moment_of(kind: str, body: object):
    stored = Record(seq=1, run_id="r", time=0.0, kind=kind, body=msgspec.Raw(msgspec.json.encode(body)))
    return read_moment(stored, hidden=True)


def test_the_union_and_the_table_of_kinds_name_the_same_types():
    types = [each for kind in KINDS for each in types_of(kind)]
    assert len(types) == len(set(types)), "a type belongs to one kind"
    assert set(types) == set(get_args(RecordBody))
    assert all(each.__struct_config__.frozen for each in types)


def test_every_kind_is_published_as_a_schema():
    types = schema_types()
    published = json_schema(types["record"])
    assert [kind for kind in KINDS if types.get(kind) is not KINDS[kind]] == []
    assert published["discriminator"]["propertyName"] == "kind"
    assert published["discriminator"]["mapping"].keys() == KINDS.keys()


@every_kind
def test_a_kind_is_in_the_types_of_the_dashboard(kind):
    records = TARGET.read_text().partition("export interface Records {")[2].partition("}")[0]
    (names,) = re.findall(rf"^  {kind}: (.+);$", records, re.M)
    assert names.split(" | ") == [each.__name__ for each in types_of(kind)]


def test_the_types_of_the_dashboard_are_those_of_the_code():
    assert TARGET.read_text() == make_types(), "run make web"


@every_kind
@pytest.mark.parametrize("full", [False, True])
def test_a_kind_has_words_for_show_report_and_dashboard(kind, full):
    for body in samples(kind, full=full):
        moment = moment_of(kind, body)
        assert moment is not None
        assert kind in RECORDS[moment.kind]
        assert moment.title.strip() and moment.title != kind.replace("_", " ")
        assert moment.body == body


def test_only_what_a_successor_needs_is_hidden():
    assert KINDS.keys() >= HIDDEN
    assert {each for made_of in RECORDS.values() for each in made_of} == KINDS.keys()


@every_kind
def test_what_is_written_is_what_is_read(kind):
    for body in (*samples(kind), *samples(kind, full=True)):
        assert kind_of(body) == kind
        assert decode_body(kind, msgspec.json.encode(body)) == body


@every_kind
def test_fields_of_a_newer_version_are_left_alone(kind):
    for body in samples(kind):
        newer = {**msgspec.to_builtins(body), "a later field": {"deep": [1]}}
        assert decode_body(kind, msgspec.json.encode(newer)) == body


def test_a_kind_of_a_newer_version_is_a_line():
    moment = moment_of("teleported", {"to": "the moon", "at": 3})
    assert (moment.kind, moment.title, moment.detail) == ("note", "teleported", "to: the moon, at: 3")
    assert moment.body is None and moment.fields == {"to": "the moon", "at": 3}


def test_a_bare_string_or_dictionary_is_no_record():
    run = Run(RunSpec(run_id="r"), MemoryJournal("r"), None, interlock.core.SystemClock())
    for body in ("step", {"what": "x"}, RunSpec):
        with pytest.raises(TypeError, match="the body of no record"):
            run.record(body)
    assert run.journal.reader().count() == 0


def test_nothing_is_written_past_the_union():
    """Whoever makes a JournalEntry can store any string as a kind: only three modules do, and none of them a kind
    of its own."""
    makers = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        name = str(path.relative_to(SOURCE))
        if "Entry" in text and not name.startswith(("journal/", "checkpoint/", "control/")):
            nodes = list(ast.walk(ast.parse(text)))
            entry = _names_of_entry(nodes)
            calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") in entry]
            if calls:
                makers[name] = calls
    assert makers.keys() == UNTYPED
    for call in (call for calls in makers.values() for call in calls):
        kind = call.args[0] if call.args else call.keywords[0].value
        assert not isinstance(kind, ast.Constant), ast.unparse(call)


def _names_of_entry(nodes: list[ast.AST]) -> set[str]:
    """What a module calls JournalEntry."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "journal":
            found |= {each.asname or each.name for each in node.names if each.name == "JournalEntry"}
    return found


def test_what_control_writes_is_in_the_union():
    assert set(get_args(EntryKind)) <= KINDS.keys()


def test_every_kind_is_written_by_somebody():
    made: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "records":
            made.update(re.findall(r"(?<!class )\b([A-Z]\w+)\(", path.read_text()))
    assert [kind for kind in KINDS if made.isdisjoint(each.__name__ for each in types_of(kind))] == []
