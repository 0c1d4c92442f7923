"""Limits of a live run go by a steady clock: neither the machine's clock nor the agent moves it."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.core import Context, Decision, Limits
from interlock.journal import Store
from interlock.runtime import Supervisor

HOURS = 2 * 3600.0


class SetClock:
    """A machine whose clock somebody sets; its monotonic count goes on."""

    def __init__(self) -> None:
        self.wall, self.count = 1_700_000_000.0, 50.0

    def time(self) -> float:
        return self.wall

    def monotonic(self) -> float:
        return self.count

    def advance(self, seconds: float) -> None:
        self.wall, self.count = self.wall + seconds, self.count + seconds


def act(supervisor: Supervisor, time: float | None = None) -> Decision:
    decision = supervisor.before(replace(supervisor.call("bash", {"command": "ls"}), time=time))
    supervisor.after(replace(supervisor.result("ok", exit_code=0), time=time))
    return decision


def open_run(root: Path, clock: SetClock, **limits: float) -> Supervisor:
    config = Config(limits=Limits(**limits))
    return Supervisor.open(config=config, store=Store(root, clock), clock=clock, context=Context())


@pytest.mark.parametrize("jump", [-HOURS, HOURS])
def test_setting_the_clock_neither_ends_a_run_nor_gives_it_time(tmp_path: Path, jump: float) -> None:
    clock = SetClock()
    with open_run(tmp_path, clock, max_execution_time=3600) as supervisor:
        act(supervisor)
        clock.wall += jump
        clock.advance(3590)
        act(supervisor)
        assert supervisor.run.reason is None
        clock.advance(20)
        act(supervisor)
        assert supervisor.run.reason == "MAX_ITERATIONS"


@pytest.mark.parametrize("jump", [-HOURS, HOURS])
def test_setting_the_clock_does_not_change_the_wait_for_calls_per_minute(tmp_path: Path, jump: float) -> None:
    clock = SetClock()
    with open_run(tmp_path, clock, max_calls_per_minute=2) as supervisor:
        act(supervisor)
        clock.wall += jump
        act(supervisor)
        clock.advance(20)
        assert act(supervisor).delay_s == 40


def test_a_successor_on_a_clock_set_back_goes_on_counting(tmp_path: Path) -> None:
    clock = SetClock()
    supervisor = open_run(tmp_path, clock, max_execution_time=3600)
    act(supervisor)
    clock.advance(3500)
    act(supervisor)
    folder, config = supervisor.run.folder, supervisor.config
    supervisor.run.close()
    clock.wall -= HOURS
    with Supervisor.reopen(folder, config=config, clock=clock, context=Context()) as successor:
        clock.advance(90)
        act(successor)
        assert successor.run.reason is None
        clock.advance(20)
        act(successor)
        assert successor.run.reason == "MAX_ITERATIONS"


@pytest.mark.parametrize("claimed", [0.0, -1e9, 1e12])
def test_what_an_agent_says_of_the_time_does_not_move_its_limits(tmp_path: Path, claimed: float) -> None:
    clock = SetClock()
    with open_run(tmp_path, clock, max_execution_time=300, max_calls_per_minute=2) as supervisor:
        act(supervisor, claimed)
        act(supervisor)
        assert supervisor.run.reason is None
        assert act(supervisor, claimed).delay_s == 60
        clock.advance(301)
        act(supervisor, claimed)
        assert supervisor.run.reason == "MAX_ITERATIONS"
