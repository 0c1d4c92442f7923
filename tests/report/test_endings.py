"""How a run ended, and what stands on its timeline then, in words that say something to a person."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.config import Config
from interlock.control import new_request
from interlock.core import RunSpec
from interlock.journal import RunFolder, Store
from interlock.link import ask_owner
from interlock.report import Fleet, Story
from interlock.report.document import gather
from interlock.report.fleet import why_not_switched
from interlock.report.markdown import render
from interlock.runtime import Run, Supervisor
from interlock.runtime.run_control import RunControl
from tests.report.runs import demo_run, folder_of, scripted_run


def ended_run(root: Path, status: str, reason: str, message: str = "") -> RunFolder:
    store = Store(root)
    with Run.create(RunSpec(run_id="over", name="over", adapter="process"), store) as run:
        run.end(status, reason, message)  # type: ignore[arg-type]
    return RunFolder(store.root / "over")


@pytest.mark.parametrize(
    ("status", "reason", "message", "listed", "told"),
    [
        ("aborted", "ERROR", "the command ended with status 3", "failed", "the command ended with status 3"),
        ("aborted", "ERROR", "", "failed", "ended with an error"),
        ("aborted", "EMERGENCY_STOP", "stopped at step 3", "stopped", "stopped by Interlock"),
        ("aborted", "USER_CANCELLED", "", "cancelled", "cancelled by you"),
        ("done", "MAX_ITERATIONS", "40 steps", "limit", "ended by a limit"),
        ("done", "COMPLETE", "the command ended with status 0", "done", ""),
    ],
)  # fmt: skip
def test_who_or_what_ended_a_run_is_told(
    tmp_path: Path, status: str, reason: str, message: str, listed: str, told: str
) -> None:
    folder = ended_run(tmp_path, status, reason, message)
    (row,) = Fleet(Store(tmp_path)).rows()
    assert row.ending == listed
    with Story.open(folder) as story:
        assert story.ending == told


def test_a_live_run_has_no_ending(tmp_path: Path) -> None:
    supervisor = scripted_run(tmp_path, 5, close=False)
    with Story.open(folder_of(supervisor)) as story:
        assert story.ending == ""
        supervisor.close()
        story.update()
        assert story.summary.status == "done" and story.ending == ""


def test_a_stopped_run_says_what_could_not_be_done_and_why(tmp_path: Path) -> None:
    with Story.open(demo_run(tmp_path)) as story:
        *_, last = (line for line in story.page(limit=20) if line.title.startswith("could not"))
    assert last.title == "could not notify a person: no channel is configured"
    assert last.level == "quiet" and "pytest tests/test_parser.py" in last.detail


def test_one_pause_is_one_line(tmp_path: Path) -> None:
    with Supervisor.open(
        task="work", name="paused-once", store=Store(tmp_path / "runs"), config=Config()
    ) as supervisor:
        supervisor.after(supervisor.message("so it begins"))
        for command in ("pause", "resume"):
            request = new_request(f"order-{command}", command, folder_of(supervisor).run_id)  # type: ignore[arg-type]
            assert ask_owner(folder_of(supervisor), request, timeout=150).outcome == "success"
            supervisor.after(supervisor.message("on it goes"))
    with Story.open(folder_of(supervisor)) as story:
        assert story.counts["status"] > 0, "the supervisor noted it for itself"
        lines = story.page(limit=100, kinds=frozenset(("state",)))
        assert [line.title for line in lines].count("paused") == 1


def test_the_ladder_has_its_strongest_rung_on_top_and_an_ended_run_waits_for_no_judgement(tmp_path: Path) -> None:
    with Story.open(demo_run(tmp_path)) as story:
        document = gather(story)
    for form in ("html", "md"):
        page = render(document, form)
        ladder = page[page.index("The ladder") :]
        assert ladder.index("emergency stop") < ladder.index("rollback") < ladder.index("hint")
    page = render(document, "html")
    assert "not judged: the run ended first" in page and "unknown so far" not in page


def test_a_plain_process_is_known_to_keep_its_model_and_others_may_switch() -> None:
    assert why_not_switched("process") == "the agent's adapter (process) cannot switch models"
    assert not any(map(why_not_switched, ("claude-code", "proxy", "langchain", "")))


@pytest.mark.parametrize(
    ("status", "reason", "exit_status", "outcome"),
    [
        ("aborted", "ERROR", 7, "failed (7)"),
        ("aborted", "ERROR", -2, "interrupted"),
        ("aborted", "ERROR", -9, "killed (SIGKILL)"),
        ("aborted", "ERROR", None, "failed"),
        ("aborted", "USER_CANCELLED", -15, "cancelled by you"),
        ("aborted", "EMERGENCY_STOP", -15, "stopped by Interlock"),
        ("done", "MAX_ITERATIONS", -15, "limit"),
        ("done", "STUCK", 0, "stuck"),
        ("done", "UNPROVEN", 0, "unproven"),
        ("done", "COMPLETE", 0, "done"),
    ],
)
def test_each_way_to_end_has_words_of_its_own(status: str, reason: str, exit_status: int | None, outcome: str) -> None:
    from interlock.journal import RunSummary

    run = RunSummary(run_id="r", status=status, reason=reason, ended=2.0, exit_status=exit_status)  # type: ignore[arg-type]
    assert run.outcome == outcome


def test_an_unnamed_run_is_known_by_its_command_without_its_secrets() -> None:
    from interlock.core import RunSpec
    from interlock.journal import RunSummary

    argv = ("deploy", "--token", "sk-ant-api03-" + "Ab3dEf6hIj" * 9, "now")
    shown = RunSummary.of(RunSpec(run_id="r", argv=argv), 1.0).task
    assert shown.startswith("deploy --token")
    assert "Ab3dEf6hIj" not in shown
    assert RunSummary.of(RunSpec(run_id="r", argv=argv, task="ship it"), 1.0).task == "ship it"


@pytest.mark.parametrize(
    ("by", "outcome"),
    [
        (None, "cancelled by you"),
        ("ann (pid 7)", "cancelled by you"),
        ("ann (pid 7) for terminal", "cancelled by you"),
        ("ann (pid 7) for a signal", "terminated"),
        ("the agent (ann, pid 7)", "cancelled by the agent"),
        ("the agent (ann, pid 7) for terminal", "cancelled by the agent"),
    ],
)
def test_you_cancelled_only_what_a_person_cancelled(by: str | None, outcome: str) -> None:
    from interlock.journal import RunSummary

    run = RunSummary(run_id="r", status="aborted", reason="USER_CANCELLED", ended=2.0, cancelled_by=by)
    assert (run.outcome, run.ended_by) == (outcome, outcome)


def test_a_run_that_its_own_process_cancels_was_not_cancelled_by_you(tmp_path: Path) -> None:
    with Supervisor.open(task="work", store=Store(tmp_path), config=Config()) as supervisor:
        steering = supervisor.run.steering
        assert isinstance(steering, RunControl)
        steering.server.authority.why_inside = lambda pid: "it is a process of the run" if pid == os.getpid() else ""
        request = new_request("c", "cancel", folder_of(supervisor).run_id, actor="ann")
        assert ask_owner(folder_of(supervisor), request, timeout=150).outcome == "success"
    (row,) = Store(tmp_path).runs()
    assert (row.reason, row.outcome) == ("USER_CANCELLED", "cancelled by the agent")
    with Story.open(folder_of(supervisor)) as story:
        titles = [line.title for line in story.page(limit=100)]
        assert not [title for title in titles if "by you" in title]
        assert "It was cancelled by the agent." in render(gather(story), "md")
