"""The line protocol of INTERLOCK_SOCKET: what can be said, what is answered, and what happens to lines told twice."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.adapters.command import ProcessAdapter, Steps
from interlock.adapters.steps.server import StepServer
from interlock.adapters.steps.step_protocol import read_line
from interlock.config import Config
from interlock.core import BadInput, Hold
from interlock.journal import Store
from interlock.link import listen
from interlock.runtime import Supervisor
from tests.gates import write_gate


class SupervisedRun:
    """A supervisor with its step socket."""

    def __init__(self, root: Path) -> None:
        self.path, self.gate = root / "steps.sock", root / "gate"
        self.supervisor = Supervisor.open(store=Store(root / "runs"), config=Config(), adapter=ProcessAdapter())
        self.server = StepServer(listen(self.path), self.supervisor)
        self.server.start()

    def client(self, patience_s: float = 10.0) -> Steps:
        return Steps(str(self.path), str(self.gate), patience_s)


@pytest.fixture
def supervised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SupervisedRun]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    made = SupervisedRun(tmp_path)
    yield made
    made.supervisor.run.end("done", "COMPLETE")
    made.server.close()
    made.supervisor.close()


def test_steps_are_numbered_judged_and_answered(supervised: SupervisedRun) -> None:
    with supervised.client() as steps:
        assert steps.before("bash", {"command": "ls"}) == {"action": "proceed", "step": 0}
        assert steps.after("a b", exit_code=0) == {"action": "proceed", "step": 1}
        assert steps.say("I look around")["step"] == 2
        refused = steps.before("bash", {"command": "rm -rf /"})
    assert refused["action"] == "deny" and "Instead" in refused["reason"]
    assert supervised.server.spoken


def test_printed_calls_that_share_an_id_all_count(supervised: SupervisedRun) -> None:
    supervised.server.on_printed = lambda: None
    for command in ("ls a", "ls a", "ls b", "ls c"):
        tool = {"name": "bash", "arguments": {"command": command}, "call_id": "1"}
        line = json.dumps({"printed": {"before": {"tool": tool}}}, separators=(",", ":"))
        assert supervised.server.answer(line.encode() + b"\n", Present()) == b"{}"
    assert supervised.supervisor.run.summary.steps == 3


class Present:
    """A client that is still there."""

    def waits(self) -> bool:
        return True

    def say_wait(self) -> None: ...


def test_a_call_told_twice_counts_once(supervised: SupervisedRun) -> None:
    with supervised.client() as steps, supervised.client() as again:
        first = steps.before("bash", {"command": "ls"}, call_id="c1")
        assert again.before("bash", {"command": "ls"}, call_id="c1") == first
        steps.after("a", call_id="c1", exit_code=0)
        again.after("a", call_id="c1", exit_code=0)
    assert supervised.supervisor.pipeline.ledger.spend.steps == 2


def test_a_call_issued_again_under_the_id_of_one_that_is_over_is_a_call_of_its_own(supervised: SupervisedRun) -> None:
    with supervised.client() as steps:
        for command in ("ls", "rm -rf /", "pwd"):
            answer = steps.before("bash", {"command": command}, call_id="c1")
            assert answer["action"] == ("deny" if command.startswith("rm") else "proceed")
            steps.after("a", call_id="c1", exit_code=0)
            assert supervised.supervisor.run.gate.inside == 0
    assert supervised.supervisor.pipeline.ledger.spend.steps == 6


def test_a_held_step_is_answered_when_the_run_goes_on(supervised: SupervisedRun) -> None:
    supervised.supervisor.run.hold(Hold("somebody looks"), 0)
    answers: list[dict[str, object]] = []
    with supervised.client() as steps, supervised.client() as other:
        asking = threading.Thread(target=lambda: answers.append(steps.before("bash", {"command": "ls"})))
        asking.start()
        other.say("meanwhile")
        assert answers == []
        supervised.supervisor.resume()
        asking.join(150)
    assert [answer["action"] for answer in answers] == ["proceed"]


@pytest.mark.parametrize(
    "line", [b"not json", b"[]", b"{}", b'{"before": {}, "after": {}}', b'{"before": {"tool": 3}}']
)
def test_a_bad_line_gets_one_clear_error_and_nothing_happens(supervised: SupervisedRun, line: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as sock, sock.makefile("rb") as answers:
        sock.connect(str(supervised.path))
        sock.sendall(line + b"\n")
        assert "before" in json.loads(answers.readline())["error"]
        sock.sendall(b'{"before": {"tool": {"name": "bash", "arguments": {"command": "ls"}}}}\n')
        assert json.loads(answers.readline())["step"] == 0


@given(st.binary(max_size=300))
def test_no_line_breaks_the_reader(line: bytes) -> None:
    try:
        read_line(line)
    except BadInput:
        return


def test_without_an_owner_the_client_goes_on_or_is_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = Steps(str(tmp_path / "no.sock"), str(tmp_path / "gate"), 0.0)
    assert nobody.before("bash", {"command": "ls"})["action"] == "proceed"
    monkeypatch.setenv("INTERLOCK_FAIL", "closed")
    strict = Steps(str(tmp_path / "no.sock"), str(tmp_path / "gate"), 0.0)
    assert strict.before("bash", {"command": "ls"})["action"] == "deny"


def test_without_an_owner_a_shut_gate_holds_until_it_opens(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    write_gate(gate, "paused", 1)
    nobody = Steps(str(tmp_path / "no.sock"), str(gate), 0.0)
    answers: list[dict[str, object]] = []
    asking = threading.Thread(target=lambda: answers.append(nobody.before("bash", {"command": "ls"})))
    asking.start()
    asking.join(0.3)
    assert answers == []
    write_gate(gate, "running", 2)
    asking.join(150)
    assert answers[0]["action"] == "proceed"


def test_outside_of_a_run_everything_proceeds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INTERLOCK_SOCKET", raising=False)
    assert Steps().before("bash", {"command": "ls"})["action"] == "proceed"
