"""A stage: runs made by the real supervisor, live and over, with a clock that stands still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.control import Command, new_request
from interlock.core import Applied, Context, Directive, Limits, ManualClock, RunSpec, Usage
from interlock.demo.player import Play
from interlock.journal import Store
from interlock.link import ask_owner
from interlock.runtime import Supervisor
from interlock.runtime.approvals import Approvals
from interlock.runtime.assembly import DirectAdapter
from interlock.tui import RunSource, Top
from tests.failing_agent import SCENES, TASK, make_workshop

START = 1_700_000_000.0
PATIENT = Runtime(step_timeout_ms=60_000)
"""On a busy machine supervision takes longer, and finds the same."""


class Switching(DirectAdapter):
    """An agent that can change models."""

    name = "scripted"
    capabilities = DirectAdapter.capabilities | {"switch_model"}

    def apply(self, directive: Directive) -> Applied:
        return Applied(True, "done")


class Stage:
    """A store of runs. What is begun is ended with `close`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = ManualClock(START)
        self.store = Store(root / "runs", self.clock)
        self.config = Config(limits=Limits(max_steps=40, max_cost_usd=2.0), runtime=PATIENT)
        self.checkpoints = root / "checkpoints"
        self._begun: list[Supervisor] = []

    def begin(
        self,
        name: str,
        *,
        task: str = "Fix the parser so that its tests pass",
        model: str = "claude-haiku-4-5",
        workspace: Path | None = None,
        approvals: Approvals | None = None,
        config: Config | None = None,
        adapter: str = "scripted",
    ) -> Supervisor:
        """A live run with this name and id."""
        folder = {"workspace": workspace} if workspace is not None else {}
        made = Supervisor.open(
            spec=RunSpec(
                run_id=name, name=name, task=task, model=model, adapter=adapter,
                workspace=str(workspace) if workspace is not None else None,
            ),
            adapter=Switching(),
            config=config or self.config,
            store=self.store,
            checkpoint_store=self.checkpoints,
            clock=self.clock,
            approvals=approvals or Approvals(),
            **folder,
        )  # fmt: skip
        self._begun.append(made)
        return made

    def spec(self, name: str) -> RunSpec:
        return RunSpec(run_id=name, name=name, task="Fix the parser", adapter="scripted")

    def demo(self, name: str = "fix-parser") -> None:
        """A run with every kind of problem, all five levels, an emergency stop."""
        root = self.root / name
        root.mkdir()
        workshop = make_workshop(root)
        supervisor = Supervisor.open(
            spec=RunSpec(
                run_id=name, name=name, task=TASK, model="claude-sonnet-4-5", adapter="scripted", workspace=str(root)
            ),
            adapter=Switching(),
            context=Context(original_prompt=TASK, expected_paths=("src", "tests"), workspace=str(root)),
            config=Config(runtime=PATIENT),
            store=self.store,
            checkpoint_store=self.checkpoints,
            clock=self.clock,
        )
        with supervisor:
            for _ in Play(supervisor, workshop, self.clock, SCENES).run():
                pass

    def source(self, timeout: float = 20.0) -> RunSource:
        return RunSource(self.store, self.config, checkpoint_store=self.checkpoints, timeout=timeout)

    def top(self, timeout: float = 20.0) -> Top:
        return Top(self.source(timeout), clock=self.clock)

    def order(self, supervisor: Supervisor, command: Command) -> None:
        """A command, as a second terminal sends it."""
        assert supervisor.run.folder is not None
        request = new_request(f"order-{command}", command, supervisor.run.folder.run_id)
        assert ask_owner(supervisor.run.folder, request, timeout=150).outcome == "success"

    def lose(self, supervisor: Supervisor) -> None:
        """The owner of a live run goes without a word."""
        self._begun.remove(supervisor)
        supervisor.run.close()

    def find_again(self, supervisor: Supervisor) -> Supervisor:
        """A new owner takes the run up."""
        assert supervisor.run.folder is not None
        again = Supervisor.reopen(
            supervisor.run.folder,
            config=self.config,
            adapter=Switching(),
            checkpoint_store=self.checkpoints,
            clock=self.clock,
        )
        self._begun.append(again)
        return again

    def close(self) -> None:
        for supervisor in self._begun:
            supervisor.close()


def work(supervisor: Supervisor, clock: ManualClock, command: str, output: str = "", *, failed: bool = False) -> None:
    """One call and its result, two and ten seconds after what came before."""
    clock.advance(10)
    step = replace(supervisor.call("bash", {"command": command}), usage=Usage(1200, 300, cost_usd=0.03))
    decision = supervisor.before(step)
    if decision.action not in ("proceed", "rewrite"):
        return
    clock.advance(2)
    supervisor.after(supervisor.result(output, error=failed, exit_code=1 if failed else 0))


def healthy(supervisor: Supervisor, clock: ManualClock, count: int) -> None:
    """Steps that nobody minds."""
    for number in range(count):
        work(supervisor, clock, f"sed -i s/a{number}/b{number}/ src/part{number}.py", f"changed {number}")
    supervisor.run.journal.flush()


@contextmanager
def staged(root: Path) -> Iterator[Stage]:
    stage = Stage(root)
    try:
        yield stage
    finally:
        stage.close()
