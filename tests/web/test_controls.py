"""Requests: sent, accepted, done, failed or unknown, and never more than is known."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from interlock.core import RunSpec
from interlock.journal import JournalEntry, Store
from interlock.link.requests import SentRequest
from interlock.report import Acked, ControlCommand, ControlResult, merge_controls
from interlock.runtime import Run
from interlock.web.serve import make_app
from interlock.web.source import Source

from ..waiting import eventually
from .conftest import BASE, TOKEN
from .runs import stop_run, supervised, work, write_run

CHANGE = {"x-interlock": "1", "origin": BASE}


def send(client: TestClient, run_id: str, command: str, **payload: object) -> dict[str, object]:
    answer = client.post(f"/api/runs/{run_id}/control", json={"command": command, "payload": payload}, headers=CHANGE)
    assert answer.status_code == 202, answer.text
    return dict(answer.json())


def settled(client: TestClient, run_id: str, request_id: object) -> dict[str, object]:
    """What the run's page shows of a request when it is pending no more."""

    def over() -> list[dict[str, object]]:
        shown = client.get(f"/api/runs/{run_id}").json()["controls"]
        return [each for each in shown if each["request_id"] == request_id and each["outcome"] != "pending"]

    return dict(eventually(over, "an answer")[0])


def test_a_request_is_shown_with_ack_and_result_from_the_journal(client: TestClient, store: Store) -> None:
    with supervised(store, "steered") as supervisor:
        work(supervisor, 1)
        sent = send(client, "steered", "pause")
        assert (sent["state"], sent["accepted"]) == ("sent", False)
        shown = settled(client, "steered", sent["request_id"])
        assert shown["outcome"] == "success" and shown["acked"] and shown["answered"]
        assert client.get("/api/runs/steered").json()["status"]["shown"] == "paused"
        again = settled(client, "steered", send(client, "steered", "pause")["request_id"])
        assert (again["outcome"], again["code"]) == ("failure", "invalid_state")
        assert settled(client, "steered", send(client, "steered", "resume")["request_id"])["outcome"] == "success"


def test_without_an_owner_the_outcome_is_unknown_and_not_failed(store: Store) -> None:
    write_run(store, "orphan", end=False)
    app = make_app(Source(store), TOKEN, control_timeout=0.3)
    with TestClient(app, base_url=BASE, headers={"authorization": f"Bearer {TOKEN}"}) as hasty:
        shown = settled(hasty, "orphan", send(hasty, "orphan", "cancel")["request_id"])
    assert shown["outcome"] == "unknown" and "acked" not in shown and "answered" not in shown


def test_a_run_that_has_ended_says_so(client: TestClient, store: Store) -> None:
    with supervised(store, "over"):
        pass
    shown = settled(client, "over", send(client, "over", "pause")["request_id"])
    assert (shown["outcome"], shown["code"]) == ("failure", "not_found")


def test_a_payload_that_does_not_fit_is_refused_before_it_is_sent(client: TestClient, store: Store) -> None:
    write_run(store, "picky", end=False)
    for command, payload in (("escalate", {}), ("approve", {"step": "x"}), ("rollback", {"paths": []})):
        answer = client.post("/api/runs/picky/control", json={"command": command, "payload": payload}, headers=CHANGE)
        assert answer.status_code == 400 and command in answer.json()["error"]
    assert client.get("/api/runs/picky").json()["controls"] == []


def test_the_journals_word_counts_more_than_what_the_sender_knows() -> None:
    known = ControlCommand(request_id="a", command="pause", requested_at=2.0, ack=Acked("ACK", 2.1))
    ours = SentRequest(
        request_id="a", run_id="r", command="pause", payload={}, reason=None, time=1.9, state="unknown", message="?"
    )
    (shown,) = merge_controls([known], [ours], owned=True)
    assert (shown.outcome, shown.acked, shown.requested, shown.in_journal) == ("unknown", 2.1, 1.9, True)
    known.result = ControlResult(None, "success", 3.0, "paused")
    (shown,) = merge_controls([known], [ours], owned=False)
    assert (shown.outcome, shown.answered, shown.message) == ("success", 3.0, "paused")


def test_going_back_needs_no_owner_where_the_run_has_ended(client: TestClient, store: Store, home: Path) -> None:
    workspace = home / "ended"
    workspace.mkdir()
    (workspace / "kept.txt").write_text("before\n")
    with supervised(store, "changer", workspace) as supervisor:
        call = supervisor.call("bash", {"command": "echo after > kept.txt"})
        supervisor.before(call)
        (workspace / "kept.txt").write_text("after\n")
        supervisor.after(supervisor.result("", exit_code=0))
    first = client.get("/api/runs/changer").json()["checkpoints"][0]["id"]
    found = client.get(f"/api/runs/changer/checkpoints/{first}/diff?against=now").json()
    assert [change["path"] for change in found["changes"]] == ["kept.txt"] and "+after" in found["patch"]
    plan = client.get(f"/api/runs/changer/checkpoints/{first}/preview").json()
    assert [change["path"] for change in plan["changes"]] == ["kept.txt"]
    assert (workspace / "kept.txt").read_text() == "after\n"
    done = client.post("/api/runs/changer/rollback", json={"to": first}, headers=CHANGE)
    assert done.status_code == 200 and done.json()["restored"]["safety_id"]
    assert (workspace / "kept.txt").read_text() == "before\n"


def test_the_start_of_a_long_run_is_known_however_many_checkpoints_came_since(client: TestClient, store: Store) -> None:
    with Run.create(RunSpec(run_id="marathon"), store) as run:
        run.append_entries(
            [JournalEntry("checkpoint", {"id": f"c{n}", "time": n, "step": n}) for n in range(1, 700)], durable=True
        )
    head = client.get("/api/runs/marathon").json()
    assert (head["start"]["id"], head["checkpoints"][-1]["id"]) == ("c1", "c699")


def test_an_incident_can_be_left_stopped_once(client: TestClient, store: Store, home: Path) -> None:
    incident = stop_run(store, "stopped", ("agent",), home)
    address = f"/api/incidents/{incident}"
    assert client.post(f"{address}/continue", json={"option": "pray"}, headers=CHANGE).status_code == 400
    closed = client.post(f"{address}/continue", json={"option": "rollback_and_retry"}, headers=CHANGE)
    assert closed.status_code == 409 and "no safe checkpoint" in closed.json()["error"]
    assert client.post(f"{address}/continue", json={"option": "abort"}, headers=CHANGE).status_code == 202
    eventually(lambda: client.get(address).json()["way"]["state"] != "starting")
    page = client.get(address).json()
    assert (page["way"]["state"], page["incident"]["status"]) == ("aborted", "aborted")
    again = client.post(f"{address}/continue", json={"option": "abort"}, headers=CHANGE)
    assert again.status_code == 409 and "settled" in again.json()["error"]
