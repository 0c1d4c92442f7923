"""The demonstration shows every pattern and every rung, and leaves nothing behind."""

import time
from collections import Counter

from interlock.core import ISSUE_TYPES, LADDER
from interlock.demo import play
from interlock.demo.player import STORY_S
from interlock.journal import JournalReader, Store
from tests.cli.calling import interlock, lines_of


def test_the_demo_shows_everything_and_leaves_nothing(tmp_path):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    done = interlock("demo", "--json", home=tmp_path, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    events = lines_of(done.stdout)
    kinds = Counter(event["kind"] for event in events)
    found = {event["body"]["type"] for event in events if event["kind"] == "issue"}
    made = {e["body"]["intervention"]["type"] for e in events if e["kind"] == "intervention"}
    assert found == set(ISSUE_TYPES)
    assert made >= set(LADDER)
    assert kinds["waits"] >= 1
    assert kinds["denied"] >= 1
    assert kinds["incident"] == 1
    assert events[-1]["body"]["summary"]["status"] == "aborted"
    assert list(temporary.iterdir()) == []


def test_files_destroyed_by_the_shell_come_back_exactly():
    files = [event.body for event in play(fast=True) if event.kind in ("files", "restored")]
    restored = next(at for at, body in enumerate(files) if body.get("changed"))
    assert files[restored + 1]["before"] == files[restored + 1]["after"]


def test_the_demo_fits_a_narrow_and_a_wide_terminal_without_colour(tmp_path):
    for columns in (80, 160):
        done = interlock("demo", "--fast", home=tmp_path, COLUMNS=str(columns), NO_COLOR="1")
        assert done.returncode == 0
        assert "\x1b[" not in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= columns
        assert all(rung.replace("_", " ") in done.stdout for rung in LADDER)


def test_a_run_that_is_kept_can_be_looked_at(tmp_path):
    done = interlock("demo", "--keep", "--fast", home=tmp_path, TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "interlock web" in done.stdout
    shown = interlock("show", "demo", home=tmp_path)
    assert "emergency stop" in shown.stdout
    changed = interlock("rollback", "demo", "--dry-run", home=tmp_path)
    assert changed.returncode == 0, changed.stderr
    for words, column in ((("incidents",), "STATUS"), (("checkpoints", "demo"), "LABEL")):
        listed = interlock(*words, home=tmp_path, COLUMNS="80").stdout
        assert column in listed.splitlines()[0]
        assert "…" not in listed and not any(line.endswith(" ") for line in listed.splitlines())


def test_a_run_that_is_kept_happened_just_now_and_not_in_the_future(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    began = time.time()
    store = Store(tmp_path / "runs")
    *_, last = play(fast=True, keep=store)
    assert last.clock <= STORY_S
    with JournalReader.open(store.find("demo")) as journal:
        newest = max(record.time for record in journal.read())
    assert began - 300 < newest <= began
    (run,) = store.runs()
    assert run.ended is not None
    assert began - STORY_S - 60 < run.started < run.ended <= began
