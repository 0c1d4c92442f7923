"""The traps of Claude Code's hooks, with the real client: what its notes promise, and what it does when we are gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.adapters.command.owner_messages import steps_path
from interlock.demo.model import ScriptedModel, ScriptedTurn, run, turns, write
from interlock.link import noted_socket

from ..adapters.hooks.fake_owner import Answers, FakeOwner
from .clients import AGENT_S, AgentPlace, ClaudeCode, until

pytestmark = pytest.mark.agents

MakePlace = Callable[..., AgentPlace]
CLIENT = ClaudeCode()
AGENT = CLIENT.name


@pytest.fixture
def place_for(agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]) -> Iterator[MakePlace]:
    record_property("agent", f"{CLIENT.name} traps")
    record_property("version", CLIENT.version(agents_folder, tmp_path))
    made: list[AgentPlace] = []

    def make(script: Any, config: dict[str, Any] | None = None) -> AgentPlace:
        made.append(AgentPlace(tmp_path, CLIENT, ScriptedModel(script).start(), agents_folder, config or {}))
        return made[-1]

    yield make
    for place in made:
        place.close()
        place.model.close()


def test_the_users_own_settings_and_hooks_stay(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo one"), "Finished."))
    hook = {"hooks": [{"type": "command", "command": f"touch {place.workspace}/from-user"}]}
    project = place.workspace / ".claude"
    project.mkdir()
    (project / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [hook]}, "env": {"FROM_USER": "yes"}}))
    given = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": f"touch {place.workspace}/from-option"}]}]}}
    process = place.start(*CLIENT.command("go"), "--settings", json.dumps(given))
    out, err = process.communicate(timeout=AGENT_S)
    assert process.returncode == 0, (out, err)
    assert (place.workspace / "from-user").exists()
    assert (place.workspace / "from-option").exists()
    assert len(place.steps("tool_call")) == 1
    assert json.loads((project / "settings.json").read_text())["env"] == {"FROM_USER": "yes"}


def test_a_call_that_fails_validation_is_in_the_complete_feed(place_for: MakePlace) -> None:
    place = place_for(turns(write("kept.txt", "overwritten"), "Finished."))
    (place.workspace / "kept.txt").write_text("not read yet")
    status, out, err = place.run_agent()
    assert status == 0, (out, err)
    call, result = place.steps("tool_call")[0], place.steps("tool_result")[0]
    assert call["tool"]["name"] == "Write"
    assert result["error"] is True
    assert (place.workspace / "kept.txt").read_text() == "not read yet"


def test_hooks_cannot_be_switched_off_from_inside(place_for: MakePlace) -> None:
    script = turns(run("sh build.sh"), run("echo two"), run("rm -rf ~/precious"), "Finished.")
    # Only a warning: by default an unattended run is stopped for that.
    place = place_for(script, {"runtime": {"on_tamper": "warn"}})
    off = "echo '{\"disableAllHooks\": true}' > .claude/settings.json; sleep 2\n"
    (place.workspace / "build.sh").write_text(off)
    # Settings that exist are read-only.
    (place.workspace / ".claude").mkdir()
    precious = place.home / "precious" / "file.txt"
    precious.parent.mkdir()
    precious.write_text("keep me")
    status, out, err = place.run_agent()
    assert precious.exists(), (status, out, err)
    assert "disableAllHooks" in (place.workspace / ".claude" / "settings.json").read_text()
    assert len(place.steps("tool_call")) == 3
    assert any("switch" in record["what"] for record in place.records("tamper"))


def test_hooks_that_are_off_from_the_start_are_noticed(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo one"), run("sleep 8"), "Finished."), {"runtime": {"on_tamper": "stop"}})
    project = place.workspace / ".claude"
    project.mkdir()
    (project / "settings.json").write_text('{"disableAllHooks": true}')
    status, out, err = place.run_agent()
    supervised = len(place.steps("tool_call")) == 2
    assert supervised or place.told()["reason"] == "EMERGENCY_STOP", (status, out, err, place.records("tamper"))


def test_a_socket_that_is_removed_is_bound_again(place_for: MakePlace) -> None:
    script = turns(run("echo 1 > first; sleep 2"), run("echo 2 > second"), "Finished.")
    place = place_for(script, {"runtime": {"fail": "closed"}})
    process = place.begin_agent()
    until("the first command runs", (place.workspace / "first").exists)
    control = noted_socket(place.folder.path)
    assert control is not None
    steps_path(control).unlink()
    out, err = process.communicate(timeout=AGENT_S)
    assert (place.workspace / "second").exists(), (process.returncode, out, err)
    assert len(place.steps("tool_call")) == 2
    assert any("socket" in record["what"] for record in place.records("tamper"))


def test_a_new_owner_goes_on_when_the_first_is_killed(place_for: MakePlace) -> None:
    script = turns(run("echo 1 > first; sleep 2"), run("rm -rf ~/precious"), run("echo 3 > third"), "Finished.")
    place = place_for(script)
    (place.home / "precious").mkdir()
    process = place.begin_agent()
    until("the first command runs", (place.workspace / "first").exists)
    owner = place.folder.owner()
    assert owner is not None
    os.kill(owner.pid, signal.SIGKILL)
    out, err = process.communicate(timeout=AGENT_S)
    assert process.returncode == 0, (out, err)
    assert (place.home / "precious").exists()
    assert (place.workspace / "third").exists()
    assert len(place.steps("tool_call")) == 3


def test_paused_stays_paused_when_the_owner_is_killed(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo 1 >> log; sleep 2"), run("echo 2 >> log"), "Finished."))
    process = place.begin_agent()
    log = place.workspace / "log"
    until("the first command runs", log.exists)
    assert place.order("pause").outcome == "success"
    owner = place.folder.owner()
    assert owner is not None
    os.kill(owner.pid, signal.SIGKILL)
    until("another owner is there", lambda: (now := place.folder.owner()) is not None and now.pid != owner.pid)
    # The new owner knows of no step under way, so that it stands still in the middle of one.
    until("it is paused", lambda: place.store.runs()[0].status == "paused")
    assert process.poll() is None
    assert log.read_text() == "1\n"
    assert place.order("resume").outcome == "success"
    out, err = process.communicate(timeout=AGENT_S)
    assert process.returncode == 0, (out, err)
    assert log.read_text() == "1\n2\n"


class Alone:
    """The client with our hook client but an owner that a test scripts."""

    def __init__(self, place: AgentPlace, answers: Callable[[dict[str, Any]], Any]) -> None:
        from interlock.adapters.hooks.recognition import recognise
        from interlock.adapters.hooks.wiring import RunAddress as WirePlace

        self._place, self._answers = place, answers
        self.events: list[dict[str, Any]] = []
        folder = place.root / "wired"
        folder.mkdir()
        self._wire = WirePlace(socket=place.root / "s", gate=place.root / "gate", folder=folder)
        self._recognise = recognise

    def run(self, *argv: str) -> dict[str, Any]:
        wiring = self._recognise(argv)
        assert wiring is not None
        wired = wiring.wire(self._wire)
        with FakeOwner(self._wire.socket, self._answer):
            done = subprocess.run(
                wired.argv,
                cwd=self._place.workspace,
                env=self._place.environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=AGENT_S,
                check=False,
            )
        assert done.returncode == 0, done
        return dict(json.loads(done.stdout))

    @property
    def _answer(self) -> Answers:
        def answer(line: bytes, sock: Any) -> None:
            payload = msgspec.json.decode(line)["hook"]["payload"]
            self.events.append(payload)
            sock.sendall(json.dumps(self._answers(payload) or {}).encode() + b"\n")

        return answer


def test_a_deferred_call_is_asked_about_again_when_the_session_is_resumed(place_for: MakePlace) -> None:
    place = place_for(turns(run("echo 1 > done"), "Finished."))
    decisions = ["defer", ""]

    def answers(payload: dict[str, Any]) -> Any:
        if payload["hook_event_name"] != "PreToolUse" or not (said := decisions.pop(0)):
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": said}}

    alone = Alone(place, answers)
    first = alone.run(*CLIENT.command("go"))
    assert first["terminal_reason"] == "tool_deferred"
    assert not (place.workspace / "done").exists()
    options = ("--resume", first["session_id"], "--output-format", "json", "--allowedTools", "Bash")
    alone.run("claude", "-p", *options)
    asked = [event["tool_use_id"] for event in alone.events if event["hook_event_name"] == "PreToolUse"]
    assert len(asked) == 2
    assert len(set(asked)) == 1
    assert (place.workspace / "done").exists()


def test_a_denied_and_stopped_call_does_not_run_and_the_run_stops(place_for: MakePlace) -> None:
    from interlock.adapters.hooks.claude_code import ClaudeCodeDialect as Dialect
    from interlock.core import PROCEED, Decision

    place = place_for([ScriptedTurn(calls=(run("echo 1 > done"),)), *turns(run("echo 2 > more"), "Finished.")])
    dialect = Dialect()

    def answers(payload: dict[str, Any]) -> Any:
        event = dialect.read(payload)
        stop = event.moment in ("before", "batch")
        return dialect.reply(event, Decision("stop", reason="enough") if stop else PROCEED)

    ended = Alone(place, answers).run(*CLIENT.command("go"))
    assert ended["terminal_reason"] == "hook_stopped"
    assert ended["subtype"] == "success", "which is why the reason must be read"
    assert not (place.workspace / "done").exists()
    assert not (place.workspace / "more").exists()


def test_rewritten_arguments_are_what_runs(place_for: MakePlace) -> None:
    from interlock.adapters.hooks.claude_code import ClaudeCodeDialect as Dialect
    from interlock.core import PROCEED, Decision

    place = place_for(turns(run("echo 1 > done"), "Finished."))
    dialect = Dialect()
    other = Decision("rewrite", arguments={"command": "echo 1 > instead"}, reason="safer")

    def answers(payload: dict[str, Any]) -> Any:
        event = dialect.read(payload)
        return dialect.reply(event, other if event.moment == "before" else PROCEED)

    Alone(place, answers).run(*CLIENT.command("go"))
    assert (place.workspace / "instead").exists()
    assert not (place.workspace / "done").exists()
