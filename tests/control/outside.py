"""What is outside the owner of a simulated run and outlives it: the actuator, the agent, whoever executes."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from interlock.control import (
    Actuated,
    Desired,
    Execute,
    Executed,
    Held,
    IterationEnded,
    IterationStarted,
    Released,
    RunEnded,
    Waiting,
    WaitingForPerson,
    may_start,
)

from .owner_side import OwnerSide


class Passage(Struct, frozen=True):
    """An iteration that began, and how long the log was then."""

    key: str
    log_length: int


class Outside(OwnerSide):
    """An agent that goes through the gate, an actuator that may be slow or broken."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        super().__init__(seed, trace)
        self.executions: dict[str, bool] = {}
        self.passages: list[Passage] = []
        self.agent_over = False

    def reach_actuator(self, desired: Desired) -> None:
        delay = self.weather.slow_actuator * self.dice.random()
        if delay == 0.0:
            self.act(desired, self.epoch)
        else:
            self.at(delay, self.act, desired, self.epoch)

    def act(self, desired: Desired, epoch: int) -> None:
        """What acts outside: it lives on when the owner dies, and its word is also the gate file."""
        # A cancel goes on even if its gate cannot be shut, so that one is left whole here.
        cancelling = desired.shut and desired.status == "running"
        ok = cancelling or self.dice.random() >= self.weather.broken_actuator
        if ok and self.fenced(desired):
            self.actuator = desired
        if epoch == self.epoch:
            self.post(Actuated(desired.revision, ok, "" if ok else "broken"))

    def fenced(self, desired: Desired) -> bool:
        return desired.revision >= self.actuator.revision

    def execute(self, effect: Execute) -> None:
        seconds = 0.0 if effect.request_id in self.executions else self.weather.execution * self.dice.random() * 2
        self.at(seconds, self.executed, effect.request_id, self.epoch)

    def executed(self, request_id: str, epoch: int) -> None:
        if epoch != self.epoch and self.dice.random() < 0.5:
            return
        ok = self.executions.setdefault(request_id, self.dice.random() < 0.8)
        if epoch == self.epoch:
            self.post(Executed(request_id, ok, "executed"))

    def gate_file_is_open(self) -> bool:
        return not self.actuator.shut

    def try_iteration(self, number: int) -> None:
        """The agent wants to go on: the owner decides, or the gate file if there is no owner."""
        if self.agent_over or self.time > self.until:
            return
        key = f"i{number}"
        if may_start(self.state) if self.up and self.time >= self.thaw_at else self.gate_file_is_open():
            self.passages.append(Passage(key, len(self.log)))
            self.under_way.add(key)
            self.post(IterationStarted(key))
            self.at(self.dice.random() * 12, self.end_iteration, key)
        self.at(self.dice.random() * 16, self.try_iteration, number + 1)

    def end_iteration(self, key: str) -> None:
        self.under_way.discard(key)
        self.post(IterationEnded(key))

    def end_agent(self, reason: str) -> None:
        """The run is over by itself; the owner hears of it when there is one."""
        self.agent_over = True
        if self.up:
            self.post(RunEnded(reason))  # type: ignore[arg-type]
        if not self.up or not self.state.ended:
            self.at(1.0, self.end_agent, reason)

    def hold_run(self) -> None:
        """The supervisor pauses the run, and perhaps takes it back later."""
        self.post(Held(Waiting("limit", 1, "the budget is spent")))
        if self.dice.random() < 0.6:
            self.at(self.dice.uniform(0, 60), self.post, Released())

    def want_person(self, step: int) -> None:
        self.post(WaitingForPerson(Waiting("approval", step, "may I?")))
