"""A journal of the version before the typed records stays readable: shown, reported, exported, served.

`tests/data/journals/2026-11.tar.gz` was exported by that version: the demonstration, and a record of every other kind
that it wrote.
"""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from starlette.testclient import TestClient

from interlock.cli.schema import json_schema, schema_types
from interlock.core.decoding import from_json
from interlock.journal import JournalReader, RunFolder, Store
from interlock.journal_records import KINDS, read_body
from interlock.report import Story
from interlock.report.document import gather
from interlock.report.markdown import render
from interlock.report.timeline_entry import read_moment
from interlock.web.serve import make_app
from interlock.web.source import Source
from tests.cli.calling import interlock
from tests.unpacking import unpack

ARCHIVE = Path(__file__).parents[1] / "data" / "journals" / "2026-11.tar.gz"


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def folder(home) -> RunFolder:
    """The run in the store of a home of its own."""
    runs = home / "state" / "interlock" / "runs"
    runs.mkdir(parents=True)
    unpack(ARCHIVE, runs)
    (path,) = runs.iterdir()
    return RunFolder(path)


def records_of(folder: RunFolder):
    with JournalReader.open(folder) as reader:
        return list(reader.read())


def test_it_has_every_kind_of_its_time_and_each_is_understood(folder):
    records = records_of(folder)
    assert len({record.kind for record in records}) == 35
    assert {record.kind for record in records} <= KINDS.keys()
    for record in records:
        body = read_body(record)
        assert body is not None, record.kind
        # What a reader of that time would get from a writer of today.
        today, then = from_json(msgspec.json.encode(body)), from_json(record.body)
        assert today == then or {name: today[name] for name in then} == then


def test_its_records_fit_the_published_schema(folder):
    validator = jsonschema.Draft202012Validator(json_schema(schema_types()["record"]))
    for kind, record in {record.kind: record for record in records_of(folder)}.items():
        body = from_json(record.body)
        validator.validate({"seq": record.seq, "time": record.time, "kind": kind, "body": body})


def test_every_record_of_it_has_words(folder):
    for record in records_of(folder):
        moment = read_moment(record, hidden=True)
        assert moment is not None and moment.title != record.kind


def test_it_is_shown(folder, home):
    shown = interlock("show", folder.run_id, home=home)
    assert shown.returncode == 0, shown.stderr
    for words in ("run started", "emergency stop: incident", "judge on", "recovery plan for loop"):
        assert words in shown.stdout
    said = json.loads(interlock("show", folder.run_id, "--json", "--kind", "tamper", home=home).stdout)
    assert [record["body"]["answer"] for record in said["records"]] == ["pause"]
    hidden = interlock("show", folder.run_id, "--kind", "snapshot", home=home).stdout
    assert "supervision saved its state" in hidden


def test_it_is_reported(folder):
    with Story.open(folder) as story:
        document = gather(story)
    assert document.sums.steps == 146
    (found,) = document.verifications
    assert found.comparisons[0].path == "src/a.py"
    for form in ("html", "md", "json"):
        assert "supervision was tampered with" in render(document, form)


def test_it_is_exported_and_its_copy_reads_the_same(folder, home):
    target = home / "copy.tar.gz"
    done = interlock("export", folder.run_id, "-o", str(target), home=home)
    assert done.returncode == 0, done.stderr
    unpack(target, home / "copy")
    copied = records_of(RunFolder(home / "copy" / folder.run_id))
    assert [(each.kind, bytes(each.body)) for each in copied] == [
        (each.kind, bytes(each.body)) for each in records_of(folder)
    ]


def test_the_dashboard_serves_every_line_of_it(folder):
    app = make_app(Source(Store(folder.path.parent)), "token" * 10)
    headers = {"authorization": f"Bearer {'token' * 10}"}
    with TestClient(app, base_url="http://127.0.0.1:7717", headers=headers) as client:
        lines = client.get(f"/api/runs/{folder.run_id}/lines?limit=400").json()["lines"]
        whole = {kind: line for line in lines if (kind := _record(client, folder, line["seq"])) is not None}
    since = {
        "episode",
        "fence",
        "person",
        "parked",
        "woken",
        "liveness",
        "unwedge",
        "contract",
        "breach",
        "stop_gate",
        "proof",
    }
    assert KINDS.keys() - whole.keys() - since == {"snapshot", "status"}


def _record(client: TestClient, folder: RunFolder, seq: int) -> str | None:
    return client.get(f"/api/runs/{folder.run_id}/lines/{seq}").json().get("record")
