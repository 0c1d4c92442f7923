"""Runs to read: made by the real supervisor from a scripted agent."""

from __future__ import annotations

from pathlib import Path

from interlock.config import Config
from interlock.core import Context, ManualClock
from interlock.demo.player import Play
from interlock.journal import Journal, RunFolder, RunSummary, Store
from interlock.runtime import Supervisor
from tests.failing_agent import SCENES, TASK, make_workshop
from tests.runtime.scripted import START, feed, open_run, steps


def scripted_run(root: Path, count: int = 200, *, seed: int = 1, close: bool = True) -> Supervisor:
    """A run that works, loops, fails and spends."""
    clock = ManualClock(START)
    supervisor = open_run(root, clock)
    feed(supervisor, clock, steps(seed, count))
    supervisor.run.journal.flush()
    if close:
        supervisor.close()
    return supervisor


def demo_run(root: Path) -> RunFolder:
    """A run with every kind of problem, checkpoints, a rollback, an emergency stop with its incident."""
    workshop = make_workshop(_made(root / "workspace"))
    clock = ManualClock(START)
    supervisor = Supervisor.open(
        task=TASK,
        name="demo",
        workspace=workshop.root,
        context=Context(original_prompt=TASK, expected_paths=("src", "tests"), workspace=str(workshop.root)),
        config=Config(),
        store=Store(root / "runs"),
        checkpoint_store=root / "checkpoints",
        clock=clock,
    )
    with supervisor:
        for _ in Play(supervisor, workshop, clock, SCENES).run():
            pass
    assert supervisor.run.folder is not None
    return supervisor.run.folder


def folder_of(supervisor: Supervisor) -> RunFolder:
    assert supervisor.run.folder is not None
    return supervisor.run.folder


def add(folder: RunFolder, entries: list, summary: RunSummary | None = None) -> None:
    """Write records as another owner would."""
    with Journal.open(folder) as journal:
        journal.append(entries, durable=True, summary=summary)


def _made(path: Path) -> Path:
    path.mkdir(parents=True)
    return path
