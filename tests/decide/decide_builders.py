"""Tiny builders for the tests of the controller."""

from __future__ import annotations

from typing import Any

import msgspec

from interlock.config.schema import Interventions, Strategy
from interlock.core import EVERY_CAPABILITY, Capability, CheckpointInfo, Context, Issue, RunState
from interlock.decide import Controller, ControllerState, Ruling, Rulings, Situation
from interlock.decide.strategies import band

START = 1_700_000_000.0
FREE = {"intervention_cooldown_seconds": 0, "delay": 0}


def issue(kind: str = "loop", severity: str | None = "medium", step: int = 1, **changes: Any) -> Issue:
    fields = {"id": f"{kind}:{step}", "type": kind, "step": step, "description": f"a case of {kind}"}
    return Issue(**{**fields, "severity": severity, **changes})


def by_effect(situation: Situation) -> int:
    """A strategy of one's own: the mildest first, then the last level moved by what it achieved."""
    last, effect = situation.last_level, situation.effectiveness
    if last is None:
        return band(situation.combined) if situation.issue.severity in ("high", "critical") else 0
    if effect is None:
        return last
    if effect < situation.config.strategy.effectiveness_threshold:
        return last + 1
    return last - 1 if effect >= 0.9 else last


def config(strategy: str = "by_effect", *, delay: float = 120, steps: int = 10, **changes: Any) -> Interventions:
    chosen = Strategy(type=strategy, escalation_delay_seconds=delay, effectiveness_steps=steps)
    return Interventions(strategy=chosen, **changes)


class Driver:
    """A run with its controller: hands states on, so that a test reads as what happens."""

    def __init__(
        self,
        settings: Interventions | None = None,
        capabilities: frozenset[Capability] = EVERY_CAPABILITY,
        *,
        restorable: bool | None = True,
        store: bool = False,
        safe: bool = True,
        **options: Any,
    ) -> None:
        settings = settings or config()
        if settings.strategy.type == "by_effect":
            options["strategies"] = {**(options.get("strategies") or {}), "by_effect": by_effect}
        self.controller = Controller(settings, capabilities, restorable=restorable, **options)
        self.state, self.restorable = self.controller.start(), restorable
        self.run = RunState(run_id="run-1", context=Context(original_prompt="Fix the tests"))
        self.now = START
        self.step = 0
        self.store, self.safe = store, safe
        self.records: list[Any] = []
        self.judged: list[Any] = []

    def meet(self, *issues: Issue, after: float = 0, steps: int = 1) -> Rulings:
        """These issues come up, so many seconds and steps later."""
        self.now += after
        self.step += steps
        self._keep()
        placed = [msgspec.structs.replace(found, step=self.step, id=f"{found.type}:{self.step}") for found in issues]
        run = msgspec.structs.replace(self.run, step=self.step)
        if self.safe and self.restorable:
            run = msgspec.structs.replace(
                run, checkpoints=(CheckpointInfo(id="c1", time=self.now, step=0),), rollbacks=0
            )
        self.state, rulings = self.controller.decide(self.state, placed, run, self.now)
        self.run = rulings.run
        self.records += [ruling.intervention for ruling in rulings.rulings]
        self.judged += rulings.judged
        return rulings

    def ruling(self, found: Issue, after: float = 0, steps: int = 1) -> Ruling:
        """What one issue gets."""
        return self.meet(found, after=after, steps=steps).rulings[0]

    def type(self, found: Issue, after: float = 0, steps: int = 1) -> str:
        """The rung that one issue gets; in brackets what did not act."""
        made = self.ruling(found, after, steps).intervention
        return made.type if made.outcome == "pending" else f"({made.outcome}: {made.type})"

    def work(self, steps: int = 10, *, progressed: bool = True, seen: tuple[str, ...] = ()) -> list[Any]:
        """Steps pass."""
        found = []
        for _ in range(steps):
            self.step += 1
            self._keep()
            self.state, judged = self.controller.observe_step(self.state, self.step, seen, progressed, self.now)
            found += judged
        self.judged += found
        return found

    def _keep(self) -> None:
        if self.store:
            self.state = msgspec.json.decode(msgspec.json.encode(self.state), type=ControllerState)
            self.run = msgspec.json.decode(msgspec.json.encode(self.run), type=RunState)


def want(level: int | str, settings=None, **options) -> Driver:
    """A run whose strategy always wants the same."""
    return Driver(settings or config("mine", **FREE), strategies={"mine": lambda found: level}, **options)
