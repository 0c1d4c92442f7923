"""After an emergency stop of an agent that a Python program drives: what is offered works, and the files are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.config import Config
from interlock.config.schema import EmergencyStop, Interventions
from interlock.core import BadInput, InvalidState, Issue, Limits, RunSpec, RunState
from interlock.intervene import emergency_stop
from interlock.intervene.options import offered
from interlock.journal import Store
from interlock.runtime import Incidents, StoredIncident, Supervisor

FOUND = Issue(id="loop:0:0", type="loop", step=3, description="the same again", severity="critical")
DEFAULT = Config()
FILES = ("one.txt", "two.txt", "sub/three.txt")


def stopped(tmp_path: Path, config: Config = DEFAULT) -> StoredIncident:
    """An agent that wrote three files and was stopped."""
    workspace = tmp_path / "work"
    (workspace / "sub").mkdir(parents=True)
    store = Store(tmp_path / "runs")
    with Supervisor.open(
        task="tidy up", workspace=workspace, store=store, config=config, checkpoint_store=tmp_path / "kept"
    ) as supervisor:
        for name in FILES:
            (workspace / name).write_text("x")
        state = RunState(run_id=supervisor.run.spec.run_id, limits=Limits(max_tokens=1000))
        made = emergency_stop(FOUND, state, config.interventions, 1.0)
        supervisor.runner._save(made)
    [found] = Incidents(store).all()
    return found


def go_on(tmp_path: Path, stored: StoredIncident, option: str) -> Supervisor:
    return Supervisor.open(
        incident=(stored.id, option),
        store=Store(tmp_path / "runs"),
        config=Config(),
        checkpoint_store=tmp_path / "kept",
    )


def test_the_impact_names_the_files_that_the_run_has_written(tmp_path: Path) -> None:
    stored = stopped(tmp_path)
    assert set(FILES) <= set(stored.report.impact.files)
    assert "none named" not in stored.report.to_text()


def test_every_option_that_is_offered_to_a_python_program_says_how_it_works(tmp_path: Path) -> None:
    stored = stopped(tmp_path)
    commands = {option.name: option.command for option in stored.options if option.applicable}
    for name in ("resume_with_limits", "manual_intervention"):
        assert commands[name] == f"Supervisor.open(incident=({stored.id!r}, {name!r}), ...)"
    assert commands["abort"].startswith("interlock incident continue")


def test_resume_with_limits_works_in_process(tmp_path: Path) -> None:
    stored = stopped(tmp_path)
    with go_on(tmp_path, stored, "resume_with_limits") as supervisor:
        assert supervisor.run.spec.continues == stored.incident.run_id
        assert supervisor.run.spec.task == "tidy up"
        assert supervisor.config.limits.max_steps == 100
        assert supervisor.config.detect.sensitivity == "high"
        refused = supervisor.ask(supervisor.call("bash", {"command": "rm one.txt"}))
        assert refused.action == "deny"
        assert "continued without dangerous tools" in refused.reason
        assert supervisor.ask(supervisor.call("bash", {"command": "cat one.txt"})).action == "proceed"
    settled = Incidents(Store(tmp_path / "runs")).find(stored.id)
    assert (settled.status, settled.option, settled.continued_by) == (
        "continued", "resume_with_limits", supervisor.run.spec.run_id,
    )  # fmt: skip
    with pytest.raises(InvalidState, match="settled"):
        go_on(tmp_path, stored, "resume_with_limits")


def test_manual_intervention_works_in_process(tmp_path: Path) -> None:
    stored = stopped(tmp_path)
    with go_on(tmp_path, stored, "manual_intervention") as supervisor:
        call = supervisor.call("write_file", {"path": "four.txt", "content": "x"})
        assert supervisor.before(call).action == "hold"
        assert supervisor.run.summary.waiting
        supervisor.answer(None, "approved")
        assert supervisor.before(call).action == "proceed"
        assert supervisor.before(supervisor.call("read_file", {"path": "one.txt"})).action == "proceed"


def test_rollback_and_retry_is_not_offered_without_a_safe_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(InvalidState, match="no safe checkpoint"):
        go_on(tmp_path, stopped(tmp_path), "rollback_and_retry")


@pytest.mark.parametrize("wanted", [True, False])
def test_auto_cleanup_settles_the_incident_when_the_run_is_closed(tmp_path: Path, wanted: bool) -> None:
    stop = EmergencyStop(auto_cleanup=wanted)
    stored = stopped(tmp_path, Config(interventions=Interventions(emergency_stop=stop)))
    assert (stored.status, stored.option) == (("aborted", "abort") if wanted else ("open", None))
    gate = tmp_path / "runs" / stored.incident.run_id / "gate"
    assert gate.exists() is not wanted


def test_abort_continues_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="abort ends a run"):
        go_on(tmp_path, stopped(tmp_path), "abort")


def test_a_session_that_its_client_started_is_offered_what_works(tmp_path: Path) -> None:
    options = stopped(tmp_path).options
    spec = RunSpec(run_id="r", adapter="claude-code")
    there = {each.name: each for each in offered(options, spec, frozenset(("stop", "relaunch")))}
    assert [name for name, each in there.items() if each.applicable] == ["abort"]
    assert "start a new session there" in there["resume_with_limits"].reason
