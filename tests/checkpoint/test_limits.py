"""What is refused, by which budget, and who holds a workspace."""

from __future__ import annotations

import os
import signal
from contextlib import closing
from pathlib import Path

import pytest

from interlock.checkpoint import Checkpoints
from interlock.checkpoint.locations import file_system_of, known_workspace, refuse_unfit
from interlock.config.schema import Checkpoints as Settings
from interlock.core import BadInput, InvalidState, ManualClock, SystemClock

from .conftest import Open

MOUNTS = """\
21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
35 21 0:42 / /srv/share rw,relatime - nfs4 server:/share rw
36 21 0:43 / /srv/my\\040files rw - cifs //server/files rw
37 21 0:44 / /mnt/remote rw - fuse.sshfs user@host: rw
38 21 0:45 / /proc rw - proc proc rw
"""


@pytest.fixture
def mounts(tmp_path: Path) -> str:
    path = tmp_path / "mountinfo"
    path.write_text(MOUNTS)
    return str(path)


@pytest.mark.parametrize(
    ("workspace", "reason"),
    [
        ("/", "the root of the file system cannot be a workspace"),
        ("/home/me", "the home folder cannot be a workspace"),
        ("/home", "a folder that contains the home folder cannot be a workspace"),
        ("/state", "the checkpoints would be stored inside the workspace"),
        ("/srv/share/project", r"it is on a network mount \(nfs4\)"),
        ("/srv/my files", r"it is on a network mount \(cifs\)"),
        ("/mnt/remote/project", r"it is on a network mount \(fuse.sshfs\)"),
        ("/proc/self", "it is on proc, which does not hold files"),
    ],
)
def test_an_unfit_workspace_is_refused_with_the_reason(workspace: str, reason: str, mounts: str) -> None:
    with pytest.raises(BadInput, match=reason):
        refuse_unfit(Path(workspace), Path("/state/checkpoints"), mounts=mounts, home=Path("/home/me"))


def test_an_ordinary_folder_is_not_refused(mounts: str) -> None:
    refuse_unfit(Path("/home/me/project"), Path("/home/me/.local/state"), mounts=mounts, home=Path("/home/me"))
    assert file_system_of(Path("/srv/shared"), mounts) == "ext4"


@pytest.mark.parametrize("folder", ["/", str(Path.home())])
def test_root_and_home_are_refused_for_real(folder: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be a workspace"):
        Checkpoints.open(Path(folder), tmp_path, config=Settings(), clock=SystemClock())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_none_is_refused(workspace: Path, stores: Path, clock: ManualClock) -> None:
    (workspace / "file").touch()
    for name in ("file", "nowhere"):
        with pytest.raises(BadInput, match="the folder does not exist"):
            Checkpoints.open(workspace / name, stores, config=Settings(), clock=clock)
    assert list(stores.iterdir()) == []


def test_the_budget_of_bytes_is_checked_before_anything_is_stored(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(Settings(budget_bytes=1_000_000))
    (workspace / "large").write_bytes(bytes(range(256)) * 8192)
    with pytest.raises(InvalidState, match="more than 1,000,000 bytes to save, which is over budget"):
        checkpoints.create()
    assert checkpoints.list() == []
    (workspace / "large").unlink()
    assert checkpoints.create().files == 0


class HurryingClock(ManualClock):
    """A clock on which every look takes a second."""

    def monotonic(self) -> float:
        self.advance(1)
        return super().monotonic()


def test_the_budget_of_time_stops_a_slow_walk(workspace: Path, stores: Path) -> None:
    for number in range(20):
        (workspace / f"folder{number}").mkdir()
    settings = Settings(budget_ms=5000)
    with (
        closing(Checkpoints.open(workspace, stores, config=settings, clock=HurryingClock())) as checkpoints,
        pytest.raises(InvalidState, match="more than 5000 ms to save, which is over budget"),
    ):
        checkpoints.create()


def test_everything_stored_is_for_the_owner_only(open_checkpoints: Open, workspace: Path, stores: Path) -> None:
    (workspace / "secret").write_text("x")
    (workspace / "large").write_bytes(os.urandom(5_000_000))
    before = os.umask(0)
    try:
        open_checkpoints(run_id="r").create(extra=b"conversation")
    finally:
        os.umask(before)
    store = next(stores.iterdir())
    assert store.stat().st_mode & 0o777 == 0o700
    assert {oct(path.stat().st_mode & 0o077) for path in store.rglob("*")} == {"0o0"}


def test_a_second_run_in_a_workspace_is_refused_and_told_who_is_there(open_checkpoints: Open, workspace: Path) -> None:
    first = open_checkpoints(run_id="run-1")
    with pytest.raises(InvalidState, match=rf"run run-1 \(process {os.getpid()}\) is already working in {workspace}"):
        open_checkpoints(run_id="run-2")
    first.close()
    open_checkpoints(run_id="run-2")


def test_a_run_in_a_folder_above_or_below_is_refused(
    open_checkpoints: Open, workspace: Path, tmp_path: Path, stores: Path, clock: ManualClock
) -> None:
    open_checkpoints(run_id="run-1")
    (workspace / "below").mkdir()
    (tmp_path / "beside").mkdir()
    for other in (workspace / "below", workspace.parent):
        with pytest.raises(InvalidState, match="run run-1"):
            Checkpoints.open(other, stores, config=Settings(), clock=clock, run_id="run-2")
    Checkpoints.open(tmp_path / "beside", stores, config=Settings(), clock=clock, run_id="run-2").close()


def test_a_killed_runs_hold_is_free_at_once(open_checkpoints: Open) -> None:
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        open_checkpoints(run_id="run-1")
        os.write(write, b"held")
        signal.pause()
    assert os.read(read, 4) == b"held"
    with pytest.raises(InvalidState, match=rf"run run-1 \(process {pid}\)"):
        open_checkpoints(run_id="run-2")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    open_checkpoints(run_id="run-2")


def test_a_rollback_beside_a_live_run_is_refused(open_checkpoints: Open) -> None:
    run = open_checkpoints(run_id="run-1")
    saved = run.create()
    person = open_checkpoints()
    with pytest.raises(InvalidState, match="run run-1"):
        person.restore(saved.id)
    assert [info.id for info in person.list()] == [saved.id]
    run.restore(saved.id)


def test_two_processes_take_turns_and_see_each_others_checkpoints(open_checkpoints: Open, workspace: Path) -> None:
    one, other = open_checkpoints(), open_checkpoints()
    (workspace / "file").write_text("1")
    first = one.create()
    (workspace / "file").write_text("2")
    second = other.create()
    (workspace / "file").write_text("3")
    assert one.create().parent == second.id
    one.restore(second.id)
    assert (workspace / "file").read_text() == "2"
    other.restore(first.id)
    assert (workspace / "file").read_text() == "1"


def test_the_nearest_known_workspace_is_found_upwards(
    checkpoints: Checkpoints, workspace: Path, tmp_path: Path, stores: Path
) -> None:
    below = workspace / "a" / "b"
    below.mkdir(parents=True)
    assert known_workspace(below, stores) == workspace
    assert known_workspace(tmp_path, stores) is None
