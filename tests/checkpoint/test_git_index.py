"""A repository's index: whoever only looks, with git status or an editor, has not changed it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.checkpoint import Checkpoints
from interlock.checkpoint.comparison import is_index, read_index, same_index
from interlock.core import CheckpointInfo

from .conftest import Open

ME = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def git(workspace: Path, *words: str) -> str:
    done = subprocess.run(["git", *ME, *words], cwd=workspace, check=True, capture_output=True, text=True)
    return done.stdout


def repository(workspace: Path, *options: str) -> Path:
    git(workspace, "init", "-q", *options)
    for name in ("a.txt", "deep/b.txt", "deep/c.txt", "x" * 200):
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(f"{name}\n")
    git(workspace, "add", ".")
    git(workspace, "commit", "-qm", "first")
    return workspace / ".git" / "index"


def look(workspace: Path) -> None:
    """As somebody does who looks at a repository: git writes down anew how old its files are."""
    for path in workspace.rglob("*.txt"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
    before = (workspace / ".git" / "index").read_bytes()
    git(workspace, "status")
    assert (workspace / ".git" / "index").read_bytes() != before


def wreck(checkpoints: Checkpoints, workspace: Path) -> CheckpointInfo:
    """A run that commits something wrong; gives the checkpoint before it."""
    repository(workspace)
    start = checkpoints.create("start")
    (workspace / "a.txt").write_text("oops\n")
    git(workspace, "commit", "-qam", "wreck")
    checkpoints.create("after a step", own=True)
    return start


def test_an_undo_takes_a_repository_back_though_somebody_looked(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    start = wreck(checkpoints, workspace)
    look(workspace)
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert done.left_alone == ()
    assert git(workspace, "status", "--porcelain") == ""
    look(workspace)
    assert checkpoints.preview_undo().left_alone == ()
    done = checkpoints.undo()
    assert (done.left_alone, done.verified) == ((), True)
    assert git(workspace, "status", "--porcelain") == ""
    assert "wreck" in git(workspace, "log", "-1")


def test_what_somebody_staged_is_theirs(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    start = wreck(checkpoints, workspace)
    (workspace / "persons").write_text("new")
    git(workspace, "add", "persons")
    done = checkpoints.restore(start.id, own_changes=checkpoints.own_changes(start.id))
    assert ".git/index" in [left.path for left in done.left_alone]


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_kind_of_index_is_read(workspace: Path, options: tuple[str, ...], version: str) -> None:
    index = repository(workspace, *options)
    (workspace / "meant").write_text("to be added later")
    git(workspace, "update-index", "--index-version", version)
    if version != "2":
        git(workspace, "add", "-N", "meant")
    said = read_index(index.read_bytes())
    assert said is not None
    listed = [line.split(maxsplit=3) for line in git(workspace, "ls-files", "--stage").splitlines()]
    assert [(f"{int.from_bytes(mode):o}", held.hex(), name.decode()) for mode, held, _, _, name in said] == [
        (mode, held, name) for mode, held, _, name in listed
    ]
    before = index.read_bytes()
    look(workspace)
    assert same_index(before, index.read_bytes())
    (workspace / "a.txt").write_text("other")
    git(workspace, "add", "a.txt")
    assert not same_index(before, index.read_bytes())


def test_an_index_that_lies_in_two_files_is_not_read(workspace: Path) -> None:
    index = repository(workspace)
    git(workspace, "update-index", "--split-index")
    assert read_index(index.read_bytes()) is None


@given(st.binary(max_size=300), st.sampled_from([b"", b"DIRC\0\0\0\2\0\0\0\1", b"DIRC\0\0\0\4\0\0\0\2"]))
def test_what_is_no_index_says_nothing(rest: bytes, head: bytes) -> None:
    assert read_index(head + rest) is None
    assert not same_index(head + rest, head + rest)


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        (".git/index", True),
        ("deep/.git/index", True),
        (".git/modules/sub/index", True),
        (".git/index.lock", False),
        ("src/index", False),
        (".github/index", False),
    ],
)
def test_where_an_index_lies(path: str, is_one: bool) -> None:
    assert is_index(path) is is_one
