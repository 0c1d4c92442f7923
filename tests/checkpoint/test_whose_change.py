"""Whose change was it: a rollback of a run takes back its own, and what a person changed stays."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints, OwnChanges

from .conftest import Open
from .mutations import Hand
from .picture import names, picture


def test_what_a_person_changed_is_named_and_left_alone(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    for name in ("agents", "persons", "both"):
        (workspace / name).write_text("old")
    start = checkpoints.create("start")
    (workspace / "agents").write_text("by the agent")
    (workspace / "both").write_text("by the agent")
    (workspace / "new").write_text("by the agent")
    checkpoints.create("after a step", own=True)
    (workspace / "persons").write_text("by a person")
    (workspace / "both").write_text("by a person")
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert [(left.path, left.reason) for left in done.left_alone] == [
        ("both", "possibly not this run's work"),
        ("persons", "possibly not this run's work"),
    ]
    assert {p.name: p.read_text() for p in workspace.iterdir()} == {
        "agents": "old",
        "persons": "by a person",
        "both": "by a person",
    }


def test_force_takes_a_persons_changes_too(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "persons").write_text("old")
    start = checkpoints.create()
    (workspace / "persons").write_text("by a person")
    done = checkpoints.restore(start.id, own_changes=OwnChanges(), force=True)
    assert done.left_alone == ()
    assert (workspace / "persons").read_text() == "old"


def test_without_a_run_everything_that_differs_goes_back(checkpoints: Checkpoints, workspace: Path) -> None:
    start = checkpoints.create()
    (workspace / "anyones").write_text("x")
    checkpoints.restore(start.id)
    assert names(workspace) == []


def test_the_record_of_own_changes_follows_deletions_and_folders(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "folder" / "deep").mkdir(parents=True)
    (workspace / "folder" / "deep" / "file").write_text("old")
    start = checkpoints.create()
    before = picture(workspace)
    shutil.rmtree(workspace / "folder")
    (workspace / "folder").write_text("a file now")
    checkpoints.create(own=True)
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert done.left_alone == () and done.verified
    assert picture(workspace) == before


def test_a_folder_that_holds_a_persons_file_stays(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    start = checkpoints.create()
    (workspace / "new").mkdir()
    (workspace / "new" / "agents").write_text("x")
    checkpoints.create(own=True)
    (workspace / "new" / "persons").write_text("y")
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert [left.path for left in done.left_alone] == ["new", "new/persons"]
    assert names(workspace / "new") == ["persons"]


@pytest.mark.parametrize("seed", range(12))
def test_whatever_a_person_changed_stays_as_the_person_left_it(
    open_checkpoints: Open, workspace: Path, seed: int
) -> None:
    draw = random.Random(seed)
    hand = Hand(workspace)
    checkpoints = open_checkpoints(run_id="run-1")

    def meddle(times: int) -> None:
        for _ in range(times):
            path = b"/".join(draw.choices([b"a", b"b", b"c"], k=draw.randrange(1, 4)))
            act = draw.randrange(6)
            if act == 0:
                hand.delete(hand.pick(draw.randrange(100)))
            elif act == 1:
                hand.make_folder(path, 0o755)
            elif act == 2:
                hand.link(path, b"a")
            elif act == 3:
                hand.chmod(hand.pick(draw.randrange(100)), draw.choice([0o600, 0o755]))
            else:
                hand.write(path, draw.randbytes(8), 0o644)

    def contents() -> dict[bytes, tuple[object, ...]]:
        return {path: seen[:2] if seen[0] == "folder" else seen for path, seen in picture(workspace).items()}

    meddle(15)
    start = checkpoints.create()
    for _ in range(3):
        meddle(4)
        checkpoints.create(own=True)
    agents = contents()
    meddle(4)
    persons = contents()
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert done.verified, done.wrong
    after = contents()
    for path in agents.keys() | persons.keys():
        if agents.get(path) != persons.get(path):
            assert after.get(path) == persons.get(path), path


def test_a_file_changed_after_the_safety_checkpoint_is_left_alone(checkpoints: Checkpoints, workspace: Path) -> None:
    for name in ("a", "b"):
        (workspace / name).write_text("old")
    saved = checkpoints.create()
    for name in ("a", "b"):
        (workspace / name).write_text("new")

    def meddle(done: int, total: int) -> None:
        (workspace / "b").write_text("just now")

    done = checkpoints.restore(saved.id, progress=meddle)
    assert [(left.path, left.reason) for left in done.left_alone] == [("b", "changed while the rollback ran")]
    assert (workspace / "b").read_text() == "just now"
