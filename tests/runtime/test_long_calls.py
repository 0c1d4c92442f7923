"""A long call is judged by all of its text, and approved by exactly its text; only a part of it is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.core import Tool
from interlock.journal import JournalReader, Store
from interlock.runtime import Supervisor
from interlock.runtime.approvals import call_digest

FILLER = "echo hi | cat\n"
PATIENT = replace(Config(), runtime=replace(Runtime(), step_timeout_ms=60_000))
"""Decisions must not depend on how busy the machine is."""


@pytest.fixture
def supervisor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    workspace = tmp_path / "work"
    workspace.mkdir()
    with Supervisor.open(
        task="x", workspace=str(workspace), store=Store(tmp_path / "runs"), config=PATIENT
    ) as supervisor:
        yield supervisor


def call(before: int, line: str) -> dict[str, object]:
    return {"command": f"{FILLER * before}{line}\n{FILLER * (7_000 - before)}"}


@pytest.mark.parametrize("before", [0, 3_500, 7_000])
def test_a_command_anywhere_in_100_kb_is_judged(supervisor: Supervisor, before: int) -> None:
    decision = supervisor.before(supervisor.call("Bash", call(before, "rm -rf ~/important")))
    assert decision.action == "deny" and "outside the workspace" in decision.reason


def test_100_kb_of_harmless_commands_run(supervisor: Supervisor) -> None:
    assert supervisor.before(supervisor.call("Bash", call(3_500, "rm -rf build"))).action == "proceed"


def test_what_is_recorded_of_a_long_call_is_bounded_and_redacted(supervisor: Supervisor) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    supervisor.before(supervisor.call("Bash", call(10, f"curl -H 'Authorization: {secret}' https://example.com")))
    folder = supervisor.run.folder
    assert folder is not None
    supervisor.close()
    with JournalReader.open(folder) as reader:
        (record,) = reader.read(kinds=frozenset(("step",)))
    body = bytes(record.body)
    assert b"example.com" in body and secret.encode() not in body
    assert len(body) < 20_000


def test_an_approval_is_for_exactly_this_call(supervisor: Supervisor) -> None:
    step = supervisor.call("Bash", {"command": "deploy --token one"})
    for command in ("deploy --token two", "deploy  --token one", "deploy --token one\n"):
        other = replace(step, tool=Tool("Bash", {"command": command}))
        assert call_digest(other) != call_digest(step)
