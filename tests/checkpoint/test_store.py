"""The store: what is kept beside a checkpoint, differences, audits, outages."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from interlock.checkpoint import Checkpoints, audit, history, restore_record, scan
from interlock.core import CheckpointInfo, InvalidState

from .conftest import Open
from .picture import names, picture


def pack_of(stores: Path) -> Path:
    return next(stores.rglob("*.pack"))


def test_a_checkpoint_says_what_it_is(open_checkpoints: Open, workspace: Path) -> None:
    checkpoints = open_checkpoints(run_id="run-1")
    (workspace / "file").write_text("12345")
    made = checkpoints.create("before the tests", 7, "risky step", success_rate=0.9, last_error_time=12.5)
    assert made == CheckpointInfo(
        id=made.id, time=1_700_000_000.0, step=7, label="before the tests", cause="risky step", files=1, bytes=5,
        success_rate=0.9, last_error_time=12.5, run_id="run-1",
    )  # fmt: skip
    assert checkpoints.list() == [made]


def test_conversation_and_context_are_kept_as_they_are(checkpoints: Checkpoints) -> None:
    with_extra, without = checkpoints.create(extra=b"\0opaque\xff"), checkpoints.create()
    assert checkpoints.extra(with_extra.id) == b"\0opaque\xff"
    assert checkpoints.extra(without.id) is None


def test_checkpoints_without_a_change_between_them_are_compared_without_what_was_before(
    checkpoints: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = checkpoints.create()
    (workspace / "file").write_text("x")
    first, _, last = checkpoints.create(), checkpoints.create(), checkpoints.create()
    assert [change.path for change in checkpoints.diff(older.id, last.id)] == ["file"]
    assert [change.kind for change in checkpoints.diff(last.id, older.id)] == ["deleted"]
    monkeypatch.setattr(history.CheckpointHistory, "tree", lambda *_: pytest.fail("all of it was read"))
    assert checkpoints.diff(first.id, last.id) == []
    assert checkpoints.texts(first.id, last.id, lambda _: True) == ()


def test_a_diff_names_every_kind_of_change(checkpoints: Checkpoints, workspace: Path) -> None:
    for name in ("edited", "chmodded", "deleted", "to-folder", "touched"):
        (workspace / name).write_text("x")
    first = checkpoints.create()
    (workspace / "edited").write_text("y")
    (workspace / "chmodded").chmod(0o755)
    (workspace / "deleted").unlink()
    (workspace / "to-folder").unlink()
    (workspace / "to-folder").mkdir()
    os.utime(workspace / "touched", (1, 1))
    (workspace / os.fsdecode(b"new\xff")).write_text("z")
    expected = {
        ("edited", "content"), ("chmodded", "mode"), ("deleted", "deleted"), ("to-folder", "type"),
        ("touched", "touched"), ("new\\xff", "created"),
    }  # fmt: skip
    assert {(change.path, change.kind) for change in checkpoints.diff(first.id)} == expected
    second = checkpoints.create()
    found = checkpoints.diff(first.id, second.id)
    assert {(change.path, change.kind) for change in found} == expected
    assert msgspec.json.encode(found)
    assert checkpoints.diff(second.id) == []


def test_a_patch_reads_like_a_diff(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "file").write_text("one\ntwo\n")
    (workspace / "picture").write_bytes(b"\0\1\2")
    first = checkpoints.create()
    (workspace / "file").write_text("one\nthree\n")
    (workspace / "picture").write_bytes(b"\0\1\3")
    (workspace / "link").symlink_to("file")
    expected = """\
diff --interlock a/file b/file
--- a/file
+++ b/file
@@ -1,2 +1,2 @@
 one
-two
+three
diff --interlock a/link b/link
new link mode 120777
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+file
\\ No newline at end of file
diff --interlock a/picture b/picture
Not shown: not text, or too large
"""
    assert checkpoints.patch(first.id) == expected
    assert checkpoints.patch(first.id, checkpoints.create().id) == expected


def test_an_audit_of_a_whole_store_finds_nothing(checkpoints: Checkpoints, workspace: Path) -> None:
    (workspace / "small").write_text("x")
    (workspace / "large").write_bytes(os.urandom(5_000_000))
    (workspace / "large text").write_bytes(b"text " * 1_000_000)
    checkpoints.create()
    audited = checkpoints.verify()
    assert (audited.checkpoints, audited.contents, audited.problems) == (1, 3, ())


def test_damage_is_found_named_refused_and_healed(checkpoints: Checkpoints, workspace: Path, stores: Path) -> None:
    (workspace / "file").write_text("precious " * 100)
    saved = checkpoints.create()
    with open(pack_of(stores), "r+b") as file:
        file.seek(20)
        file.write(b"damage")
    (workspace / "file").unlink()
    with pytest.raises(InvalidState, match=r"cannot be read.*nothing was changed"):
        checkpoints.restore(saved.id)
    assert names(workspace) == []
    [problem] = checkpoints.verify().problems
    assert (problem.checkpoint, problem.path) == (saved.id, "file")
    (workspace / "file").write_text("precious " * 100)
    checkpoints.create()
    assert checkpoints.verify().problems == ()
    (workspace / "file").unlink()
    assert checkpoints.restore(saved.id).verified


def test_damage_to_an_unchanged_file_is_healed_by_the_next_checkpoint(
    checkpoints: Checkpoints, workspace: Path, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "file").write_text("precious " * 100)
    monkeypatch.setattr(scan, "FRESH_NS", -(10**9))
    checkpoints.create()
    pack_of(stores).write_bytes(b"")
    assert len(checkpoints.verify().problems) == 1
    checkpoints.create()
    assert checkpoints.verify().problems == ()


def test_a_long_history_stays_exact(checkpoints: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "LEAST_CHAIN", 2_000)
    pictures = {}
    for number in range(70):
        (workspace / f"file{number % 7}").write_text(str(number))
        made = checkpoints.create()
        if number % 12 == 0:
            pictures[made.id] = picture(workspace)
    for name, expected in pictures.items():
        checkpoints.restore(name)
        assert picture(workspace) == expected


def test_a_restore_that_a_power_cut_undid_in_part_is_finished_at_the_next_start(
    open_checkpoints: Open, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = open_checkpoints()
    for name in ("a", "b"):
        (workspace / name).write_text("old")
    saved = checkpoints.create()
    expected = picture(workspace)
    for name in ("a", "b"):
        (workspace / name).write_text("new")
    os.link(workspace / "b", workspace.parent / "kept")
    checkpoints.restore(saved.id)
    checkpoints.close()
    (workspace.parent / "kept").replace(workspace / "b")
    monkeypatch.setattr(restore_record, "boot_id", lambda: "another")
    monkeypatch.setattr(restore_record, "started_at", lambda: 1_700_000_030.0)
    again = open_checkpoints()
    assert [line for line in again.recovered if "is now complete" in line]
    assert picture(workspace) == expected


def test_checkpoints_that_a_power_cut_kept_from_the_disk_are_dropped_and_the_others_stay(
    open_checkpoints: Open, workspace: Path, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = open_checkpoints()
    pictures = {}
    lengths = []
    for number in range(4):
        (workspace / "file").write_bytes(os.urandom(1000))
        pictures[checkpoints.create(str(number)).id] = picture(workspace)
        lengths.append(pack_of(stores).stat().st_size)
    checkpoints._store.set_meta("flushed", "2")
    checkpoints.close()
    os.truncate(pack_of(stores), lengths[1] + 10)
    monkeypatch.setattr(audit, "boot_id", lambda: "another")
    again = open_checkpoints()
    assert again.recovered == ["the machine crashed before 2 checkpoints reached the disk: dropped"]
    assert [info.id for info in again.list()] == list(pictures)[:2]
    assert again.verify().problems == ()
    for name in list(pictures)[:2]:
        assert again.restore(name).verified
        assert picture(workspace) == pictures[name]


def test_a_damaged_database_is_one_clear_error(open_checkpoints: Open, stores: Path) -> None:
    checkpoints = open_checkpoints()
    checkpoints.create()
    checkpoints.close()
    next(stores.rglob("store.db")).write_bytes(b"not a database at all" * 500)
    with pytest.raises(InvalidState, match="cannot use the checkpoint database"):
        open_checkpoints()


def test_a_file_that_just_changed_is_read_again_next_time(
    checkpoints: Checkpoints, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kernels that tick slowly give two changes the same times."""
    (workspace / "file").write_text("x")
    checkpoints.create()
    newest = checkpoints._snapshots.newest().tree.get("file")
    assert newest is not None and newest.ctime_ns == 0
    monkeypatch.setattr(scan, "FRESH_NS", -(10**9))
    checkpoints.create()
    newest = checkpoints._snapshots.newest().tree.get("file")
    assert newest is not None and newest.ctime_ns == (workspace / "file").stat().st_ctime_ns


def test_a_store_of_a_newer_version_is_refused(open_checkpoints: Open, stores: Path) -> None:
    checkpoints = open_checkpoints()
    checkpoints._store.db.pragma("user_version", 99)
    checkpoints.close()
    with pytest.raises(InvalidState, match="the store has version 99"):
        open_checkpoints()
