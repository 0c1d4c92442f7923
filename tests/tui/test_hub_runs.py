"""Runs of another machine, over a real broker."""

from __future__ import annotations

from pathlib import Path

from interlock.journal import Store
from interlock.link.hub_client import HubClient
from interlock.link.hub_endpoint import HubLink
from interlock.tui import RunSource, Top
from tests.link.broker import Broker

from .looking import Seat, watch
from .stage import Stage, healthy, work


def test_a_run_elsewhere_is_seen_opened_and_paused(stage: Stage, tmp_path: Path) -> None:
    run = stage.begin("far-away")
    healthy(run, stage.clock, 2)
    assert run.run.steering is not None
    with Broker(tmp_path / "js") as broker:
        link = HubLink(broker.settings, run.run.steering.endpoint, run.run.journal)
        link.start()
        source = RunSource(
            Store(tmp_path / "here"),
            stage.config,
            hub=HubClient(broker.settings),
            hub_name="nats://hub.example.com:4222",
            timeout=150,
        )

        async def act(seat: Seat) -> None:
            await seat.sees("far-away", "HOST", "nats://hub.example.com:4222", "● running")
            await seat.press("enter")
            await seat.sees("1 Timeline", "changed 1")
            work(run, stage.clock, "make check", "all is well")
            run.run.journal.flush()
            await seat.sees("all is well")
            await seat.press("p")
            await seat.sees("‖ paused")
            await seat.press("4")
            await seat.sees("pause", "✓ ", "paused at iteration")
            await seat.press("3")
            await seat.sees("Checkpoints")

        try:
            watch(Top(source, clock=stage.clock), act, (110, 30))
        finally:
            source.close()
            link.close()
