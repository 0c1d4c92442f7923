"""The memory of a run's owner stays bounded, whatever the agent and its model's API send."""

from __future__ import annotations

from pathlib import Path

import pytest

LONG = pytest.mark.torture


@pytest.fixture(autouse=True)
def bench_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "bench"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("megabytes", [40, pytest.param(600, marks=LONG)])
@pytest.mark.parametrize("which", [pytest.param(1, id="bomb"), *(pytest.param(n, marks=LONG) for n in (2, 3, 4))])
def test_a_hostile_answer_costs_the_owner_little_memory(which: int, megabytes: int) -> None:
    import hostile

    answer = list(hostile.answers(megabytes * hostile.MB).values())[which]
    peak, _ = hostile.took(answer, "ask", 0)
    assert peak < hostile.MOST_MB


@pytest.mark.timeout(600)
@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=LONG)])
@pytest.mark.parametrize("what", ["proxy", *(pytest.param(what, marks=LONG) for what in ("steps", "control"))])
def test_slow_connections_cost_the_owner_little_memory(what: str, count: int) -> None:
    import hostile

    peak, _ = hostile.took(lambda: hostile.whole(b"{}"), what, count)
    assert peak < hostile.MOST_MB
