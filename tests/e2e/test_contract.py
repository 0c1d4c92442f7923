"""A contract over a silent command: no hooks, no steps, and yet the files are as agreed and "done" is checked."""

from __future__ import annotations

from pathlib import Path

from .running import Place


def ran(place: Place, script: str, *options: str) -> tuple[int, str]:
    process = place.start("sh", "-c", script, options=options)
    _, err = process.communicate(timeout=120)
    return process.returncode, err.decode()


def test_a_silent_command_cannot_change_what_is_protected_nor_end_unproven_as_done(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.workspace / "kept.txt").write_text("as it was\n")
    status, err = ran(
        place, "echo other > kept.txt; echo done > new.txt",
        "--protect", "kept.txt", "--done-when", "test -f result.txt",
    )  # fmt: skip
    assert status == 123, err
    assert (place.workspace / "kept.txt").read_text() == "as it was\n"
    assert (place.workspace / "new.txt").exists()
    assert "protected: kept.txt (--protect)" in err
    assert "unproven: `test -f result.txt` failed with exit status 1" in err
    assert place.told()["reason"] == "UNPROVEN"


def test_a_proven_run_has_the_status_of_its_command_and_a_failed_one_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert ran(place, "echo x > result.txt", "--done-when", "test -f result.txt")[0] == 0
    assert ran(place, "exit 7", "--done-when", "test -f nothing")[0] == 7
    assert ran(place, "true", "--observe", "--done-when", "test -f nothing")[0] == 0


def test_what_cannot_hold_ends_with_2_before_the_command_starts(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for options in (("--protect", "a["), ("--done-when", "no-such-program"), ("--contract", "none.yaml")):
        assert ran(place, "touch started", *options)[0] == 2
    assert not (place.workspace / "started").exists()
