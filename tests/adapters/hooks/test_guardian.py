"""Tampering is noticed, written down, and answered as configured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.hooks.hook_guardian import NEVER_S, SILENT_S
from interlock.process import waited_s

from ...waiting import eventually
from .conftest import Desk, MakeDesk


def result_in(desk: Desk, call_id: str) -> None:
    """The client writes a call's result down."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "x"}
    with desk.transcript.open("a") as file:
        file.write(json.dumps({"type": "user", "message": {"role": "user", "content": [block]}}) + "\n")


def look(desk: Desk, seconds: float) -> list[Any]:
    desk.exchange.read_transcripts()
    desk.clock.advance(seconds)
    desk.guardian.check()
    return [record["what"] for record in desk.records("tamper")]


def test_a_transcript_that_grows_without_hooks_is_noticed(desk: Desk) -> None:
    desk.hook("SessionStart", source="startup")
    desk.call("c1", "ls")
    desk.result("c1", "ls", "x")
    result_in(desk, "c1")
    assert look(desk, SILENT_S + 1) == []
    result_in(desk, "c2")
    assert look(desk, SILENT_S - 1) == []
    (what,) = look(desk, 2)
    assert "switched off" in what


def test_a_hook_that_comes_a_little_later_is_no_alarm(desk: Desk) -> None:
    desk.hook("SessionStart", source="startup")
    result_in(desk, "c1")
    assert look(desk, SILENT_S - 1) == []
    desk.result("c1", "ls", "x")
    assert look(desk, SILENT_S + 1) == []


def test_a_client_whose_hooks_never_fire_is_noticed(desk_with: MakeDesk) -> None:
    desk = desk_with(expects_hooks=True)
    assert look(desk, NEVER_S - 1) == []
    (what,) = look(desk, 2)
    assert "no hook has fired" in what


def test_our_files_are_watched(desk_with: MakeDesk, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    desk = desk_with(files=(settings,))
    assert look(desk, 1) == []
    settings.write_text('{"disableAllHooks": true}')
    assert look(desk, 1) == ["a file that the hooks need was changed"]
    assert len(look(desk, 1)) == 1


def test_settings_that_switch_hooks_off_are_refused(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"model": "opus"}')
    assert desk.hook("ConfigChange", file_path=str(path), source="project_settings") == {}
    path.write_text('{"disableAllHooks": true}')
    assert desk.hook("ConfigChange", file_path=str(path), source="project_settings")["decision"] == "block"
    (record,) = desk.records("tamper")
    assert record["path"] == str(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"disableAllHooks": true}',
        '{"hooksConfig": {"enabled": false}}',
        '{"hooksConfig": {"disabled": ["interlock"]}}',
    ],
)
def test_settings_are_watched_where_the_client_does_not_tell(desk_with: MakeDesk, tmp_path: Path, text: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    desk = desk_with(settings=(path, tmp_path / "none.json"))
    path.write_text('{"model": "opus"}')
    assert look(desk, 1) == []
    path.write_text(text)
    assert look(desk, 1) == ["settings that switch the hooks off were written"]


@pytest.mark.parametrize(("answer", "status"), [("warn", "running"), ("pause", "paused"), ("stop", "aborted")])
def test_it_is_answered_as_configured(desk_with: MakeDesk, answer: str, status: str) -> None:
    desk = desk_with({"runtime": {"on_tamper": answer}})
    desk.guardian.notice("hooks were switched off")
    assert desk.supervisor.run.status == status
    (record,) = desk.records("tamper")
    assert record["answer"] == answer


def test_watching_alone_never_acts(desk_with: MakeDesk) -> None:
    desk = desk_with({"runtime": {"on_tamper": "stop"}, "interventions": {"observe": True}})
    desk.guardian.notice("hooks were switched off")
    assert desk.supervisor.run.status == "running"
    assert len(desk.records("tamper")) == 1


def test_how_long_a_process_waited_for_a_processor_is_known() -> None:
    core = min(os.sched_getaffinity(0))
    spins = [sys.executable, "-c", "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"]
    rivals = [subprocess.Popen([*spins, str(core)]) for _ in range(2)]
    try:
        eventually(lambda: all(waited_s(f"/proc/{each.pid}") > 0.05 for each in rivals))
    finally:
        for each in rivals:
            each.kill()
            each.wait()
    assert waited_s(f"/proc/{rivals[0].pid}") == 0.0
