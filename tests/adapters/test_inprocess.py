"""A session of an agent in this process: asks, waits, tells, collects, goes back, stops. Without any framework."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.adapters.inprocess import HistoryEdits, RunStopped, Session, Supervision, read_outcome
from interlock.adapters.inprocess.adapter import LANGCHAIN
from interlock.config import Config
from interlock.core import Hold, Inject, InvalidState, Limits, Message, Restore, Stop, SwitchModel, Usage
from interlock.journal import Store
from interlock.process.proc import read_process
from interlock.process.process_family import MARKER

DESTRUCTIVE = {"command": "rm -rf / --no-preserve-root"}
LOOK = {"command": "ls"}


@pytest.fixture
def supervision(tmp_path: Path) -> Supervision:
    (tmp_path / "work").mkdir()
    return Supervision(
        "test",
        LANGCHAIN,
        {
            "workspace": tmp_path / "work",
            "store": Store(tmp_path / "runs"),
            "checkpoint_store": tmp_path / "kept",
            "config": Config(),
        },
    )


@pytest.fixture
def session(supervision: Supervision) -> Iterator[Session]:
    opened = supervision.open("list the files", model="m")
    yield opened
    opened.close()


def call(session: Session, arguments: dict[str, str] = LOOK, answer: str = "a.txt") -> str:
    asked = session.ask("bash", arguments)
    return session.run(asked, lambda given: answer) if asked.runs else asked.words


def test_what_was_asked_is_the_task_and_the_first_step(session: Session) -> None:
    spec = session.supervisor.run.spec
    assert (spec.task, spec.adapter, spec.model) == ("list the files", "test", "m")
    assert session.supervisor.run.summary.steps == 1


def test_a_task_that_was_given_goes_before_the_prompt(tmp_path: Path) -> None:
    given_task = Supervision("test", LANGCHAIN, {"task": "mine", "store": Store(tmp_path), "config": Config()})
    opened = given_task.open("hello")
    assert opened.supervisor.run.spec.task == "mine"
    opened.close()


def test_a_call_that_may_runs_and_its_result_is_told(session: Session) -> None:
    assert call(session) == "a.txt"
    assert session.supervisor.run.summary.steps == 3


def test_a_destructive_call_is_refused_in_words_for_the_model(session: Session) -> None:
    asked = session.ask("bash", DESTRUCTIVE)
    assert not asked.runs
    assert not asked.stopped
    assert asked.words.startswith("Refused by Interlock: ")


def test_a_call_that_may_be_made_safe_runs_with_other_arguments(session: Session) -> None:
    asked = session.ask("bash", {"command": "chmod 777 a.txt", "timeout": 3})
    assert asked.decision.action == "rewrite", asked
    assert asked.arguments == {"command": "chmod 755 a.txt", "timeout": 3}


def test_a_call_with_a_secret_in_it_is_never_written_anew(session: Session) -> None:
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    asked = session.ask("bash", {"command": f"export GITHUB_TOKEN={secret}; chmod 777 a.txt"})
    assert asked.decision.action == "deny", "what we have of it is redacted"


def test_a_tool_that_raises_is_told_as_an_error_and_still_raises(session: Session) -> None:
    def fail(arguments: object) -> str:
        raise OSError("disk is gone")

    for _ in range(3):
        with pytest.raises(OSError, match="disk is gone"):
            session.run(session.ask("bash", LOOK), fail)
    assert session.turn(1).messages, "the same error three times is an issue"


def test_words_for_the_model_wait_for_the_next_turn_and_are_given_once(session: Session) -> None:
    session.supervisor.executor.carry_out(Inject(Message("try something else")))
    call(session)
    assert session.turn(3).text == "try something else"
    assert session.turn(3).messages == ()


def test_tokens_are_counted(session: Session) -> None:
    session.say("thinking", usage=Usage(100, 10), model="gpt-5")
    session.say("", usage=Usage(5, 1))
    assert session.supervisor.pipeline.ledger.spend.tokens == 116


def test_a_paused_run_holds_calls_and_turns_until_it_is_resumed(session: Session) -> None:
    session.supervisor.executor.carry_out(Hold("look at this"))
    done: list[str] = []
    waiting = [
        threading.Thread(target=lambda: done.append(call(session))),
        threading.Thread(target=lambda: done.append(str(session.turn(1).stopped))),
    ]
    for thread in waiting:
        thread.start()
    assert done == []
    assert session.supervisor.resume()
    for thread in waiting:
        thread.join(150)
    assert sorted(done) == ["None", "a.txt"]


def test_a_paused_run_holds_an_event_loop_up_for_nobody_else(session: Session) -> None:
    async def work() -> list[str]:
        session.supervisor.executor.carry_out(Hold("look at this"))
        order: list[str] = []

        async def held() -> None:
            asked = await session.ask_async("bash", LOOK)
            order.append(await session.run_async(asked, lambda given: asyncio.sleep(0, "ran")))

        async def turn() -> None:
            assert (await session.turn_async(1)).stopped is None

        tasks = [asyncio.create_task(held()), asyncio.create_task(turn())]
        await asyncio.sleep(0)
        order.append("others go on")
        await asyncio.to_thread(session.supervisor.resume)
        await asyncio.gather(*tasks)
        return order

    assert asyncio.run(work()) == ["others go on", "ran"]


def test_a_call_that_is_given_up_while_it_waits_leaves_the_gate(session: Session) -> None:
    async def work() -> None:
        session.supervisor.executor.carry_out(Hold("look at this"))
        task = asyncio.create_task(session.ask_async("bash", LOOK))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(work())
    session.supervisor.resume()
    assert session.supervisor.run.gate.inside == 0
    assert call(session) == "a.txt"


def test_a_stopped_run_refuses_calls_and_ends_the_next_turn(session: Session) -> None:
    session.supervisor.executor.carry_out(Stop("enough"))
    session.supervisor.run.end("aborted", "EMERGENCY_STOP", "enough")
    asked = session.ask("bash", LOOK)
    assert asked.stopped
    assert session.turn(1).stopped == "enough"
    with pytest.raises(RunStopped, match="enough"):
        session.check()


def test_a_limit_that_is_used_up_stops_the_agent(tmp_path: Path) -> None:
    options = {"store": Store(tmp_path), "config": Config(limits=Limits(max_tokens=10))}
    session = Supervision("test", LANGCHAIN, options).open("hello")  # type: ignore[arg-type]
    session.say("a lot", usage=Usage(100, 100))
    assert "max_tokens" in (session.turn(1).stopped or "")
    session.close()


def test_a_stop_ends_the_processes_that_a_tool_left_behind_and_nobody_elses(session: Session) -> None:
    mine = subprocess.Popen(["sleep", "600"])
    started: list[subprocess.Popen[bytes]] = []

    def leave(arguments: object) -> str:
        started.append(subprocess.Popen(["sleep", "600"], start_new_session=True))
        return "started"

    session.run(session.ask("bash", LOOK), leave)
    assert MARKER not in os.environ or session.children.marker not in os.environ[MARKER]
    assert session.children.pids() == (started[0].pid,)
    session.supervisor.executor.carry_out(Stop("enough"))
    assert started[0].wait(60) != 0
    assert mine.poll() is None
    mine.kill()
    mine.wait()


def test_a_tools_processes_are_held_to_the_limits_of_the_run(tmp_path: Path) -> None:
    options = {"store": Store(tmp_path), "config": Config(limits=Limits(max_memory_mb=200))}
    session = Supervision("test", LANGCHAIN, options).open("hello")  # type: ignore[arg-type]
    greedy = "held = [bytearray(2**20) for _ in range(400)]; input()"

    def work(arguments: object) -> int:
        with subprocess.Popen([sys.executable, "-c", greedy], stdin=subprocess.PIPE) as process:
            return process.wait(150)

    assert session.run(session.ask("python", {"code": greedy}), work) == -signal.SIGKILL
    session.close()


def test_files_and_conversation_go_back_together(session: Session, tmp_path: Path) -> None:
    file = tmp_path / "work" / "a.txt"
    file.write_text("one")
    session.turn(2)
    asked = session.ask("bash", {"command": "echo two > a.txt"})
    session.run(asked, lambda given: str(file.write_text("two")))
    session.turn(4)
    before = next(
        made for made in session.supervisor.executor.workspace.checkpoints.list() if made.step == asked.step.index
    )  # type: ignore[union-attr]
    applied = session.supervisor.restore(Restore(before.id))
    assert applied.ok, applied
    assert file.read_text() == "one"
    assert session.turn(4).keep == 2
    assert session.turn(3).keep is None


def test_another_model_is_asked_for_from_the_next_turn_on(session: Session) -> None:
    assert session.turn(1).model is None
    assert session.adapter.apply(SwitchModel("stronger")).ok
    assert session.turn(1).model == "stronger"


def test_an_agent_that_ended_leaves_a_run_that_is_done_and_one_that_failed_says_why(supervision: Supervision) -> None:
    well = supervision.open("a")
    well.close()
    ill = supervision.open("b")
    ill.close(ValueError("no such model"))
    ill.close()
    assert (well.supervisor.run.summary.status, ill.supervisor.run.summary.status) == ("done", "aborted")
    assert "no such model" in ill.supervisor.run.why_ended


def test_an_agent_that_died_without_a_word_makes_room_for_the_next_run(supervision: Supervision) -> None:
    dead = supervision.open("a")
    call(dead)
    alive = supervision.open("b")
    assert dead.closed
    assert "without reporting it" in dead.supervisor.run.why_ended
    with alive.waiting(), pytest.raises(InvalidState, match="already working"):
        supervision.open("c")
    alive.close()


def test_a_program_that_ends_ends_its_run(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from interlock.adapters.inprocess import Supervision\n"
        "from interlock.adapters.inprocess.adapter import LANGCHAIN\n"
        "from interlock.journal import Store\n"
        "Supervision('test', LANGCHAIN, {'store': Store(__import__('pathlib').Path(sys.argv[1]))}).open('a')\n"
        "if len(sys.argv) > 2: raise ValueError('no such model')\n"
    )
    for name, more, status in (("well", (), "done"), ("ill", ("fail",), "aborted")):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        words = [sys.executable, "-c", script, str(tmp_path / name), *more]
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        assert "impaired" not in done.stderr
        (found,) = Store(tmp_path / name).runs()
        assert found.status == status


def test_a_frameworks_own_control_flow_is_no_error_of_a_tool(tmp_path: Path) -> None:
    options = {"store": Store(tmp_path), "config": Config()}
    session = Supervision("test", LANGCHAIN, options, flow=(StopIteration,)).open("a")  # type: ignore[arg-type]

    def submit(arguments: object) -> str:
        raise StopIteration

    for _ in range(5):
        with pytest.raises(StopIteration):
            session.run(session.ask("submit", {"at": str(_)}), submit)
    assert session.supervisor.pipeline.ledger.success_rate == 1
    session.close()


@pytest.mark.parametrize(
    ("result", "content", "error", "exit_code"),
    [
        ("text", "text", None, None),
        ({"output": "no", "returncode": 2}, "no", True, 2),
        ({"stdout": "yes", "exit_code": 0}, "yes", False, 0),
        ({"rows": 3}, "{'rows': 3}", None, None),
        (None, "None", None, None),
    ],
)
def test_results_are_read_as_text_with_their_exit_status(
    result: object, content: str, error: bool | None, exit_code: int | None
) -> None:
    told = read_outcome(result)
    assert (told.content, told.error, told.exit_code) == (content, error, exit_code)


def test_what_was_added_stays_at_its_place_while_the_history_grows() -> None:
    edits: HistoryEdits[str] = HistoryEdits()
    edits.add(2, "hint")
    assert edits.apply(["task", "call"]) == ["task", "call", "hint"]
    assert edits.apply(["task", "call", "answer"]) == ["task", "call", "hint", "answer"]


def test_what_was_cut_stays_away_and_what_comes_after_is_shown() -> None:
    edits: HistoryEdits[str] = HistoryEdits()
    edits.add(3, "hint")
    edits.cut(1, 4)
    edits.add(4, "go on differently")
    assert edits.apply(["task", "a", "b", "c"]) == ["task", "go on differently"]
    assert edits.apply(["task", "a", "b", "c", "d"]) == ["task", "go on differently", "d"]


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=6), st.integers(0, 8))
def test_a_grown_history_shows_what_it_showed_before_and_more(made: list[tuple[bool, int]], more: int) -> None:
    edits: HistoryEdits[int] = HistoryEdits()
    history = list(range(8))
    for cut, at in made:
        if cut:
            edits.cut(at, len(history))
        else:
            edits.add(at, -at)
    shown = edits.apply(history)
    assert edits.apply([*history, *range(8, 8 + more)])[: len(shown)] == shown


def test_processes_of_nobody_are_marked_outside_of_calls(session: Session) -> None:
    process = subprocess.Popen(["sleep", "600"])
    assert session.children.pids() == ()
    assert read_process(process.pid) is not None
    process.kill()
    process.wait()
