"""A contract over a silent command: no hooks, no steps, and yet the files are as agreed and "done" is checked."""

from __future__ import annotations

import subprocess
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
    assert "`test -f result.txt` failed with exit status 1" in err
    assert place.told()["reason"] == "UNPROVEN"


def test_a_proven_run_has_the_status_of_its_command_and_a_failed_one_too(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.workspace / "kept.txt").write_text("as it was\n")
    assert ran(place, "echo x > result.txt", "--done-when", "test -f result.txt")[0] == 0
    status, err = ran(place, "echo y > kept.txt; exit 7", "--protect", "kept.txt", "--done-when", "test -f nothing")
    assert status == 7, err
    assert "check: `test -f nothing` failed with exit status 1" in err
    assert "contract: restored kept.txt (protect kept.txt (--protect))" in err
    assert (place.workspace / "kept.txt").read_text() == "as it was\n"


def test_observed_runs_say_what_the_contract_would_have_done(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.workspace / "kept.txt").write_text("as it was\n")
    options = ("--observe", "--protect", "kept.txt", "--done-when", "test -f nothing", "--task", "Implement PLAN.md")
    status, err = ran(place, "echo y > kept.txt", *options)
    assert status == 0, err
    assert "PLAN.md: the task points to this file, and it does not exist" in err
    assert "check: `test -f nothing` failed with exit status 1" in err
    assert "contract: kept.txt changed and was not restored" in err
    assert (place.workspace / "kept.txt").read_text() == "y\n"


GIT = "git -c user.name=a -c user.email=a@example.org"


def test_commits_and_pushes_against_the_contract_are_reported_with_the_commit(tmp_path: Path) -> None:
    place = Place(tmp_path)
    start = f"git init -q --bare ../remote.git; git init -qb main; git remote add origin ../remote.git;\
        echo a > kept.txt; git add .; {GIT} commit -qm one; git push -q origin main; git checkout -qb work"
    subprocess.run(start, shell=True, cwd=place.workspace, check=True)
    script = f"echo b > kept.txt; {GIT} commit -qam two; git push -q origin work"
    status, err = ran(place, script, "--protect", "kept.txt", "--task", "Fix it. Don't push.")
    assert status == 123, err
    commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=place.workspace, text=True)[:9]
    assert f"contract: commit {commit} changes kept.txt (protect kept.txt (--protect))" in err
    assert 'contract: pushed to origin/work (may_not push (the task: "Don\'t push."))' in err
    assert "contract: restored kept.txt" in err
    assert (place.workspace / "kept.txt").read_text() == "a\n"
    run = place.told()["run_id"]
    shown, report = place.interlock("proof", run), place.interlock("report", run, "-o", "-", "--format", "json")
    assert (shown[0], report[0]) == (1, 0), report
    assert f"commit {commit} changes kept.txt" in shown[1].decode()
    assert f"commit {commit} changes kept.txt" in report[1].decode()
    # What is as it was before is not a breach: the same commit again, a fetch, and another branch.
    harmless = f"git fetch -q; git checkout -q -- .; git checkout -q main; echo c > c; git add c; {GIT} commit -qm c"
    status, err = ran(place, harmless, "--protect", "other.txt", "--task", "Fix it. Don't push.")
    assert status == 0, err
    status, err = ran(place, f"{GIT} commit -qm d --allow-empty", "--task", "Fix it. Don't commit.")
    assert status == 123, err
    assert "against the contract: committed " in err


def test_what_cannot_hold_ends_with_2_before_the_command_starts(tmp_path: Path) -> None:
    place = Place(tmp_path)
    for options in (("--protect", "a["), ("--done-when", "no-such-program"), ("--contract", "none.yaml")):
        assert ran(place, "touch started", *options)[0] == 2
    assert not (place.workspace / "started").exists()
