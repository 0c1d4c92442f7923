"""With a hub the dashboard shows and steers runs of other machines too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from interlock.journal import JournalEntry, Store
from interlock.link.hub_client import HubClient
from interlock.link.hub_endpoint import HubLink
from interlock.web.serve import make_app
from interlock.web.source import Source

from ..e2e.running import until
from ..link.broker import Broker
from ..link.owned import Owned
from .conftest import BASE, TOKEN
from .test_controls import send, settled


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[tuple[TestClient, Owned]]:
    """A client of a dashboard here, and a run there."""
    with Broker(tmp_path / "js") as broker, Owned(tmp_path / "there", run_id="far") as owned:
        link = HubLink(broker.settings, owned.endpoint, owned.journal)
        link.start()
        source = Source(Store(tmp_path / "here"), HubClient(broker.settings))
        headers = {"authorization": f"Bearer {TOKEN}"}
        with TestClient(make_app(source, TOKEN), base_url=BASE, headers=headers) as client:
            yield client, owned
        link.close()


def test_a_run_of_another_machine_is_listed_read_and_steered(elsewhere: tuple[TestClient, Owned]) -> None:
    client, owned = elsewhere
    until("it is listed", lambda: client.get("/api/runs").json()["runs"])
    (row,) = client.get("/api/runs").json()["runs"]
    assert (row["run_id"], row["status"]) == ("far", "running") and row["host"]
    shown = settled(client, "far", send(client, "far", "pause")["request_id"])
    assert shown["outcome"] == "success" and owned.endpoint.state.status == "paused"
    step = {"step": {"run_id": "far", "index": 1, "role": "assistant", "kind": "message", "content": "from afar"}}
    owned.journal.append([JournalEntry("step", step)])
    lines = "/api/runs/far/lines?text=afar"
    until("the step is shown", lambda: client.get(lines).json()["lines"])
    assert client.get("/api/runs/far/series").status_code == 200


def test_what_is_only_there_is_said_with_where(elsewhere: tuple[TestClient, Owned]) -> None:
    client, _ = elsewhere
    until("it is listed", lambda: client.get("/api/runs").json()["runs"])
    for path in ("/pictures", "/checkpoints/c1/diff", "/checkpoints/c1/preview"):
        answer = client.get(f"/api/runs/far{path}")
        assert answer.status_code == 409 and "are on" in answer.json()["error"]
    assert client.get("/api/runs/nowhere").status_code == 404
