"""What a run says on loop:current: its frame's mode and issue, and why it ended."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.config import Config
from interlock.config.schema import Store as StoreSettings
from interlock.control import Command, new_request
from interlock.control.messages import ABORT_REASONS, DONE_REASONS
from interlock.core import Hold, RunSpec
from interlock.gui.screen_supervision import open_run
from interlock.journal import JournalReader, Store, new_run_id
from interlock.link.owner_client import ask_owner
from interlock.runtime import Supervisor


def said(supervisor: Supervisor) -> list[dict[str, Any]]:
    """Every message of the run on loop:current."""
    supervisor.run.journal.flush()
    assert supervisor.run.folder is not None
    with JournalReader.open(supervisor.run.folder) as reader:
        return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(("state",)))]


def order(supervisor: Supervisor, command: Command, issue_id: str | None) -> str | None:
    assert supervisor.run.folder is not None
    request = new_request(str(uuid.uuid4()), command, supervisor.run.spec.run_id, issue_id=issue_id)
    answer = ask_owner(supervisor.run.folder, request, timeout=150)
    return answer.code or answer.outcome


@pytest.mark.parametrize(
    ("status", "reason"), [*(("done", each) for each in DONE_REASONS), *(("aborted", each) for each in ABORT_REASONS)]
)
def test_every_reason_of_the_protocol_can_end_a_run_and_is_said(tmp_path: Path, status: Any, reason: str) -> None:
    supervisor = Supervisor.open(task="t", store=Store(tmp_path), config=Config())
    supervisor.finish(status, reason, "over")
    last = said(supervisor)[-1]
    supervisor.close()
    assert (last["event"], last["reason"], last["stack"]) == ("DONE" if status == "done" else "ABORT", reason, [])


@pytest.mark.parametrize(("status", "reason"), [("done", "ERROR"), ("aborted", "COMPLETE"), ("done", "TIRED")])
def test_a_reason_that_does_not_fit_is_refused(tmp_path: Path, status: Any, reason: str) -> None:
    with Supervisor.open(task="t", store=Store(tmp_path), config=Config()) as supervisor:
        with pytest.raises(ValueError, match="cannot end as"):
            supervisor.finish(status, reason, "")
        assert not supervisor.run.ended


def test_an_agent_that_goes_while_it_is_held_because_nothing_helped_was_stuck(tmp_path: Path) -> None:
    supervisor = Supervisor.open(task="t", store=Store(tmp_path), config=Config())
    supervisor.run.hold(Hold("10 interventions did not work", kind="pause"), 3)
    supervisor.close()
    assert supervisor.run.summary.reason == "STUCK"


def test_an_agent_that_a_person_let_go_on_has_completed(tmp_path: Path) -> None:
    supervisor = Supervisor.open(task="t", store=Store(tmp_path), config=Config())
    supervisor.run.hold(Hold("10 interventions did not work", kind="pause"), 3)
    supervisor.resume()
    supervisor.close()
    assert supervisor.run.summary.reason == "COMPLETE"


def test_a_run_that_works_on_an_issue_says_so_and_is_controlled_by_its_id(tmp_path: Path) -> None:
    with Supervisor.open(task="t", store=Store(tmp_path), config=Config(), issue_id="LIN-42") as supervisor:
        frame = said(supervisor)[0]["stack"][-1]
        assert (frame["mode"], frame["issue_id"]) == ("issue", "LIN-42")
        assert order(supervisor, "pause", "LIN-7") == "not_found"
        assert order(supervisor, "pause", "LIN-42") == "success"
        assert order(supervisor, "resume", None) == "success"


def test_a_run_specification_carries_its_issue(tmp_path: Path) -> None:
    spec = RunSpec(run_id=new_run_id(), issue_id="7")
    with Supervisor.open(spec=spec, store=Store(tmp_path), config=Config()) as supervisor:
        assert said(supervisor)[0]["stack"][-1]["issue_id"] == "7"
        assert order(supervisor, "pause", "7") == "success"


def test_a_run_without_an_issue_is_a_loop(tmp_path: Path) -> None:
    with Supervisor.open(task="t", store=Store(tmp_path), config=Config()) as supervisor:
        frame = said(supervisor)[0]["stack"][-1]
        assert frame["mode"] == "loop"
        assert "issue_id" not in frame


def test_a_gui_session_says_so_in_its_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    config = Config(store=StoreSettings(dir=str(tmp_path / "runs")))
    run = open_run(config, name="demo", task="t", workspace=None)
    assert said(run.supervisor)[0]["stack"][-1]["mode"] == "gui"
    run.close()
