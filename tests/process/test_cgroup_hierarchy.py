"""Where cgroups are, read from what the kernel says."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from interlock.core import RunSpec
from interlock.process import spawn
from interlock.process.cgroup_hierarchy import Mount, QuickEntry, _seen_at, read_mounts

from ..waiting import until

HYBRID = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
UNIFIED = "29 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n"
ODD_PLACE = "29 22 0:26 /a/b /mnt/my\\040groups rw - cgroup2 none rw\n"


def test_a_hybrid_machine_has_both_kinds() -> None:
    assert [(m.kind, m.point) for m in read_mounts(HYBRID)] == [
        ("cgroup", "/sys/fs/cgroup/memory"),
        ("cgroup2", "/sys/fs/cgroup/unified"),
    ]


def test_optional_fields_and_spaces_are_understood() -> None:
    assert [m.point for m in read_mounts(UNIFIED)] == ["/sys/fs/cgroup"]
    assert read_mounts(ODD_PLACE)[0].point == "/mnt/my groups"


@pytest.mark.parametrize("text", ["", "nonsense", "1 2 3 - cgroup2", "a b c d e f - cgroup2 none"])
def test_lines_that_are_no_mounts_are_passed_over(text: str) -> None:
    assert read_mounts(text) == []


@pytest.mark.parametrize(
    ("root", "path", "expected"),
    [
        ("/", "/", "/mnt"),
        ("/", "/user.slice/a", "/mnt/user.slice/a"),
        ("/docker/x", "/docker/x", "/mnt"),
        ("/docker/x", "/docker/x/y", "/mnt/y"),
        ("/docker/x", "/docker/xy", None),
        ("/docker/x", "/other", None),
        ("/", "/../outside", None),
    ],
)
def test_our_own_cgroup_is_found_below_the_mount_that_shows_it(root: str, path: str, expected: str | None) -> None:
    found = _seen_at(Mount("cgroup2", root, "/mnt", frozenset()), path)
    assert found == (Path(expected) if expected else None)


def test_a_command_enters_its_cgroup_while_we_stay_in_ours(cgroup: str) -> None:
    before = Path("/proc/self/cgroup").read_text()
    tree = spawn(RunSpec(run_id="test", argv=("sleep", "1000")), mechanism=cgroup)  # type: ignore[arg-type]
    try:
        assert Path(f"/proc/{tree.pid}/cgroup").read_text() != before
        assert Path("/proc/self/cgroup").read_text() == before
        assert not [thread for thread in threading.enumerate() if thread.name == "interlock-entry"]
    finally:
        tree.end(0)


def test_a_thread_enters_again_and_again_until_it_is_told_to_stop(tmp_path: Path) -> None:
    entered = tmp_path / "cgroup.procs"
    entered.touch()
    entry = QuickEntry(tmp_path)
    until("it has entered twice", lambda: entered.read_bytes().startswith(b"00"))
    entry.close()
    assert set(entered.read_bytes()) == {ord("0")}
    assert not [thread for thread in threading.enumerate() if thread.name == "interlock-entry"]


def test_where_we_may_not_enter_nothing_happens(tmp_path: Path) -> None:
    QuickEntry(tmp_path / "gone").close()
