"""Time that a run is paused is not time that it works."""

from __future__ import annotations

from pathlib import Path

from interlock.config import Config
from interlock.core import Context, Hold, Limits, ManualClock
from interlock.journal import RunFolder, Store
from interlock.runtime import Supervisor


def open_run(root: Path, clock: ManualClock) -> Supervisor:
    return Supervisor.open(
        config=Config(limits=Limits(max_execution_time=60.0)), store=Store(root), clock=clock, context=Context()
    )


def act(supervisor: Supervisor) -> str:
    decision = supervisor.before(supervisor.call("bash", {"command": "ls"}))
    supervisor.after(supervisor.result("ok", exit_code=0))
    return decision.action


def test_a_pause_does_not_count_towards_the_time_limit(tmp_path: Path) -> None:
    clock = ManualClock()
    begun = clock.time()
    with open_run(tmp_path, clock) as supervisor:
        assert act(supervisor) == "proceed"
        for _ in range(3):
            supervisor.run.gate.set_status("paused", supervisor.run.gate.revision + 1)
            clock.advance(500)
            supervisor.run.gate.set_status("running", supervisor.run.gate.revision + 1)
            clock.advance(10)
            supervisor.check_usage(1.0, clock.time() - begun)
            assert act(supervisor) == "proceed"
        clock.advance(40)
        supervisor.check_usage(1.0, clock.time() - begun)
        assert supervisor.run.reason == "MAX_ITERATIONS"


def test_a_successor_knows_how_long_the_run_has_rested(tmp_path: Path) -> None:
    clock = ManualClock()
    supervisor = open_run(tmp_path, clock)
    act(supervisor)
    folder = supervisor.run.folder
    assert isinstance(folder, RunFolder) and supervisor.run.steering is not None
    supervisor.run.steering.pause(Hold("look"), 0)
    clock.advance(500)
    supervisor.resume()
    clock.advance(10)
    act(supervisor)
    supervisor.run.close()
    config = Config(limits=Limits(max_execution_time=60.0))
    with Supervisor.reopen(folder, config=config, clock=clock, context=Context()) as successor:
        assert successor.run.gate.rested_s == 500
        assert act(successor) == "proceed"
