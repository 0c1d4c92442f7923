"""The goals of the closed loop are consistent: who knows the truth and keeps to the rules meets every one of them."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))


@pytest.mark.parametrize("pace", [0.4, 15.0, 90.0])
def test_an_oracle_meets_every_goal_with_every_agent(tmp_path: Path, pace: float) -> None:
    from loop.games import AGENTS
    from loop.judge import judge
    from tests.closed_loop.oracle import play_oracle

    found = {}
    for name, agent in AGENTS.items():
        verdict = judge(play_oracle(agent, pace, tmp_path / name), agent)
        found[name] = [*verdict.misses, f"{verdict.right} of {verdict.judged}"]
        if not verdict.misses and verdict.right == verdict.judged:
            del found[name]
    assert found == {}


def test_there_are_enough_agents_of_every_kind() -> None:
    from loop.games import AGENTS

    kinds = [agent.kind for agent in AGENTS.values()]
    assert len(kinds) >= 24
    assert kinds.count("healthy") >= 10
    assert {"stubborn", "heeding", "relapsing"} <= set(kinds)


def test_a_script_does_the_same_each_time() -> None:
    from loop.games import AGENTS
    from loop.script import Heard, World

    def begin(name: str) -> list[object]:
        script = AGENTS[name].play(World("/home/dev/shop", 15.0, random.Random(name)))
        steps: list[object] = [next(script)]
        with suppress(StopIteration):
            while len(steps) < 20:
                steps.append(script.send(Heard()))
        return steps

    for name in AGENTS:
        assert begin(name) == begin(name)
