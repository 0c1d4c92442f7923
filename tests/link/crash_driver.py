"""kill -9 of owner, controller and both, at random points: run as `python -m tests.link.crash_driver DIR KILLS SEED`.

Everything is forked from this small process. An agent asks the owner before each step, or reads the gate file when no
owner answers. What everybody saw is written to files and judged when it is over.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from interlock.control import Actuated, ControlState, Desired, LogEntry, new_request, new_state
from interlock.core import Applied, RunSpec
from interlock.journal import Journal, RunFolder, Store
from interlock.link import (
    ControlServer,
    Endpoint,
    FileGate,
    JournalLog,
    LineHandler,
    LineServer,
    Peer,
    ask_owner,
    listen,
    noted_socket,
    read_gate,
)

from .crash_judge import judge
from .gate_actuator import Actuator

COMMANDS = ("pause", "resume", "pause", "resume", "escalate")
MISTAKE = sys.argv[4] if len(sys.argv) > 4 else ""
"""A mistake made on purpose, that the judge must see."""


class StepHandler(LineHandler):
    """Answers the agent: may this step start?"""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def on_line(self, peer: Peer, line: bytes) -> None:
        key = line.decode()
        allowed = self._endpoint.enter(key)
        peer.send(b"yes" if allowed else b"no")
        if allowed:
            self._endpoint.leave(key)


class SplitLog(JournalLog):
    """A mistake: every entry in a transaction of its own. Some of the kills hit right between two of them."""

    def append_atomic(self, entries: Sequence[LogEntry], state: ControlState, *, durable: bool) -> int:
        for entry in entries:
            last = super().append_atomic([entry], state, durable=durable)
            if entry.kind == "result" and random.random() < 0.3:
                os.kill(os.getpid(), signal.SIGKILL)
        return last


class LateActuator(Actuator):
    """Carries out half of what commands need a moment later, in a thread, as a run does that has processes."""

    endpoint: Endpoint

    def set_desired(self, desired: Desired) -> Applied | None:
        applied = super().set_desired(desired)
        if self.endpoint.state.asked != desired or random.random() < 0.5:
            return applied
        answer = Actuated(desired.revision, applied.ok, applied.how)
        threading.Timer(random.uniform(0, 0.05), self.endpoint.post, [answer]).start()
        return None


def be_owner(folder: RunFolder) -> None:
    journal = Journal.open(folder)
    log = SplitLog(journal) if MISTAKE == "split-transactions" else JournalLog(journal)
    gate = FileGate(folder.path / "elsewhere" if MISTAKE == "no-gate-file" else folder.gate)
    actuator = LateActuator(gate)
    actuator.endpoint = endpoint = Endpoint(new_state(folder.run_id, model="haiku"), log, actuator)
    endpoint.start()
    ControlServer(endpoint, folder.path).open()
    LineServer(listen(step_socket(folder)), StepHandler(endpoint)).start()
    signal.pause()


def be_agent(folder: RunFolder, out: Path) -> None:
    """Steps as fast as the gate lets them: [began to ask, was answered, allowed, by whom]."""
    sock: socket.socket | None = None
    number = 0
    with out.open("a", buffering=1) as file:
        while True:
            number += 1
            asked = time.time()
            by = "owner"
            try:
                if sock is None:
                    sock = socket.socket(socket.AF_UNIX)
                    sock.connect(str(step_socket(folder)))
                sock.sendall(b"s%d\n" % number)
                answer = sock.recv(16)
                if not answer:
                    raise ConnectionError
                allowed = answer == b"yes\n"
            except OSError:
                sock, by = None, "file"
                gate = read_gate(folder.gate)
                allowed = gate is None or not gate.shut
            if allowed:
                file.write(json.dumps([asked, time.time(), by]) + "\n")
            time.sleep(0.002)


def be_controller(folder: RunFolder, out: Path, seed: int, commands: int = 10_000) -> None:
    """One command after the other; each one's answer is written down when it is known."""
    dice = random.Random(seed)
    with out.open("a", buffering=1) as file:
        for number in range(commands):
            command = dice.choice(COMMANDS)
            payload: dict[str, object] = {"model": dice.choice(("sonnet", "opus"))} if command == "escalate" else {}
            request = new_request(f"{seed}-{number}", command, folder.run_id, payload)  # type: ignore[arg-type]
            answer = ask_owner(folder, request, timeout=150)
            line = [request.request_id, command, answer.outcome, answer.code, time.time()]
            file.write(json.dumps(line) + "\n")


def step_socket(folder: RunFolder) -> Path:
    return Path(os.environ["XDG_RUNTIME_DIR"]) / "steps.sock"


def fork(work: Callable[[], None]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        work()
    finally:
        os._exit(1)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def drive(root: Path, kills: int, seed: int) -> dict[str, object]:
    dice = random.Random(seed)
    folder = Store(root / "runs").create(RunSpec(run_id="crash"))
    told, steps = root / "told", root / "steps.log"
    agent = fork(lambda: be_agent(folder, steps))
    owner = fork(lambda: be_owner(folder))
    generation = 0
    controller = fork(lambda g=generation: be_controller(folder, told, g))  # type: ignore[misc]
    for _ in range(kills):
        if dice.random() < 0.75:
            # Mostly when there is something to lose; sometimes while it comes up.
            wait_for_owner(folder)
        if dice.random() < 0.5:
            # On a busy machine too, some commands are answered between two kills.
            wait_for_answer(told)
        time.sleep(dice.uniform(0, 0.12))
        victims = dice.choice(("owner", "owner", "controller", "both"))
        if victims != "controller":
            kill(owner)
        if victims != "owner":
            kill(controller)
            generation += 1
        if victims != "controller":
            time.sleep(dice.choice((0.0, 0.0, 0.01, 0.05)))
            owner = fork(lambda: be_owner(folder))
        if victims != "owner":
            controller = fork(lambda g=generation: be_controller(folder, told, g))  # type: ignore[misc]
    time.sleep(0.3)
    kill(controller)
    kill(agent)
    finish(folder, root / "last", generation + 1)
    kill(owner)
    return {"kills": kills, **judge(folder, told, steps)}


def wait_for_owner(folder: RunFolder) -> None:
    for _ in range(2_000):
        with socket.socket(socket.AF_UNIX) as sock, contextlib.suppress(OSError):
            sock.connect(str(noted_socket(folder.path)))
            return
        time.sleep(0.005)


def wait_for_answer(told: Path) -> None:
    before = told.stat().st_size if told.exists() else 0
    for _ in range(1_000):
        if told.exists() and told.stat().st_size > before:
            return
        time.sleep(0.005)


def finish(folder: RunFolder, out: Path, seed: int) -> None:
    """One last command goes through, so everything before it has been recovered."""
    os.waitpid(fork(lambda: be_controller(folder, out, seed, commands=1)), 0)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    os.environ["XDG_RUNTIME_DIR"] = str(place)
    print(json.dumps(drive(place, int(sys.argv[2]), int(sys.argv[3]))))
