"""A run whose checkpoints somebody removes pauses before the next step that changes files, and not for one that reads."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config.schema import Interventions
from interlock.journal import Store
from interlock.runtime import Supervisor
from tests.runtime.scripted import PATIENT


@pytest.mark.parametrize("gone", [".", "packs", "store.db"])
@pytest.mark.parametrize("observe", [False, True])
def test_it_pauses_before_the_next_change_and_a_person_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str, observe: bool
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    workspace = tmp_path / "work"
    workspace.mkdir()
    config = replace(PATIENT, interventions=Interventions(observe=observe))
    with Supervisor.open(
        task="x", workspace=str(workspace), store=Store(tmp_path / "runs"), config=config
    ) as supervisor:

        def ask(command: str) -> str:
            step = supervisor.call("bash", {"command": command})
            action = supervisor.before(step).action
            if action == "hold":
                assert supervisor.run.status == "paused"
                assert "no longer be undone" in supervisor.run.summary.waiting
                supervisor.resume()
                assert supervisor.before(step).action == "proceed"
            supervisor.after(supervisor.result("", exit_code=0))
            return action

        assert ask("touch a") == "proceed"
        kept = supervisor.executor.workspace
        assert kept is not None
        place = kept.checkpoints.store_path / gone
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.unlink()
        assert ask("ls") == "proceed"
        assert ask("touch b") == ("proceed" if observe else "hold")
        assert ask("touch c") == "proceed", "whoever resumed it knows"
