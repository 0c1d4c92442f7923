"""The demonstration: real supervision, the same story each time, and nothing left behind."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from collections import Counter

import pyte
import pytest
from rich.console import Console

from interlock.contain import why_not
from interlock.core.decoding import from_plain
from interlock.demo import DemoEvent, play
from interlock.demo.narrator import Narrator
from interlock.demo.performance import STORY_S
from interlock.demo.screens import Lines, print_totals
from interlock.journal import JournalReader, Store
from tests.cli.calling import interlock, lines_of

GUARDED = not why_not()


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A performance as JSON, and the temporary folder that it had."""
    home = tmp_path_factory.mktemp("demo")
    (home / "tmp").mkdir()
    done = interlock("demo", "--json", home=home, TMPDIR=str(home / "tmp"))
    assert done.returncode == 0, done.stderr
    return lines_of(done.stdout), home


def of(events, kind):
    return [event["body"] for event in events if event["kind"] == kind]


def test_a_loop_is_helped_by_a_hint_and_another_climbs_to_the_rollback_that_helps(told):
    events, _ = told
    made = [body["intervention"] for body in of(events, "intervention")]
    levels = [(each["issue_type"], each["level"]) for each in made if each.get("outcome") is None]
    climbs = [("repetitive_errors", level) for level in range(4)]
    assert [each for each in levels if each[0] in ("loop", "repetitive_errors")] == [("loop", 0), *climbs]
    ended = [(body["type"], body["ending"]) for body in of(events, "episode") if body.get("ending")]
    assert {("loop", "improved"), ("repetitive_errors", "solved")} <= set(ended)


def test_an_attempt_on_the_whole_machine_is_critical_and_never_runs(told):
    events, _ = told
    found = [body for body in of(events, "issue") if body["type"] == "destructive_action"]
    assert [body["severity"] for body in found] == ["critical", "critical"]
    calls = {body["step"]: body["arguments"].get("command", "") for body in of(events, "call")}
    denied = [calls[body["step"]] for body in of(events, "denied")]
    assert denied == ["sudo rm -rf / --no-preserve-root", "pkill -9 -f interlock"]


@pytest.mark.skipif(not GUARDED, reason="guard does not work here")
def test_the_attack_on_the_supervisor_is_real_and_fails(told):
    events, _ = told
    (attacked,) = of(events, "attacked")
    assert attacked == {"attempts": 4, "succeeded": [], "journal": "intact"}


def test_without_guard_the_attack_is_not_tried(monkeypatch):
    monkeypatch.setattr("interlock.demo.performance.why_not", lambda: "bubblewrap is not installed")
    narrator, kinds = Narrator(), Counter()
    for event in play():
        narrator.entries_for(event)
        kinds[event.kind] += 1
    assert (kinds["skipped"], kinds["attacked"]) == (1, 0)
    assert ("1 attack", "on the supervisor failed; it never stopped watching") in narrator.totals()


def test_files_that_the_agent_destroyed_come_back_exactly(told):
    events, _ = told
    (gone,) = of(events, "gone")
    (restored,) = of(events, "restored")
    assert (gone["lost"], gone["left"]) == (13, 4)
    assert (restored["identical"], restored["files"]) == (13, 15)
    assert set(gone["paths"]) - {"data/"} <= set(restored["changed"])


def test_an_unproven_done_is_caught_and_the_run_ends_proven(told):
    events, _ = told
    assert [body["outcome"] for body in of(events, "stop_gate")] == ["returned", "passed", "passed"]
    end = events[-1]["body"]
    assert (end["summary"]["status"], end["summary"]["reason"], end["journal"]) == ("done", "COMPLETE", "intact")
    assert end["summary"]["model"] == "claude-sonnet-4-5"
    assert 0.1 < end["summary"]["cost_usd"] < 5.0 and end["summary"]["unpriced_tokens"] == 0


def test_a_kept_run_happened_today_and_is_the_same_as_any_other(told, tmp_path, monkeypatch):
    events, home = told
    assert list((home / "tmp").iterdir()) == [], "the other left nothing"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    store = Store(tmp_path / "runs")
    began = time.time()

    def shape(kind, body):
        return kind, body.get("type"), body.get("text", "")[:20], body.get("severity")

    again = [shape(event.kind, event.body) for event in play(keep=store)]
    assert again == [shape(event["kind"], event["body"]) for event in events]
    assert events[-1]["clock"] <= STORY_S
    with JournalReader.open(store.find("demo")) as journal:
        newest = max(record.time for record in journal.read())
    (run,) = store.runs()
    assert run.ended is not None
    assert began - STORY_S <= run.started < run.ended <= newest <= time.time()


def test_where_there_is_no_terminal_lines_are_plain_and_the_kept_run_can_be_looked_at(tmp_path):
    done = interlock("demo", "--keep", home=tmp_path, TMPDIR=str(tmp_path), COLUMNS="80")
    assert done.returncode == 0, done.stderr
    assert "\x1b[" not in done.stdout
    assert "What was saved" in done.stdout and "interlock web" in done.stdout
    assert "rollback" in interlock("show", "demo", home=tmp_path).stdout
    changed = interlock("rollback", "demo", "--dry-run", home=tmp_path)
    assert changed.returncode == 0, changed.stderr
    listed = interlock("checkpoints", "demo", home=tmp_path, COLUMNS="80").stdout
    assert "LABEL" in listed.splitlines()[0]
    assert "…" not in listed and not any(line.endswith(" ") for line in listed.splitlines())


@pytest.mark.parametrize("columns", [40, 80, 160])
def test_plain_lines_fit_and_repeat_nothing(told, columns):
    console = Console(width=columns, file=io.StringIO(), highlight=False)
    lines = Lines(console)
    for event in told[0]:
        lines.show(from_plain(event, DemoEvent))
    print_totals(console, lines.narrator, kept=False)
    printed = console.file.getvalue().splitlines()
    assert max(map(len, printed)) <= columns
    if columns > 40:
        counts = Counter(line.strip() for line in printed if len(line.strip()) > 30)
        counts.pop("$ python3 -m unittest tests.test_orders")
        assert {line: count for line, count in counts.items() if count > 1 and "AssertionError" not in line} == {}


def test_a_terminal_gets_a_split_screen(tmp_path):
    columns, rows = 80, 24
    screen = pyte.Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    at_once = []
    for data in in_terminal(tmp_path, columns, rows):
        for frame in re.split(rb"(?=\x1b\[H)", data):
            stream.feed(frame)
            foot = screen.display[-1]
            now = "\n".join(screen.display)
            if "13 files destroyed" in now and "13 files restored" in now and "■ rollback  □ stop" in foot:
                at_once = screen.display
    assert at_once, "destroyed on the left and restored on the right, on one screen"
    (titles,) = (line for line in at_once if "─ agent" in line)
    assert titles.index("Interlock") > columns // 2
    assert "15 files" in at_once[-1]
    assert any("1 false “done”" in line for line in screen.display), "the sum at the end"


def in_terminal(home, columns, rows):
    """What the demo writes to a terminal of a size, without its pauses."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "XDG_STATE_HOME": str(home / "state"), "TERM": "xterm-256color"}
    for name in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(name, None)
    code = "from interlock.cli import demo; demo.NORMAL = 0.001; demo.demo()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=theirs, env=environment)
    os.close(theirs)
    try:
        while data := os.read(ours, 1 << 20):
            yield data
    except OSError:
        pass  # the other side has closed
    finally:
        os.close(ours)
        assert process.wait(150) == 0
