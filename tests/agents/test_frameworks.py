"""What every Python framework must show, with the real one: its example, run against a scripted model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.demo.model import run, turns
from interlock.demo.model.script import ScriptedCall, Scripts
from interlock.process.proc import read_process
from interlock.runtime import Incidents
from tests.e2e.running import until

from .frameworks import FRAMEWORKS, Framework, Program

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

MakeProgram = Callable[..., Program]
FINISH = ScriptedCall(does="finish", input={"text": "Finished."})
STOP_AT_ONCE = {
    "interventions": {
        "soft_correction": False,
        "context_reinforcement": False,
        "resource_throttling": False,
        "checkpoint_rollback": False,
    }
}
"""With everything milder switched off, the first issue is answered by an emergency stop."""


@pytest.fixture(params=FRAMEWORKS, ids=lambda framework: framework.name)
def framework(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> Framework:
    found: Framework = request.param
    record_property("agent", found.name)
    record_property("version", found.version)
    return found


@pytest.fixture
def program(framework: Framework, tmp_path: Path) -> Iterator[MakeProgram]:
    """Make a program with an agent in it, with what its model says and a configuration."""
    made: list[Program] = []

    def make(script: Scripts, config: dict[str, Any] | None = None) -> Program:
        made.append(Program(tmp_path, framework, script, config))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_healthy_task_goes_through_unharmed_unflagged_and_its_tokens_are_counted(program: MakeProgram) -> None:
    here = program("healthy")
    status, out, err = here.whole()
    assert status == 0, err
    assert "All finished." in out
    assert (here.workspace / "a.txt").read_text() == "hello\nworld\n"
    (found,) = here.store.runs()
    assert (found.status, found.issues, found.interventions) == ("done", 0, 0)
    assert found.task == "do the task"
    assert here.records("fault") == []
    told = sum(max(1, len(request.raw) // 4) + 25 for request in here.model.asked)
    assert found.tokens == told


def test_a_loop_gets_a_soft_correction_that_the_next_request_contains(program: MakeProgram) -> None:
    here = program(turns(*[run("cat missing.txt")] * 4, FINISH))
    status, _, err = here.whole()
    assert status == 0, err
    made = here.records("intervention")
    assert made[0]["intervention"]["type"] == "soft_correction", made
    (first, *_) = (r["directive"] for r in here.records("applied") if r["directive"]["do"] == "inject")
    guidance = first["message"]["content"].splitlines()[0]
    with_it = [guidance in request.text for request in here.model.asked]
    assert with_it[-1], "it stays in the conversation"
    assert with_it.index(True) == 3, "the request after the third failure is the first that has it"
    assert all(with_it[3:])


def test_a_destructive_command_is_denied_and_a_careless_one_is_made_safe(program: MakeProgram) -> None:
    here = program(turns(run("echo one > one.txt"), run("rm -rf ~/"), run("chmod 777 one.txt"), FINISH))
    status, _, err = here.whole()
    assert status == 0, err
    assert (here.home / "diary.txt").exists()
    assert "Refused by Interlock" in here.model.asked[2].text
    assert (here.workspace / "one.txt").stat().st_mode & 0o777 == 0o755
    decisions = [r["decision"]["action"] for r in here.records("step") if "action" in (r.get("decision") or {})]
    assert decisions == ["deny", "rewrite"]


def test_a_pause_holds_the_next_step_until_resume_and_a_stronger_model_can_take_over(program: MakeProgram) -> None:
    wait = "touch ready; while [ ! -e go ]; do sleep 0.05; done"
    here = program(turns(run(wait), run("touch second"), FINISH))
    process = here.launch()
    here.wait_for("ready")
    assert here.order("pause").outcome == "success"
    (here.workspace / "go").touch()
    until("the call under way is over", lambda: here.store.runs()[0].status == "paused")
    weak, strong = here.framework.models
    assert here.order("escalate", {"model": strong}).outcome == "success"
    assert not (here.workspace / "second").exists()
    resumed = time.time()
    assert here.order("resume").outcome == "success"
    status, _, err = here.end(process)
    assert status == 0, err
    assert (here.workspace / "second").stat().st_mtime >= resumed
    assert here.store.runs()[0].status == "done"
    models = [request.model for request in here.model.asked]
    assert models == [weak, strong, strong], models


def test_an_emergency_stop_ends_the_run_and_leaves_no_process(program: MakeProgram) -> None:
    leave = "setsid sleep 600 >/dev/null 2>&1 </dev/null & echo $! > pid"
    here = program(turns(run(leave), *[run("cat missing.txt")] * 20, FINISH), STOP_AT_ONCE)
    _, out, err = here.whole()
    (found,) = here.store.runs()
    assert found.status == "aborted", err
    assert len(Incidents(here.store).all()) == 1
    assert here.records("end")[0]["reason"] == "EMERGENCY_STOP"
    assert "Interlock" in out + err
    assert len(here.model.asked) < 10, "it was not asked on"
    left = read_process(int((here.workspace / "pid").read_text()))
    assert left is None or left.dead


def test_a_rollback_takes_back_what_the_shell_changed_and_what_was_said(program: MakeProgram) -> None:
    wait = "echo changed > kept.txt; touch ready; while [ ! -e ../go ]; do sleep 0.05; done"
    here = program(turns(run(wait), run("echo changed > kept.txt; echo new > made.txt"), FINISH))
    (here.workspace / "kept.txt").write_text("mine\n")
    process = here.launch()
    here.wait_for("ready")
    begun = here.records("checkpoint")[0]["id"]
    answer = here.order("rollback", {"to": begun})
    assert answer.outcome == "success", answer
    assert (here.workspace / "kept.txt").read_text() == "mine\n", "while it runs"
    (here.root / "go").touch()
    status, _, err = here.end(process)
    assert status == 0, err
    anew = [0] if "conversation" in here.framework.capabilities else []
    assert [request.turn for request in here.model.asked] == [0, *anew, 1, 2]
    assert (here.workspace / "kept.txt").read_text() == "changed\n"
    assert (here.workspace / "made.txt").exists()
    done = here.interlock("rollback", here.folder.run_id, "--yes")
    assert done[0] == 0, done
    assert [path.name for path in here.workspace.iterdir()] == ["kept.txt"]
    assert (here.workspace / "kept.txt").read_text() == "mine\n", "when it is over"


def test_a_cancelled_run_ends_its_command_and_itself(program: MakeProgram) -> None:
    here = program(turns(run("echo $$ > pid; touch ready; sleep 600"), run("touch second"), FINISH))
    process = here.launch()
    here.wait_for("ready")
    assert here.order("cancel").outcome == "success"
    _, out, err = here.end(process)
    assert here.records("end", "state")[-1]["reason"] == "USER_CANCELLED"
    assert "Interlock" in out + err
    assert not (here.workspace / "second").exists()
    left = read_process(int((here.workspace / "pid").read_text()))
    assert left is None or left.dead
