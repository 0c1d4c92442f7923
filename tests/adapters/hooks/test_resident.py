"""`interlock serve`: a run for each session, over one socket."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.hooks.resident_supervisor import ResidentSupervisor
from interlock.config import Config
from interlock.core import Hold
from interlock.journal import JournalReader, Store
from interlock.link import gates_folder, is_served, listen, read_gate, serve_socket
from interlock.runtime import Supervisor

from ...waiting import eventually

AGENTS, CALLS = 20, 5


class House:
    """A resident supervisor and what its agents' hooks say to it."""

    def __init__(self, root: Path) -> None:
        self.work = root / "work"
        self.work.mkdir()
        self.store = Store(root / "runs")
        self.config = root / "interlock.yaml"
        self.config.write_text(
            json.dumps({"runtime": {"step_timeout_ms": 30_000}, "store": {"dir": str(self.store.root)}})
        )
        self.resident = self.serve()

    def serve(self) -> ResidentSupervisor:
        resident = ResidentSupervisor(listen(serve_socket()), self.store, self.config)
        resident.start()
        return resident

    def hook(self, event: str, session: str = "s1", client: str = "claude-code", **more: Any) -> Any:
        payload = {"session_id": session, "cwd": str(self.work), "hook_event_name": event, **more}
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(serve_socket()))
            sock.sendall(
                json.dumps({"hook": {"client": client, "payload": payload}}, separators=(",", ":")).encode() + b"\n"
            )
            with sock.makefile("rb") as file:
                return next(json.loads(line) for line in file if line.strip())

    def call(self, call_id: str, command: str, session: str = "s1") -> Any:
        named = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call_id}
        return self.hook("PreToolUse", session, **named)

    def result(self, call_id: str, command: str, session: str = "s1") -> Any:
        named = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call_id}
        return self.hook("PostToolUse", session, **named, tool_response="ok")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    # Short: a socket's path has at most 108 bytes.
    with tempfile.TemporaryDirectory(prefix="il-") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
        house = House(tmp_path)
        yield house
        house.resident.close()


def test_a_session_becomes_a_run_with_its_prompt_as_the_task(house: House) -> None:
    house.hook("SessionStart", source="startup")
    assert house.store.runs() == []
    house.hook("UserPromptSubmit", prompt="fix the parser")
    house.call("c1", "ls")
    (run,) = house.store.runs()
    assert (run.task, run.adapter, run.status) == ("fix the parser", "claude-code", "running")
    house.hook("SessionEnd", reason="other")
    eventually(lambda: house.store.runs()[0].status == "done")
    assert list(gates_folder().iterdir()) == []


def test_each_session_is_judged_by_itself(house: House) -> None:
    assert house.call("c1", "rm -rf ~/precious", "a")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.call("c2", "ls", "b") == {}
    assert len(house.store.runs()) == 2


def test_a_session_has_a_gate_that_its_hooks_find_without_us(house: House) -> None:
    house.call("c1", "ls")
    (session,) = house.resident.sessions
    gate = read_gate(gates_folder() / "s1")
    assert gate is None or not gate.shut
    session.supervisor.executor.carry_out(Hold("wait"))
    eventually(lambda: (found := read_gate(gates_folder() / "s1")) is not None and found.shut)


def test_the_next_supervisor_takes_the_runs_up(house: House) -> None:
    house.call("c1", "ls")
    house.result("c1", "ls")
    house.resident.close()
    assert house.store.runs()[0].status == "running"
    house.resident = house.serve()
    house.call("c2", "ls")
    (run,) = house.store.runs()
    folder = house.resident.sessions[0].folder
    house.resident.sessions[0].supervisor.run.journal.flush()
    with JournalReader.open(folder) as reader:
        steps = [json.loads(bytes(record.body))["step"]["index"] for record in reader.read(kinds=frozenset(("step",)))]
    assert steps == [0, 1, 2]
    assert run.run_id == folder.run_id


def test_a_session_that_was_stopped_is_told_so_until_it_is_gone(house: House) -> None:
    house.call("c1", "ls")
    (session,) = house.resident.sessions
    session.supervisor.run.end("aborted", "EMERGENCY_STOP", "enough")
    answer = house.call("c2", "ls")
    assert answer["continue"] is False
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert len(house.store.runs()) == 1


def test_a_session_cannot_be_called_after_a_file_elsewhere(house: House) -> None:
    assert "error" in house.call("c1", "ls", "../../escape")


def test_lines_that_say_nothing_are_refused(house: House) -> None:
    assert "error" in house.hook("PreToolUse", client="emacs")
    assert "error" in house.hook("PreToolUse", session="")


def test_a_client_hears_that_its_run_is_being_opened(house: House) -> None:
    opening = threading.Lock()
    house.resident._opening["claude-code", "slow"] = opening
    payload = {"session_id": "slow", "cwd": str(house.work), "hook_event_name": "PreToolUse", "tool_name": "Bash",
               "tool_input": {"command": "ls"}, "tool_use_id": "c1"}  # fmt: skip
    with opening, socket.socket(socket.AF_UNIX) as sock:
        sock.connect(str(serve_socket()))
        sock.sendall(json.dumps({"hook": {"client": "claude-code", "payload": payload}}).encode() + b"\n")
        with sock.makefile("rb") as file:
            assert file.readline() == b"\n"
            opening.release()
            assert next(json.loads(line) for line in file if line.strip()) == {}
            opening.acquire()


def test_it_is_known_whether_somebody_serves(house: House) -> None:
    assert is_served(serve_socket())
    assert not is_served(serve_socket().with_name("nobody"))


def test_twenty_agents_at_once_lose_no_hook(house: House) -> None:
    problems: list[object] = []

    def agent(number: int) -> None:
        try:
            for call in range(CALLS):
                name = f"c{number}-{call}"
                assert house.call(name, f"echo {call}", f"s{number}") == {}
                house.result(name, f"echo {call}", f"s{number}")
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=agent, args=(number,)) for number in range(AGENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert problems == []
    assert len(house.resident.sessions) == AGENTS
    for session in house.resident.sessions:
        session.supervisor.run.journal.flush()
    assert sorted(run.steps for run in house.store.runs()) == [2 * CALLS] * AGENTS


def test_who_serves_for_long_tidies_the_store(house: House) -> None:
    house.resident.close()
    with Supervisor.open(name="old", store=house.store, config=Config()):
        pass
    house.config.write_text(json.dumps({"store": {"dir": str(house.store.root), "max_bytes": 1}}))
    house.resident = house.serve()
    eventually(lambda: not house.store.runs())


AGENT = """
import pathlib, subprocess, sys
from interlock.control import new_request
from interlock.journal import RunFolder, Store
from interlock.link import ask_owner
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
root = pathlib.Path(sys.argv[2])
(run,) = Store(root).runs()
for command in ("pause", "resume"):
    print(ask_owner(RunFolder(root / run.run_id), new_request(command, command, run.run_id), timeout=150))
"""


def test_the_agent_may_pause_its_own_session_and_not_resume_it(house: House) -> None:
    payload = {"session_id": "s9", "cwd": str(house.work), "hook_event_name": "PreToolUse", "tool_name": "Bash",
               "tool_input": {"command": "ls"}, "tool_use_id": "c1"}  # fmt: skip
    line = json.dumps({"hook": {"client": "claude-code", "payload": payload}}, separators=(",", ":")) + "\n"
    hook = (
        "import socket\n"
        f"sock = socket.socket(socket.AF_UNIX); sock.connect({str(serve_socket())!r})\n"
        f"sock.sendall({line.encode()!r})\n"
        "next(answer for answer in sock.makefile() if answer.strip())\n"
    )
    words = [sys.executable, "-c", AGENT, hook, str(house.store.root)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    paused, resumed, *_ = [*done.stdout.splitlines(), "", ""]
    assert "success" in paused, (done.stdout, done.stderr)
    assert "success" not in resumed and "only a person may request it" in done.stdout + done.stderr
    (session,) = house.resident.sessions
    eventually(lambda: session.guardian.noticed)
    assert "steer its own run (resume" in session.guardian.noticed[0]
