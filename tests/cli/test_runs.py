"""Runs are listed, shown, exported and pruned."""

import io
import os
import subprocess
import sys
import tarfile
import zipfile

import pytest
from msgspec.structs import replace
from rich.console import Console

from interlock.cli.runs import headline, money, runs_table
from interlock.config import Config
from interlock.core import Liveness, RunSpec, Step
from interlock.journal import Journal, JournalEntry, RunSummary, Store
from interlock.journal_records import StepRecord
from interlock.runtime import Supervisor
from tests.cli.calling import interlock, lines_of


@pytest.fixture
def ended(tmp_path):
    """A home with one ended run in it."""
    with Supervisor.open(
        task="count to 3", name="counter", config=Config(), store=Store(tmp_path / "state" / "interlock" / "runs")
    ) as run:
        for number in range(3):
            run.before(run.call("bash", {"command": f"echo {number}"}))
            run.after(run.result(str(number), error=False))
    return tmp_path


def test_ended_runs_are_listed_with_all(ended):
    assert "No live runs" in interlock("ps", home=ended).stdout
    (answer,) = lines_of(interlock("ps", "--all", "--json", home=ended).stdout)
    (run,) = answer["runs"]
    assert (run["name"], run["status"], run["steps"], run["iter"]) == ("counter", "done", 6, 3)
    assert "counter" in interlock("ps", "--all", home=ended).stdout


@pytest.mark.parametrize(
    ("status", "word", "shown"),
    [
        ("running", "paused", None),
        ("pausing", "paused", None),
        ("paused", "working", None),
        ("paused", "waiting for a tool", None),
        ("paused", "paused", "paused"),
        ("paused", "parked", "parked"),
        ("paused", "wedged", "wedged"),
        ("running", "parked", "parked"),
        ("running", "working", "working"),
    ],
)
def test_what_a_run_was_doing_before_a_pause_or_a_resume_is_not_shown_after_it(status, word, shown):
    other = "paused" if status == "running" else "running"
    before = RunSummary(run_id="r", status=other, owner_pid=1, liveness=Liveness(word, 1.0))
    now = replace(before, status=status, liveness=before.liveness or Liveness(word, 1.0))
    assert (now.doing.word if now.doing else None) == shown


def test_a_number_that_no_record_has_finds_nothing(ended):
    (shown,) = lines_of(interlock("show", "counter", "--json", "--after", "9" * 30, home=ended).stdout)
    assert shown["records"] == [] and shown["run"]["name"] == "counter"
    done = interlock("show", "counter", "--kind", "step", "--after", "9" * 30, home=ended)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["approve", "reject", "pause", "resume", "cancel"])
def test_an_ended_run_is_called_ended_by_every_command(ended, command):
    done = interlock(command, "counter", home=ended)
    assert (done.returncode, done.stderr) == (3, "interlock: counter: the run has ended\n")


def test_an_empty_name_is_no_run(ended):
    for command in ("show", "verify", "pause"):
        done = interlock(command, "", home=ended)
        assert (done.returncode, "no run specified" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("spent", "budget", "unpriced", "shown"),
    [
        (0.0, None, 0, "$0.00"),
        (0.0, None, 700, "unknown"),
        (1.5, None, 700, "$1.50+"),
        (0.0, 5.0, 700, "unknown/5.00"),
        (1.5, 5.0, 0, "$1.50/5.00"),
    ],
)
def test_a_cost_that_is_not_known_is_not_called_nothing(spent, budget, unpriced, shown):
    assert money(spent, budget, unpriced) == shown


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("EMERGENCY_STOP", "stopped by Interlock"),
        ("ERROR", "failed"),
        ("USER_CANCELLED", "cancelled by you"),
    ],
)
def test_the_list_says_once_who_or_what_ended_a_run(reason, words):
    row = RunSummary(run_id="r", task="fix it", status="aborted", ended=2.0, reason=reason)
    shown = io.StringIO()
    Console(width=120, file=shown).print(runs_table([row], 120))
    assert shown.getvalue().count(words) == 1
    assert headline(row) == "fix it"


def test_no_line_of_the_list_ends_in_spaces(ended):
    """A long task widens its column for every row, the header's too."""
    with Supervisor.open(task="long " * 40, config=Config(), store=Store(ended / "state" / "interlock" / "runs")):
        pass
    lines = interlock("ps", "--all", home=ended).stdout.splitlines()
    assert len(lines) == 3
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_run_is_shown_by_name_with_what_happened(ended):
    done = interlock("show", "counter", home=ended)
    assert done.returncode == 0
    assert "count to 3" in done.stdout
    assert "echo 2" in done.stdout
    (answer,) = lines_of(interlock("show", "count", "--json", "--kind", "step", home=ended).stdout)
    assert [record["kind"] for record in answer["records"]] == ["step"] * 6


def test_in_a_pipe_no_line_is_cut(tmp_path):
    with Supervisor.open(name="wordy", config=Config(), store=Store(tmp_path / "state" / "interlock" / "runs")) as run:
        run.before(run.call("bash", {"command": f"echo {'word ' * 12}the end"}))
    shown = interlock("show", "wordy", home=tmp_path, COLUMNS="40").stdout
    assert "the end" in shown and "…" not in shown


MEASURED = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
"""
"""Runs a command, and says how many MB it took; of a process that this one starts, its own would count."""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_long_run_is_shown_in_the_memory_of_a_short_one(tmp_path, options):
    peaks = []
    for steps in (100, 30_000):
        store, name = Store(tmp_path / "interlock" / "runs"), f"of-{steps}"
        with Journal.open(store.create(RunSpec(run_id=name, name=name))) as journal:
            for first in range(0, steps, 1000):
                indexes = range(first, min(first + 1000, steps))
                said = [Step(run_id=name, index=index, role="assistant", content="words " * 200) for index in indexes]
                journal.append([JournalEntry("step", StepRecord(step)) for step in said], durable=True)
        words = [sys.executable, "-c", MEASURED, sys.executable, "-m", "interlock", "show", name, *options]
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
        shown = subprocess.run(words, env=env, capture_output=True, check=True)
        assert shown.stdout.count(b"words words") >= steps
        peaks.append(int(shown.stderr))
    assert peaks[1] < peaks[0] + 20, "MB"


def test_a_running_run_is_shown_as_running(tmp_path):
    with Supervisor.open(name="live", config=Config(), store=Store(tmp_path / "state" / "interlock" / "runs")):
        first, *_ = interlock("show", "live", home=tmp_path).stdout.splitlines()
    assert "running" in first
    assert "lost" not in first


def test_what_other_commands_ask_for_is_never_cut(ended):
    (row,) = Store(ended / "state" / "interlock" / "runs").runs()
    row = replace(row, name="a-name-of-some-length", task="word " * 30)
    for width in (46, 60, 80, 120):
        console = Console(width=width, file=io.StringIO(), record=True)
        console.print(runs_table([row], width))
        shown = console.export_text()
        assert row.run_id in shown
        assert row.name in shown
        assert "done" in shown
    assert "word word word" in shown
    piped = interlock("ps", "--all", home=ended).stdout
    assert "count to 3" in piped
    assert "…" not in piped


def test_an_unknown_run_exits_3_and_names_the_nearest(ended):
    done = interlock("show", "cuonter", home=ended)
    assert done.returncode == 3
    assert "counter" in done.stderr


def test_a_run_is_exported_as_one_file(ended):
    done = interlock("export", "counter", "-o", "run.tar.gz", home=ended)
    assert done.returncode == 0, done.stderr
    with tarfile.open(ended / "run.tar.gz") as archive:
        assert any(name.endswith("journal.db") for name in archive.getnames())


def test_pruning_says_what_it_would_do_and_does_it(ended):
    (would,) = lines_of(interlock("prune", "--keep", "0", "--dry-run", "--json", home=ended).stdout)
    assert len(would["removed"]) == 1
    assert len(lines_of(interlock("ps", "--all", "--json", home=ended).stdout)[0]["runs"]) == 1
    interlock("prune", "--keep", "0", home=ended)
    assert lines_of(interlock("ps", "--all", "--json", home=ended).stdout) == [{"runs": []}]


def test_pruning_says_what_it_could_not_remove(ended):
    """A folder in the place of the lock stands for a store that cannot be written to: root may write to others."""
    (run,) = (folder.path for folder in Store(ended / "state" / "interlock" / "runs").folders())
    (run / "lock").unlink()
    (run / "lock").mkdir()
    done = interlock("prune", "--keep", "0", home=ended)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"interlock: {run.name} counter (too many) is still there: ")
    done = interlock("prune", "--keep", "0", "--json", home=ended)
    (told,) = lines_of(done.stdout)
    assert (done.returncode, told["removed"], told["failed"][0]["run_id"]) == (4, [], run.name)
    assert run.exists()


@pytest.mark.parametrize("days", ["nan", "inf", "-1", "x"])
def test_pruning_takes_a_number_of_days(ended, days):
    done = interlock("prune", "--older-than", days, home=ended)
    assert done.returncode == 2 and "--older-than" in done.stderr


def test_the_doctor_looks_at_everything(ended):
    (answer,) = lines_of(interlock("doctor", "--json", home=ended).stdout)
    assert {"Python", "SQLite", "configuration", "store"} <= {check["what"] for check in answer["checks"]}


def test_without_incidents_there_is_nothing_to_list(ended):
    assert lines_of(interlock("incidents", "--json", home=ended).stdout) == [{"incidents": []}]


def test_schemas_are_published(ended):
    (answer,) = lines_of(interlock("schema", home=ended).stdout)
    assert {"step", "issue", "decision", "config"} <= set(answer["schemas"])
    assert interlock("schema", "nonsense", home=ended).returncode == 2


def test_watching_ends_when_nobody_reads_any_more(tmp_path):
    for options in ((), ("--json",)):
        done = subprocess.run(
            ["/bin/bash", "-c", f'"{sys.executable}" -m interlock ps --all --watch {" ".join(options)} | head -1'],
            env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=150,
            check=True,
        )
        assert done.stdout.count("\n") == 1
        assert done.stderr == ""


def test_a_kind_of_record_that_nobody_knows_is_bad_input(tmp_path):
    with Supervisor.open(name="x", store=Store(tmp_path / "state" / "interlock" / "runs")):
        pass
    done = interlock("show", "x", "--kind", "issue", "--kind", "bogus", home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "'bogus'" in done.stderr
    assert interlock("show", "x", "--kind", "issue", home=tmp_path).returncode == 0


def test_an_export_is_what_its_name_says(tmp_path):
    with Supervisor.open(name="x", store=Store(tmp_path / "state" / "interlock" / "runs")) as supervisor:
        run_id = supervisor.run.spec.run_id
    assert interlock("export", "x", "-o", "x.zip", home=tmp_path).returncode == 0
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert f"{run_id}/journal.db" in archive.namelist()
    done = interlock("export", "x", "-o", "x.tar.xz", home=tmp_path)
    assert (done.returncode, (tmp_path / "x.tar.xz").exists()) == (2, False)


def test_a_summary_that_cannot_be_written_is_said_before_the_command_runs(tmp_path):
    done = interlock("run", "--summary", str(tmp_path), "--", "touch", "ran", home=tmp_path)
    assert done.returncode == 2
    assert not (tmp_path / "ran").exists()
