"""File systems that keep times in whole seconds: a change within the second of a checkpoint is still found."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.checkpoint.entry import COARSE_NS, SECOND, make_entry

from .conftest import Open


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    """On a disk of its own: an ext4 with inodes so small that they have no room for parts of a second."""
    place, image = tmp_path / "disk", tmp_path / "image"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(8 * 1024 * 1024)
    for words in (["mkfs.ext4", "-q", "-F", "-I", "128", image], ["mount", "-o", "loop", image, place]):
        if subprocess.run(words, capture_output=True, check=False).returncode:
            pytest.skip("no such disk can be made here")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


@pytest.mark.parametrize("again", [False, True], ids=["the same process", "another one"])
def test_a_change_in_the_second_of_a_checkpoint_is_found(open_checkpoints: Open, workspace: Path, again: bool) -> None:
    file, checkpoints = workspace / "file", open_checkpoints()
    for number in range(1000, 1100):
        # At the end of a second they may be in two.
        file.write_text(f"{number} before")
        before = file.stat()
        first = checkpoints.create()
        file.write_text(f"{number} after!")
        if file.stat().st_ctime_ns == before.st_ctime_ns:
            break
    assert before.st_ctime_ns % SECOND == 0
    if again:
        checkpoints = open_checkpoints()
    second = checkpoints.create()
    assert [change.path for change in checkpoints.diff(first.id, second.id)] == ["file"]
    file.unlink()
    checkpoints.restore(second.id)
    assert file.read_text() == f"{number} after!"


@pytest.mark.parametrize(
    ("changed", "looked", "trusted"),
    [
        (7 * SECOND, 7 * SECOND + COARSE_NS, False),
        (7 * SECOND, 7 * SECOND + COARSE_NS + 1, True),
        (7 * SECOND + 1, 7 * SECOND + 1, False),
        (7 * SECOND + 1, 7 * SECOND + 2, True),
    ],
)
def test_a_time_in_whole_seconds_is_trusted_later(tmp_path: Path, changed: int, looked: int, trusted: bool) -> None:
    seen = os.stat_result([0] * 10, {"st_ctime_ns": changed, "st_mtime_ns": changed})
    assert bool(make_entry(seen, b"", b"", fresh_ns=looked).ctime_ns) is trusted
