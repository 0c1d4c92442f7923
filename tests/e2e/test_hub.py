"""A run that was started with --hub is seen and steered from elsewhere, by way of a real broker."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ..link.broker import Broker
from .running import Place, finish, key_of, until


def test_a_run_on_the_hub_is_listed_and_steered_without_its_store(place: Place, tmp_path: Path) -> None:
    with Broker(tmp_path / "hub") as broker:
        running = place.start(
            "sh", "-c", "touch ready; while :; do sleep 0.02; done", options=("--hub", broker.url, "--name", "far")
        )
        place.wait_for("ready")
        run_id = place.folder.run_id
        # Another machine: a store and a key of its own. They get to know each other.
        other = Place(_made(tmp_path / "other"))
        theirs, ours = (key_of(each) for each in (other, place))
        status, _, err = other.interlock("ps", "--hub", broker.url)
        assert status == 0 and b"not shown" in err and ours.encode() in err, "whose run it is that is not trusted"
        refused = other.interlock("pause", "--hub", broker.url, "far", "--timeout", "1")
        assert refused[0] == 3, "what is not trusted is not there"
        assert other.interlock("hub", "keys", "add", ours, "--role", "owner", "--name", "here")[0] == 0
        unknown = other.interlock("pause", "--hub", broker.url, "far", "--timeout", "1")
        assert unknown[0] == 5 and place.store.runs()[0].status == "running", "a key that the run does not know"
        assert place.interlock("hub", "keys", "add", theirs, "--role", "controller", "--name", "there")[0] == 0

        def listed() -> dict[str, str]:
            status, out, err = other.interlock("ps", "--hub", broker.url, "--json")
            assert status == 0, err
            return {run["run_id"]: run["status"] for run in msgspec.json.decode(out)["runs"]}

        until("it is listed", lambda: listed().get(run_id) == "running")
        assert other.interlock("pause", "--hub", broker.url, "far")[0] == 0
        assert place.store.runs()[0].status == "paused"
        until("that is told", lambda: listed()[run_id] == "paused")
        assert other.interlock("cancel", "--hub", broker.url, run_id)[0] == 0
        assert finish(running)[0] == 130
        until("it is gone from the list", lambda: run_id not in listed())


def test_a_hub_that_is_not_there_holds_nothing_up(place: Place) -> None:
    status, out, err = place.run("echo", "hello", options=("--hub", "nats://127.0.0.1:9"))
    assert (status, out) == (0, b"hello\n"), err
    assert b"interlock: the hub cannot be reached (127.0.0.1:9: Connection refused)" in err


def _made(path: Path) -> Path:
    path.mkdir()
    return path
