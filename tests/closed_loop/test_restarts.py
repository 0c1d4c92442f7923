"""A successor stands where its predecessor stood, wherever the journal is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.core import ManualClock, Record
from interlock.journal import Store
from interlock.journal.interface import JournalReading
from interlock.runtime import Supervisor
from interlock.runtime.decision_pipeline import DecisionPipeline
from interlock.runtime.replay import replay

BENCH = Path(__file__).resolve().parents[2] / "bench"


class Part:
    """A stretch of a journal."""

    def __init__(self, reader: JournalReading, begin: int, end: int | None) -> None:
        self._reader, self._begin, self._end = reader, begin, end

    def last(self, kind: str) -> None:
        return None

    def read(self, after: int = 0, kinds: frozenset[str] | None = None) -> list[Record]:
        return list(self._reader.read(after=after, kinds=kinds))[self._begin : self._end]


@pytest.mark.parametrize("name", ["edit-test", "alternating", "two-problems", "relapse-8", "stuck-subagent"])
def test_a_restart_at_any_point_leads_to_the_same_episodes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    from loop.driver import Product, play, settings
    from loop.games import AGENTS

    clock, agent, config = ManualClock(), AGENTS[name], settings("interlock")
    folder = tmp_path / "work"
    folder.mkdir()
    with Supervisor.open(
        task=agent.task,
        workspace=folder,
        store=Store(tmp_path / "runs"),
        config=config,
        clock=clock,
        checkpoint_store=tmp_path / "checkpoints",
    ) as supervisor:
        play(agent, 15.0, "interlock", Product(supervisor), clock, folder, 80)
        supervisor.run.journal.flush()
        reader, ours = supervisor.run.journal.reader(), supervisor.pipeline.parts.state
        assert ours.episodes, "the agent was answered"
        for cut in (0, 9, 33, 60, 90):
            watches = [
                DecisionPipeline(
                    supervisor.run.spec.run_id,
                    config,
                    supervisor.context,
                    capabilities=supervisor.executor.adapter.capabilities,
                    restorable=True,
                )
                for _ in range(2)
            ]
            replay(watches[0], Part(reader, 0, cut))  # type: ignore[arg-type]
            watches[1].restore(watches[0].save())
            replay(watches[1], Part(reader, cut, None))  # type: ignore[arg-type]
            assert watches[1].parts.state == ours
