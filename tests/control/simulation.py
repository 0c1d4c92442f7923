"""Simulation: the real state machine and the real controller in a world that loses, doubles, delays and crashes.

One seed is one world; the same seed gives the same world, event for event:
    python -m tests.control.simulation SEED      (prints what happens)
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from msgspec.structs import replace

from interlock.control import Tick

from .senders import Senders
from .weather import CALM

COMMANDS = ("pause", "pause", "pause", "resume", "resume", "resume", "escalate", "approve", "rollback")


class World(Senders):
    """One run, its owner, what acts outside, an agent, controllers, a broker; and virtual time."""

    def __init__(
        self,
        seed: int,
        trace: Callable[[str], None] | None = None,
        *,
        calm: bool = False,
        crash_at: int = -1,
        commands: int = 8,
    ) -> None:
        super().__init__(seed, trace)
        self.crash_at = crash_at + 1
        if calm:
            self.weather = CALM
        self._set_up(commands)

    def run(self) -> World:
        """Let everything happen, then let it settle."""
        self.play()
        self.weather = replace(self.weather, crash=0.0, broken_actuator=0.0, slow_actuator=0.0)
        for _ in range(3):
            self.post(Tick())
        return self

    def _set_up(self, commands: int) -> None:
        dice = self.dice
        self.at(0.0, self.start_owner)
        for number in range(commands):
            self.at(dice.uniform(0, 300), self.use_controller, number, dice.choice(COMMANDS))
        if dice.random() < 0.4:
            self.at(dice.uniform(100, 350), self.use_controller, commands, "cancel")
        self.at(dice.uniform(0, 5), self.try_iteration, 0)
        for _ in range(2):
            self.at(dice.uniform(0, 200), self.want_person, dice.randrange(3))
        if dice.random() < 0.3:
            self.at(dice.uniform(0, 300), self.hold_run)
        if dice.random() < 0.3:
            self.at(dice.uniform(50, 400), self.end_agent, dice.choice(("COMPLETE", "STUCK", "ERROR")))
        if dice.random() < 0.3:
            self.at(dice.uniform(0, 300), self.freeze_owner, dice.choice((10.0, 100.0, 400.0)))
        if self.weather.clock_steps:
            for _ in range(2):
                self.at(dice.uniform(0, 400), self.step_clock, dice.choice((-3600.0, -40.0, 40.0, 400.0, 3600.0)))
        self.at(10.0, self.tick)


if __name__ == "__main__":
    from .checker import check

    world = World(int(sys.argv[1]), trace=print).run()
    print(world.weather)
    for record in world.log:
        print(record.seq, record.kind, bytes(record.body).decode())
    print(check(world) or "no violation")
