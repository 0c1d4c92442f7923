"""The options after an emergency stop, where the agent cannot be started again or the clean-up is due."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interlock.config import Config
from interlock.config.schema import Interventions
from interlock.core import InvalidState, Issue, Limits, NotFound, RunSpec, RunState
from interlock.intervene import emergency_stop
from interlock.journal import RunFolder, Store
from interlock.journal.folder import write_tree
from interlock.process import spawn
from interlock.runtime import Incidents, Run, StoredIncident
from interlock.runtime.continuation import abort, choose, continue_run
from interlock.runtime.incidents import save_stop

FOUND = Issue(id="loop:0:0", type="loop", step=3, description="the same again", severity="critical")


def stop_run(store: Store, spec: RunSpec, *, ended: bool = True) -> StoredIncident:
    """A run that was stopped, as it lies in the store."""
    with Run.create(spec, store) as run:
        if ended:
            run.end("aborted", "EMERGENCY_STOP")
    stopped = emergency_stop(FOUND, RunState(run_id=spec.run_id, limits=Limits(max_tokens=1000)), Interventions(), 1.0)
    save_stop(RunFolder(store.root / spec.run_id).incidents, stopped)
    return Incidents(store).find(stopped.incident_id)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def test_a_run_that_a_program_drives_is_not_started_again_but_says_what_to_do(store: Store) -> None:
    stored = stop_run(store, RunSpec(run_id="mine", adapter="direct"))
    with pytest.raises(InvalidState, match="cannot start again") as error:
        continue_run(store, stored, choose(stored, "resume_with_limits"), Config())
    assert error.value.exit_status == 4 and "Supervisor.open(incident=(" in error.value.todo


def test_going_on_is_stricter_and_names_the_run_that_it_continues(store: Store) -> None:
    stored = stop_run(store, RunSpec(run_id="mine", argv=("agent",), adapter="process"))
    going_on = continue_run(store, stored, choose(stored, "resume_with_limits"), Config())
    assert going_on.spec.continues == "mine" and going_on.spec.run_id != "mine"
    assert going_on.config.limits.max_tokens == 500
    assert going_on.config.detect.sensitivity == "high"
    assert {"delete", "network", "unknown"} <= set(going_on.removed_actions)


def test_a_way_that_is_not_open_says_why(store: Store) -> None:
    stored = stop_run(store, RunSpec(run_id="mine", argv=("agent",)))
    with pytest.raises(InvalidState, match="no safe checkpoint"):
        choose(stored, "rollback_and_retry")
    with pytest.raises(NotFound):
        choose(stored, "pray")


def test_abort_ends_what_was_left_and_marks_the_run(store: Store) -> None:
    stored = stop_run(store, RunSpec(run_id="mine", argv=("sleep", "600")), ended=False)
    folder = store.find("mine")
    tree = spawn(RunSpec(run_id="mine", argv=("sleep", "600")), stdin=subprocess.DEVNULL)
    write_tree(folder, tree.handle())
    done = abort(store, stored)
    assert not tree.alive()
    assert any("processes" in words for words in done) and "marked as aborted" in done
    assert store.runs()[0].status == "aborted"
    with pytest.raises(InvalidState, match="settled"):
        choose(Incidents(store).find(stored.id), "resume_with_limits")
    tree.close()
