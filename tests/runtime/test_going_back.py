"""A rollback that the run's own trouble leads to takes back all of that trouble, also what the last call did."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from interlock.config.schema import (
    CheckpointRollback,
    ContextReinforcement,
    Interventions,
    ResourceThrottling,
    SafeCheckpointCriteria,
    SoftCorrection,
)
from interlock.core import ManualClock
from interlock.journal import Store
from interlock.runtime import Supervisor
from tests.runtime.scripted import PATIENT, START

AT_ONCE = Interventions(
    soft_correction=SoftCorrection(enabled=False),
    context_reinforcement=ContextReinforcement(enabled=False),
    resource_throttling=ResourceThrottling(enabled=False),
    checkpoint_rollback=CheckpointRollback(
        safe_checkpoint_criteria=SafeCheckpointCriteria(min_success_rate=0, no_errors_duration_seconds=0)
    ),
)


def test_the_call_whose_failure_led_to_the_rollback_is_taken_back_too(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    workspace = tmp_path / "work"
    workspace.mkdir()
    app = workspace / "app.py"
    app.write_text("original")
    config = replace(PATIENT, interventions=AT_ONCE)
    clock = ManualClock(START)
    with Supervisor.open(
        task="fix app.py", workspace=str(workspace), store=Store(tmp_path / "runs"), clock=clock, config=config
    ) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "python begin.py"})).action == "proceed"
        app.write_text("half way")
        clock.advance(5)
        supervisor.after(supervisor.result("began", exit_code=0))
        for attempt in range(10):
            assert supervisor.before(supervisor.call("bash", {"command": "python fix.py"})).action == "proceed"
            app.write_text(f"broken {attempt}")
            (workspace / f"extra{attempt}.py").touch()
            clock.advance(5)
            failure = supervisor.result("ImportError: no module named foo", exit_code=1)
            if any("restored the files" in message.content for message in supervisor.after(failure).messages):
                break
        else:
            raise AssertionError("it never went back")
        assert app.read_text() == "half way"
        assert [path.name for path in workspace.iterdir()] == ["app.py"]
        start = supervisor.executor.workspace.checkpoints.list()[0].id
        done = supervisor.executor.workspace.restore(start, ())
    assert app.read_text() == "original"
    assert done.left_alone == ()
