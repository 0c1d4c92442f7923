"""Waiting at the gate: holds, delays and approvals, in threads and event loops, ended early or given up."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from interlock.adapters.command import ProcessAdapter
from interlock.adapters.steps.server import StepServer
from interlock.config import Config
from interlock.control import Command, encode, new_request
from interlock.core import PROCEED, Decision, Hold, Limits, Step
from interlock.journal import Store
from interlock.link import listen
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals
from interlock.runtime.pause_gate import POLL_S, Gate

from ..waiting import until

LONG_S = 150.0
"""Longer than a loaded machine needs for what is due at once, and shorter than the delays in here."""


@pytest.fixture
def throttled(tmp_path: Path) -> Iterator[Supervisor]:
    """A run whose next call has to wait for nearly a minute."""
    config = Config(limits=Limits(max_calls_per_minute=1))
    with Supervisor.open(task="t", store=Store(tmp_path), config=config) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "ls"}))
        supervisor.after(supervisor.result("a"))
        yield supervisor


@pytest.fixture
def attended(tmp_path: Path) -> Iterator[Supervisor]:
    """A run whose writes wait for a person."""
    options = {"approvals": Approvals(needed=True), "adapter": ProcessAdapter()}
    with Supervisor.open(task="t", store=Store(tmp_path), config=Config(), **options) as supervisor:  # type: ignore[arg-type]
        yield supervisor


def order(supervisor: Supervisor, command: Command) -> None:
    """A person's command."""
    request = new_request(str(uuid.uuid4()), command, supervisor.run.spec.run_id)
    supervisor.run.steering.endpoint.receive(encode(request), None)  # type: ignore[union-attr]


def cancel(supervisor: Supervisor) -> None:
    order(supervisor, "cancel")


def is_delayed(supervisor: Supervisor) -> bool:
    """The call that waits out its delay has its answer, and is inside the gate."""
    with supervisor._lock:
        return supervisor.run.gate.inside == 1


def test_a_cancel_ends_a_delay_at_once(throttled: Supervisor) -> None:
    answers: list[Decision] = []
    step = throttled.call("bash", {"command": "pwd"})
    waiting = threading.Thread(target=lambda: answers.append(throttled.ask(step)))
    waiting.start()
    until("it is delayed", lambda: is_delayed(throttled))
    cancel(throttled)
    waiting.join(LONG_S)
    assert [answer.action for answer in answers] == ["stop"]


def test_a_cancel_ends_a_delay_in_an_event_loop_at_once(throttled: Supervisor) -> None:
    async def work() -> Decision:
        waiting = asyncio.create_task(throttled.ask_async(throttled.call("bash", {"command": "pwd"})))
        await asyncio.to_thread(until, "it is delayed", lambda: is_delayed(throttled))
        await asyncio.to_thread(cancel, throttled)
        return await asyncio.wait_for(waiting, LONG_S)

    assert asyncio.run(work()).action == "stop"


def test_a_call_that_is_paused_during_its_delay_is_not_under_way(throttled: Supervisor) -> None:
    step = throttled.call("bash", {"command": "pwd"})
    waiting = threading.Thread(target=throttled.ask, args=(step,), daemon=True)
    waiting.start()
    until("it is delayed", lambda: is_delayed(throttled))
    throttled.executor.carry_out(Hold("look at this"))
    until("it is paused", lambda: throttled.run.summary.status == "paused")
    assert throttled.run.gate.inside == 0
    cancel(throttled)
    waiting.join(LONG_S)


def test_a_delay_lasts_though_something_else_at_the_gate_changes() -> None:
    gate = Gate()
    asked: list[int] = []

    def ask() -> Decision:
        asked.append(1)
        return Decision(delay_s=0.5)

    begin = time.monotonic()
    waiting = threading.Thread(target=gate.admit, args=(ask,))
    waiting.start()
    until("it has asked", lambda: bool(asked))
    gate.notify()
    waiting.join(LONG_S)
    assert time.monotonic() - begin >= 0.5
    assert len(asked) == 1


def test_file_work_of_a_question_does_not_block_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    beaten = threading.Event()
    in_time: list[bool] = []

    def slow_checkpoint(**_: object) -> None:
        in_time.append(beaten.wait(LONG_S))

    async def beat() -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        beaten.set()

    async def work() -> Decision:
        async with Supervisor.open(task="t", store=Store(tmp_path), config=Config()) as supervisor:
            monkeypatch.setattr(supervisor._checkpointing, "make", slow_checkpoint)
            decision, _ = await asyncio.gather(
                supervisor.ask_async(supervisor.call("bash", {"command": "touch a"})), beat()
            )
            return decision

    assert asyncio.run(work()).action == "proceed"
    assert in_time == [True]


def test_a_question_that_is_cancelled_before_its_answer_leaves_the_gate() -> None:
    gate, asking, go_on = Gate(), threading.Event(), threading.Event()
    step = Step(run_id="r", index=0, role="assistant", kind="tool_call")

    def ask() -> Decision:
        asking.set()
        go_on.wait(LONG_S)
        return gate.enter(step)

    async def work() -> None:
        waiting = asyncio.create_task(gate.admit_async(ask, abandon=lambda: gate.leave(step)))
        await asyncio.to_thread(asking.wait, LONG_S)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        go_on.set()

    asyncio.run(work())
    assert gate.inside == 0


def test_a_gate_that_is_shut_opens_for_a_loop_and_a_thread_alike() -> None:
    gate = Gate()
    gate.set_status("paused", 1)
    thread = threading.Thread(target=gate.wait_open)
    thread.start()

    async def work() -> None:
        waiting = asyncio.create_task(gate.wait_open_async())
        await asyncio.sleep(0.05)
        assert thread.is_alive() and not waiting.done()
        gate.set_status("running", 2)
        await asyncio.wait_for(waiting, LONG_S)

    asyncio.run(work())
    thread.join(LONG_S)
    assert not thread.is_alive() and gate.admit(lambda: PROCEED) is PROCEED


def waiting_steps(supervisor: Supervisor) -> list[int]:
    """What the control protocol says waits for a person."""
    return [one.step for one in supervisor.run.steering.endpoint.state.waiting]  # type: ignore[union-attr]


def test_an_approval_whose_client_hangs_up_is_released(
    attended: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert POLL_S <= 1.0, "a client that is gone is noticed well within two seconds"
    server = StepServer(listen(tmp_path / "steps.sock"), attended)
    server.start()
    line = {"before": {"tool": {"name": "bash", "arguments": {"command": "touch a"}, "call_id": "c1"}}}
    for _ in range(2):  # Asked about again, it waits again.
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(tmp_path / "steps.sock"))
            client.sendall(msgspec.json.encode(line) + b"\n")
            until("it waits", lambda: waiting_steps(attended) == [0])
            assert "touch a" in (attended.run.summary.waiting or "")
        until("it is released", lambda: waiting_steps(attended) == [])
        assert attended.run.summary.waiting is None and attended.approvals.waiting == {}
    server.close()


def test_an_approval_whose_task_is_cancelled_is_released(attended: Supervisor) -> None:
    async def work() -> None:
        waiting = asyncio.create_task(attended.ask_async(attended.call("bash", {"command": "touch a"})))
        await asyncio.to_thread(until, "it waits", lambda: waiting_steps(attended) == [0])
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(work())
    assert waiting_steps(attended) == [] and attended.run.summary.waiting is None


def test_another_approval_goes_on_waiting_when_one_is_given_up(attended: Supervisor) -> None:
    first, second = (attended.call("bash", {"command": f"touch {name}"}) for name in "ab")
    assert attended.before(first).action == attended.before(second).action == "hold"
    attended.abandon(first)
    assert waiting_steps(attended) == [second.index] and "touch b" in (attended.run.summary.waiting or "")
    attended.answer(None, "approved")
    assert attended.before(second).action == "proceed"


def test_the_agents_own_program_takes_back_a_hold_but_not_a_persons_pause(attended: Supervisor) -> None:
    attended.executor.carry_out(Hold("look at this"))
    assert attended.resume() and attended.run.summary.status == "running"
    order(attended, "pause")
    assert not attended.resume() and attended.run.summary.status == "paused"
    order(attended, "resume")
    assert attended.run.summary.status == "running"
