"""A GUI session is a run like any other: journal, lists, pause, resume, cancel, checkpoints."""

from __future__ import annotations

import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.config import Config
from interlock.config.schema import Store as StoreSettings
from interlock.control import Command, new_request
from interlock.gui import AnalysisResult, ReplayStatus
from interlock.gui.display import wait_until
from interlock.gui.screen_supervision import SupervisedRun, open_run
from interlock.journal import JournalReader, open_store
from interlock.journal_records import GuiChunkRecord, GuiModelCallRecord, GuiTroubleRecord
from interlock.link import ask_owner
from interlock.runtime import Supervisor

from .scripted_screen import DIALOG, NORMAL, orchestrator


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Config(store=StoreSettings(dir=str(tmp_path / "runs")))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.py").write_text("x = 1\n")
    return tmp_path / "work"


@pytest.fixture
def run(config: Config, workspace: Path) -> Iterator[SupervisedRun]:
    made = open_run(config, name="demo", task="a demonstration", workspace=workspace, session_id="demo")
    yield made
    made.close()


def order(run: SupervisedRun, command: Command) -> str:
    assert run.run.folder is not None
    return ask_owner(run.run.folder, new_request(str(uuid.uuid4()), command, run.run.spec.run_id), timeout=150).outcome


def records(run: SupervisedRun, kind: str) -> list[Any]:
    run.run.journal.flush()
    return [msgspec.json.decode(record.body) for record in run.run.journal.reader().read(kinds=frozenset((kind,)))]


def pass_in_thread(run: SupervisedRun) -> tuple[threading.Thread, list[str]]:
    passed: list[str] = []
    thread = threading.Thread(target=lambda: passed.append(run.gate()), daemon=True)
    thread.start()
    return thread, passed


def test_a_paused_run_lets_no_chunk_through_until_it_is_resumed(run: SupervisedRun) -> None:
    assert run.gate() == "proceed"
    pausing = threading.Thread(target=order, args=(run, "pause"), daemon=True)
    pausing.start()
    assert wait_until(run.is_paused, 60)
    waiting, passed = pass_in_thread(run)
    pausing.join(150)
    assert not pausing.is_alive()
    assert not passed
    assert order(run, "resume") == "success"
    waiting.join(150)
    assert passed == ["proceed"]


def test_a_cancelled_run_stops_the_typing_and_what_waits_at_the_gate(run: SupervisedRun) -> None:
    reasons: list[str] = []
    run.keyboard.on_stop = reasons.append
    order(run, "pause")
    waiting, passed = pass_in_thread(run)
    assert order(run, "cancel") == "success"
    waiting.join(150)
    assert passed == ["stop"]
    assert wait_until(lambda: reasons == ["cancelled"], 60)
    run.end(False, "cancelled")
    assert run.run.summary.status == "aborted"


def test_events_and_chunks_count_in_lists_of_runs(run: SupervisedRun, tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, DIALOG, NORMAL, NORMAL, run=run, screenshot_dir=None)
    assert watch.check_now().outcome == "recovered"
    assert watch.check_now().outcome == "none"
    run.record(GuiChunkRecord(0))
    summary = run.run.summary
    assert (summary.steps, summary.issues, summary.interventions) == (1, 1, 1)
    assert summary.last_issue is not None
    assert summary.last_issue.startswith("dialog")


def test_pictures_lie_in_the_runs_folder_and_are_named_from_there(run: SupervisedRun, tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, DIALOG, NORMAL, run=run, screenshot_dir=None, pictures=run.pictures)
    watch.check_now()
    [event] = records(run, "gui_event")
    assert run.pictures is not None
    for name in ("screenshot_path", "screenshot_after"):
        assert "/" not in event[name]
        assert (run.pictures / event[name]).is_file()


def test_a_watcher_does_nothing_while_the_run_is_paused(run: SupervisedRun, tmp_path: Path) -> None:
    order(run, "pause")
    watch = orchestrator(tmp_path, DIALOG, run=run)
    event = watch.check_now()
    assert (event.outcome, event.reason) == ("skipped", "the run is paused")


def test_the_workspace_is_kept_at_the_start_and_after_each_file(run: SupervisedRun, workspace: Path) -> None:
    (workspace / "a.py").write_text("x = 2\n")
    run.checkpoint("a.py is typed")
    causes = [(record["cause"], record.get("label", "")) for record in records(run, "checkpoint")]
    assert causes == [("start", ""), ("after step", "a.py is typed")]


def test_a_run_whose_owner_died_goes_on_as_the_same_run(config: Config, workspace: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nfrom interlock.config import Config\n"
        "from interlock.config.schema import Store\nfrom interlock.gui.screen_supervision import open_run\n"
        "run = open_run(Config(store=Store(dir=sys.argv[1])), name='demo', task='', workspace=Path(sys.argv[2]),"
        " session_id='demo')\nprint(run.run.spec.run_id, flush=True)\nos._exit(9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(config.store.dir), str(workspace)], capture_output=True, text=True, check=False
    )
    first = done.stdout.strip()
    assert first, done.stderr
    again = open_run(config, name="demo", task="", workspace=workspace, session_id="demo", resume=True)
    try:
        assert again.run.spec.run_id == first
        assert again.gate() == "proceed"
    finally:
        again.close()
    third = open_run(config, name="demo", task="", workspace=workspace, session_id="demo", resume=True)
    try:
        assert third.run.spec.continues == first
    finally:
        third.close()


def test_a_computer_use_agent_has_its_steps_and_its_screen_on_one_run(config: Config, tmp_path: Path) -> None:
    with Supervisor.open(config=config, task="book a flight", name="agent") as supervisor:
        run = SupervisedRun(supervisor)
        watch = orchestrator(tmp_path, DIALOG, NORMAL, run=run)
        step = supervisor.call("computer", {"action": "click", "x": 3, "y": 4})
        assert supervisor.ask(step).action == "proceed"
        supervisor.after(supervisor.result("clicked"))
        watch.check_now("after a click")
        run_id = supervisor.run.spec.run_id
    with JournalReader.open(open_store(config).find(run_id)) as reader:
        kinds = [record.kind for record in reader.read()]
    assert "step" in kinds
    assert "gui_event" in kinds


def test_a_models_question_and_answer_are_kept_without_secrets(run: SupervisedRun) -> None:
    secret = "ghp_" + "a1B2" * 9
    run.record(GuiModelCallRecord(model="claude-opus-5-5", question="Which file?", answer=f"it shows {secret}"))
    [record] = records(run, "gui_model_call")
    assert record["question"] == "Which file?"
    assert secret not in record["answer"]


def test_a_full_disk_does_not_end_a_session(run: SupervisedRun) -> None:
    run.record(GuiTroubleRecord(0, "large" * 5_000_000))
    assert run.gate() == "proceed"


def test_an_unknown_verdict_is_no_issue(run: SupervisedRun, tmp_path: Path) -> None:
    watch = orchestrator(tmp_path, AnalysisResult(ReplayStatus.UNKNOWN, 0.0, "no evidence"), run=run)
    watch.check_now()
    assert run.run.summary.issues == 0
