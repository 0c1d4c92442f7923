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
from .conftest import MakeSupervised, SupervisedRun


def result_in(supervised: SupervisedRun, call_id: str) -> None:
    """The client writes a call's result down."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": "x"}
    with supervised.transcript.open("a") as file:
        file.write(json.dumps({"type": "user", "message": {"role": "user", "content": [block]}}) + "\n")


def look(supervised: SupervisedRun, seconds: float) -> list[Any]:
    supervised.exchange.read_transcripts()
    supervised.clock.advance(seconds)
    supervised.guardian.check()
    return [record["what"] for record in supervised.records("tamper")]


def test_a_transcript_that_grows_without_hooks_is_noticed(supervised: SupervisedRun) -> None:
    supervised.hook("SessionStart", source="startup")
    supervised.call("c1", "ls")
    supervised.result("c1", "ls", "x")
    result_in(supervised, "c1")
    assert look(supervised, SILENT_S + 1) == []
    result_in(supervised, "c2")
    assert look(supervised, SILENT_S - 1) == []
    (what,) = look(supervised, 2)
    assert "switched off" in what


def test_a_hook_that_comes_a_little_later_is_no_alarm(supervised: SupervisedRun) -> None:
    supervised.hook("SessionStart", source="startup")
    result_in(supervised, "c1")
    assert look(supervised, SILENT_S - 1) == []
    supervised.result("c1", "ls", "x")
    assert look(supervised, SILENT_S + 1) == []


def test_a_client_whose_hooks_never_fire_is_noticed(supervised_with: MakeSupervised) -> None:
    supervised = supervised_with(expects_hooks=True)
    assert look(supervised, NEVER_S - 1) == []
    (what,) = look(supervised, 2)
    assert "no hook has fired" in what


def test_our_files_are_watched(supervised_with: MakeSupervised, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    supervised = supervised_with(files=(settings,))
    assert look(supervised, 1) == []
    settings.write_text('{"disableAllHooks": true}')
    assert look(supervised, 1) == ["a file that the hooks need was changed"]
    assert len(look(supervised, 1)) == 1


def test_settings_that_switch_hooks_off_are_refused(supervised: SupervisedRun, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"model": "opus"}')
    assert supervised.hook("ConfigChange", file_path=str(path), source="project_settings") == {}
    path.write_text('{"disableAllHooks": true}')
    assert supervised.hook("ConfigChange", file_path=str(path), source="project_settings")["decision"] == "block"
    (record,) = supervised.records("tamper")
    assert record["path"] == str(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"disableAllHooks": true}',
        '{"hooksConfig": {"enabled": false}}',
        '{"hooksConfig": {"disabled": ["interlock"]}}',
    ],
)
def test_settings_are_watched_where_the_client_does_not_tell(
    supervised_with: MakeSupervised, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{}")
    supervised = supervised_with(settings=(path, tmp_path / "none.json"))
    path.write_text('{"model": "opus"}')
    assert look(supervised, 1) == []
    path.write_text(text)
    assert look(supervised, 1) == ["settings that switch the hooks off were written"]


@pytest.mark.parametrize(("answer", "status"), [("warn", "running"), ("pause", "paused"), ("stop", "aborted")])
def test_it_is_answered_as_configured(supervised_with: MakeSupervised, answer: str, status: str) -> None:
    supervised = supervised_with({"runtime": {"on_tamper": answer}})
    supervised.guardian.notice("hooks were switched off")
    assert supervised.supervisor.run.status == status
    (record,) = supervised.records("tamper")
    assert record["answer"] == answer


def test_watching_alone_never_acts(supervised_with: MakeSupervised) -> None:
    supervised = supervised_with({"runtime": {"on_tamper": "stop"}, "interventions": {"observe": True}})
    supervised.guardian.notice("hooks were switched off")
    assert supervised.supervisor.run.status == "running"
    assert len(supervised.records("tamper")) == 1


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
