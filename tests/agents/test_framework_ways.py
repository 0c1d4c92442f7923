"""Ways to use a framework beside the plain one: event loops, streams, handoffs, parallel calls, failures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.demo.model import run, turns, write
from interlock.demo.model.script import ScriptedCall, ScriptedTurn

from .frameworks import FRAMEWORKS, Framework, Program

pytestmark = [pytest.mark.agents, pytest.mark.timeout(300)]

PROGRAMS = Path(__file__).parent / "programs"
FINISH = ScriptedCall(does="finish", input={"text": "Finished."})


def named(name: str, record_property: Callable[[str, object], None]) -> Framework:
    found = next(framework for framework in FRAMEWORKS if framework.name == name)
    record_property("agent", found.name)
    record_property("version", found.version)
    return found


def test_langchain_in_an_event_loop_with_parallel_calls_after_a_run_that_failed(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    both = ScriptedTurn(calls=(run("echo one > one.txt"), run("rm -rf ~/")))
    here = Program(tmp_path, named("langchain", record_property), turns(both, *[run("ls; echo __N__")] * 3, FINISH))
    status, out, err = here.end(here.begin([here.framework.python(), str(PROGRAMS / "langchain_async.py"), "work"]))
    here.close()
    assert status == 0, err
    assert out.splitlines() == ["too long", "Finished."]
    assert (here.workspace / "one.txt").exists()
    assert (here.home / "diary.txt").exists()
    first, second = sorted(here.store.runs(), key=lambda found: found.started)
    assert (first.task, first.status) == ("too long", "aborted")
    assert (second.task, second.status) == ("work", "done")


def test_openai_agents_streamed_with_a_handoff(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    over = ScriptedTurn(calls=(ScriptedCall("transfer_to_worker"),))
    script = turns(over, run("echo one > one.txt"), run("rm -rf ~/"), FINISH)
    here = Program(tmp_path, named("openai-agents", record_property), script)
    status, out, err = here.end(here.begin([here.framework.python(), str(PROGRAMS / "openai_handoff.py"), "work"]))
    here.close()
    assert status == 0, err
    assert out.splitlines() == ["first to worker", "Finished."]
    assert (here.workspace / "one.txt").exists()
    assert (here.home / "diary.txt").exists()
    calls = [record["step"] for record in here.records("step") if record["step"].get("kind") == "tool_call"]
    assert [call.get("agent") for call in calls] == ["worker", "worker"]
    assert here.store.runs()[0].status == "done"
    told = sum(max(1, len(request.raw) // 4) + 25 for request in here.model.asked)
    assert here.store.runs()[0].tokens == told


def test_the_claude_agent_sdk_is_supervised_in_a_project_that_switches_hooks_off_and_calls_that_do_not_fit_are_seen(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    unread = write("kept.txt", "changed")
    here = Program(tmp_path, named("claude-agent-sdk", record_property), turns(run("rm -rf ~/"), unread, FINISH))
    (here.workspace / "kept.txt").write_text("mine")
    (here.workspace / ".claude").mkdir()
    (here.workspace / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    status, _, err = here.end(here.begin([here.framework.python(), str(PROGRAMS / "claude_project.py"), "work"]))
    here.close()
    assert status == 0, err
    assert (here.home / "diary.txt").exists()
    assert (here.workspace / "kept.txt").read_text() == "mine"
    (failed,) = (r["step"] for r in here.records("step") if r["step"].get("kind") == "tool_result")
    assert (failed["tool"]["name"], failed["error"]) == ("Write", True), "it was to be read first"
