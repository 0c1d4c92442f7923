"""A run ends what its command left running, and says so; or leaves it, and says that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.adapters.command import left_running
from interlock.adapters.command.left_running import end_left_running
from interlock.core import InvalidState, RunSpec
from interlock.journal import PARKED, RunFolder
from interlock.process import ProcessTree, attach, spawn

from .running import Place, until

DAEMON = (
    "(setsid sleep 600 >/dev/null 2>&1 & echo $! > daemon);"
    " until grep -q sleep /proc/$(cat daemon)/comm; do sleep 0.05; done; touch made"
)
"""Leaves a process behind that has its own name by then."""


@pytest.mark.parametrize("level", ["auto", "off"])
def test_a_run_ends_what_its_command_left_running(place: Place, level: str) -> None:
    status, _, err = place.run("sh", "-c", DAEMON, options=("--contain", level))
    assert status == 0 and b"ended with status 0; ended what it left running: sleep (" in err, err
    assert place.processes() == [] and place.told()["processes_left"] == 0
    (end,) = place.records("end")
    assert "ended what it left running: sleep (" in end["message"]


def test_a_daemon_is_left_running_where_that_was_asked_for(place: Place) -> None:
    status, _, err = place.run("sh", "-c", DAEMON, options=("--leave-running", "--no-checkpoints"))
    assert status == 0 and b"still running, and no longer supervised: sleep (" in err, err
    assert b"could not be ended" not in err
    assert len(place.processes()) == place.told()["processes_left"] == 1


def test_the_owner_ends_it_where_the_front_is_gone(place: Place) -> None:
    front = place.start("sh", "-c", f"{DAEMON}; while test ! -e go; do sleep 0.05; done")
    until("the owner has the command", lambda: place.store.runs() and place.records("started"))
    front.kill()
    front.wait()
    (place.workspace / "go").touch()
    until("it has ended", lambda: place.records("end"))
    assert "ended what it left running: sleep (" in place.records("end")[0]["message"]
    assert place.processes() == []


@pytest.fixture(params=["cgroup", "signals"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ProcessTree]:
    """A command that has ended, and what it left is told by a file what to do."""
    script = "trap '' TERM; (while test ! -e go; do sleep 0.05; done; echo late > late) & exit 0"
    spec = RunSpec(run_id="x", argv=("sh", "-c", script), cwd=str(tmp_path))
    try:
        made = spawn(spec, mechanism=request.param)
    except InvalidState as error:
        pytest.skip(str(error))
    made.wait()
    yield made
    made.end(0)


def test_what_ends_by_itself_is_not_disturbed(
    tree: ProcessTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_running, "LINGER_S", 60.0)
    (tmp_path / "go").touch()
    assert end_left_running(tree, RunFolder(tmp_path), leave=False) == ""
    assert (tmp_path / "late").read_text() == "late\n"


def test_what_is_left_of_a_client_that_died_while_parked_does_not_wait_for_the_limit(
    tree: ProcessTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(left_running, "LINGER_S", 0.1)
    monkeypatch.setattr(left_running, "GRACE_S", 0.1)
    (tmp_path / PARKED).touch()
    attach(tree.handle()).freeze()
    assert end_left_running(tree, RunFolder(tmp_path), leave=False).startswith("ended what it left running")


def test_what_ignores_a_request_is_killed_but_not_while_it_is_paused(
    tree: ProcessTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    monkeypatch.setattr(left_running, "LINGER_S", 0.3)
    monkeypatch.setattr(left_running, "GRACE_S", 0.1)
    said: list[str] = []
    other = attach(tree.handle())
    other.freeze()
    thread = threading.Thread(target=lambda: said.append(end_left_running(tree, RunFolder(tmp_path), leave=False)))
    thread.start()
    thread.join(1.0)
    assert thread.is_alive() and other.frozen()
    other.thaw()
    thread.join(150)
    assert said and said[0].startswith("ended what it left running: sh (")
    assert not tree.alive()
