"""Driver: plays a script under supervision on an injected clock, as an adapter does, and keeps what happened."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Literal, Protocol

from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Interventions, Runtime, Strategy
from interlock.core import LADDER, Decision, ManualClock, Message, Step, Usage
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.runtime.alerts import Notifier
from interlock.runtime.assembly import Options

from .reading import Account, read_account
from .script import Agent, Heard, Turn, World

HORIZON = 240
"""Calls after which a script that has not ended is left."""

ROOT = "/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir()
"""Where journals and workspaces lie: in memory, for the disk is not what is measured."""

THINKING = 0.7
"""The share of an agent's pace that passes before the call; the rest is the call itself."""

PATIENT = Runtime(step_timeout_ms=60_000)
"""Decisions must not depend on how busy the machine is."""

MODEL = "claude-sonnet-4-5"
_NUMBERS = count()

End = Literal["finished", "horizon", "stopped", "held"]


@dataclass(frozen=True)
class Played:
    """One turn as it went: the steps that it made, its tokens, what was heard, the seconds that it had to wait."""

    turn: Turn
    steps: list[int]
    tokens: int
    heard: Heard
    delayed_s: float


@dataclass
class Game:
    """A whole run: the turns, how it ended, and what the product says of it."""

    agent: str
    pace: float
    under: str
    played: list[Played] = field(default_factory=list)
    end: End = "finished"
    seconds: float = 0.0
    alerts: list[str] | None = None
    account: Account = field(default_factory=Account)


class Keeper(Protocol):
    """Whoever watches an agent: the product or a peer."""

    def ask(self, turn: Turn, usage: Usage) -> tuple[Decision, int]: ...

    def tell(self, turn: Turn) -> tuple[Decision, int]: ...


class Product:
    """The real supervisor."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._call: Step | None = None

    def ask(self, turn: Turn, usage: Usage) -> tuple[Decision, int]:
        """May this call run? Words without a call only come afterwards."""
        if not turn.tool:
            said = replace(self._supervisor.message(turn.said, usage=usage), agent=turn.agent, model=MODEL)
            decision = self._supervisor.after(said)
            # Who only talks never asks: a run that is paused is held all the same.
            held = decision.action == "proceed" and self._supervisor.run.status == "paused"
            return (replace(decision, action="hold") if held else decision), said.index
        call = self._supervisor.call(turn.tool, turn.arguments, said=turn.said)
        call = replace(call, agent=turn.agent, usage=usage, model=MODEL)
        return self._supervisor.before(call), call.index

    def tell(self, turn: Turn) -> tuple[Decision, int]:
        """The call ran and gave this."""
        step = self._supervisor.result(turn.output, error=turn.failed, exit_code=turn.exit_code)
        return self._supervisor.after(replace(step, agent=turn.agent)), step.index


def play(
    agent: Agent, pace: float, under: str, keeper: Keeper, clock: ManualClock, folder: Path, horizon: int = HORIZON
) -> Game:
    """Play the script to its end, to the horizon, or until the run is stopped or held."""
    game = Game(agent.name, pace, under)
    script = agent.play(World(str(folder), pace, random.Random(agent.name)))
    begin = clock.time()
    under_way: list[tuple[Turn, list[int]]] = []
    turn = next(script, None)
    while turn is not None:
        if len(game.played) >= horizon:
            game.end = "horizon"
            break
        number = len(game.played)
        usage = Usage(3000 + 110 * number, turn.output_tokens, turn.cost_usd)
        clock.advance(pace * THINKING)
        decision, step = keeper.ask(turn, usage)
        messages, delay = [*decision.messages], decision.delay_s
        denied, steps = decision.action in ("deny", "defer"), [step]
        if decision.action in ("proceed", "rewrite"):
            clock.advance(delay + pace * (1 - THINKING) + turn.seconds)
            _write(folder, turn)
            if turn.tool:
                under_way.append((turn, steps))
            if len(under_way) >= agent.parallel:
                ran, of = under_way.pop(0)
                decision, step = keeper.tell(ran)
                of.append(step)
                messages += decision.messages
        heard = _heard(messages, denied=denied)
        game.played.append(Played(turn, steps, usage.tokens, heard, delay))
        if decision.action in ("stop", "hold"):
            game.end = "stopped" if decision.action == "stop" else "held"
            break
        try:
            turn = script.send(heard)
        except StopIteration:
            break
    game.seconds = clock.time() - begin
    return game


def play_supervised(
    agent: Agent, pace: float, under: str, config: Config, *, horizon: int = HORIZON, alerts: list[str] | None = None
) -> Game:
    """Under the product. With `alerts` a person can be reached, and what they are told is added to it."""
    with workspace() as (folder, root):
        clock = ManualClock()
        with Supervisor.open(
            task=agent.task,
            workspace=folder,
            store=Store(root / "runs"),
            checkpoint_store=root / "checkpoints",
            clock=clock,
            config=config,
            **_channel(alerts),
        ) as supervisor:
            game = play(agent, pace, under, Product(supervisor), clock, folder, horizon)
            supervisor.run.journal.flush()
            if supervisor.faults:
                raise RuntimeError(f"{agent.name} at {pace:g} s: supervision failed {supervisor.faults} times")
            assert supervisor.run.folder is not None
            game.account = read_account(supervisor.run.folder)
    game.alerts = alerts
    return game


def _channel(alerts: list[str] | None) -> Options:
    """A channel that ends in this list."""
    if alerts is None:
        return {}
    return {"notifier": Notifier({"list": lambda told: alerts.append(told.title)})}


def settings(strategy: str) -> Config:
    """The defaults, with another strategy where one is named."""
    interventions = Interventions() if strategy == "interlock" else Interventions(strategy=Strategy(type=strategy))
    return Config(runtime=PATIENT, interventions=interventions)


@contextmanager
def workspace() -> Iterator[tuple[Path, Path]]:
    """A small workspace, and a folder beside it for what the product keeps."""
    # Only digits differ between two games: words in a path are words to the detectors.
    root = Path(ROOT) / f"loop-bench-{os.getuid()}" / f"{os.getpid()}-{next(_NUMBERS)}"
    shutil.rmtree(root, ignore_errors=True)
    folder = root / "work"
    try:
        for name, text in (("README.md", "# Shop\n"), ("src/cart.py", "value = 0\n"), ("src/prices.py", "value = 0\n")):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        yield folder, root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _write(folder: Path, turn: Turn) -> None:
    for name, text in turn.writes.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _heard(messages: list[Message], *, denied: bool) -> Heard:
    levels = [
        LADDER.index(message.meta.intervention)  # type: ignore[arg-type]
        for message in messages
        if message.meta is not None and message.meta.intervention in LADDER
    ]
    return Heard(tuple(levels), tuple(message.content for message in messages), denied)
