"""Commits and pushes against the contract are found by what is in the repository; honest uses of git are not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from interlock import Contract
from interlock.runtime.git_monitor import GitMonitor

GIT = "git -c user.name=a -c user.email=a@example.org -c protocol.file.allow=always"
START = f"""
git init -q --bare -b main ../remote.git; git init -qb main . ; git remote add origin ../remote.git
mkdir sub; echo a > kept.txt; echo a > a.txt; echo a > sub/s.txt
git add .; {GIT} commit -qm one; echo b > a.txt; {GIT} commit -qam two; git push -q origin main
git clone -q ../remote.git ../colleague; cd ../colleague; echo c > c.txt; git add .; {GIT} commit -qm three
git push -q origin HEAD:refs/heads/topic; git init -q ../module; cd ../module; echo m > m; git add .; {GIT} commit -qm m
"""
NO_COMMIT, NO_PUSH = Contract(may_not=("commit",)), Contract(may_not=("push",))
KEPT = Contract(protect=("kept.txt",))
COMMIT = f"echo x >> a.txt; {GIT} commit -qam mine"

AGAINST: dict[str, tuple[Contract, str]] = {
    "a commit": (NO_COMMIT, COMMIT),
    "a commit on a branch that is left again": (NO_COMMIT, f"git checkout -qb other; {COMMIT}; git checkout -q main"),
    "a commit by plumbing": (
        NO_COMMIT, f"c=$({GIT} commit-tree -m x -p HEAD HEAD^{{tree}}); git update-ref refs/heads/y $c",
    ),
    "a commit behind a remote's ref": (
        NO_COMMIT, f"{COMMIT}; git update-ref refs/remotes/origin/x HEAD; git reset -q --hard HEAD~1",
    ),
    "a commit below fifty others": (
        KEPT,
        f"echo x > kept.txt; {GIT} commit -qam bad; for i in $(seq 60); do {GIT} commit -qm $i --allow-empty; done; "
        "echo a > kept.txt",
    ),
    "a commit beside a FIFO": (NO_COMMIT, f"{COMMIT}; mkfifo .git/refs/heads/a"),
    "a commit under a changed working tree": (NO_COMMIT, f"{COMMIT}; git config core.worktree /nowhere"),
    "a commit that is replaced": (NO_COMMIT, f"{COMMIT}; git replace HEAD HEAD~1"),
    "a commit in another working tree": (
        NO_COMMIT, f"git worktree add -q --detach ../tree; cd ../tree; {COMMIT}",
    ),
    "a push without a log of refs": (
        NO_PUSH, f"{COMMIT}; {GIT} -c core.logAllRefUpdates=false push -q origin HEAD:refs/heads/mine",
    ),
    "a push by its address, with its trace removed": (
        NO_PUSH, f"{COMMIT}; git push -q ../remote.git HEAD:refs/heads/mine; git update-ref -d refs/remotes/origin/mine",
    ),
    "a push from a copy": (
        NO_PUSH, f"git clone -q . ../copy; cd ../copy; {COMMIT}; git push -q ../remote.git HEAD:refs/heads/mine; "
        "cd -; git fetch -q ../copy",
    ),
}  # fmt: skip

HONEST: dict[str, tuple[Contract, str]] = {
    "work that is not committed": (NO_COMMIT, "echo x >> a.txt; git add .; git status -s; git diff --cached --stat"),
    "a stash": (NO_COMMIT, f"echo x >> a.txt; {GIT} stash -q; {GIT} stash pop -q"),
    "a fetch of what others made before": (NO_COMMIT, "git fetch -q origin"),
    "a merge that only moves forward": (NO_COMMIT, "git fetch -q origin; git merge -q --ff-only origin/topic"),
    "commits under a contract about pushes": (NO_PUSH, f"{COMMIT}; git branch other"),
    "an amended commit": (NO_PUSH, f"{COMMIT}; {GIT} commit -q --amend -m better"),
    "a rebase": (NO_PUSH, f"{COMMIT}; git fetch -q; {GIT} rebase -q origin/topic"),
    "another working tree": (NO_COMMIT, "git worktree add -q ../tree -b look; cat ../tree/a.txt; git worktree remove ../tree"),
    "a submodule": (NO_COMMIT, f"{GIT} submodule --quiet add ../module mod; {GIT} submodule --quiet update --init"),
    "a shallow clone inside": (NO_COMMIT, "git clone -q --depth 1 file://$PWD/../remote.git vendor; rm -rf vendor"),
    "a stand-in for large files": (
        NO_COMMIT, "git config filter.lfs.clean cat; echo '*.bin filter=lfs' > .gitattributes; echo x > b.bin; git add .",
    ),
    "an older version looked at": (KEPT, f"git checkout -q HEAD~1; git checkout -q main; {COMMIT}; git bisect start -q; git bisect reset -q"),
}  # fmt: skip


def _told(root: Path, contract: Contract, script: str) -> list[str]:
    folder = root / "w"
    folder.mkdir()
    subprocess.run(["bash", "-c", START], cwd=folder, check=True, capture_output=True)
    monitor = GitMonitor(str(folder))
    monitor.begin(contract)
    subprocess.run(["bash", "-c", script], cwd=folder, check=False, capture_output=True)
    return [one for said in monitor.breaches(contract).values() for one in said]


@pytest.mark.parametrize(("contract", "script"), AGAINST.values(), ids=AGAINST.keys())
def test_what_is_against_the_contract_is_told(tmp_path: Path, contract: Contract, script: str) -> None:
    assert _told(tmp_path, contract, script)


@pytest.mark.parametrize(("contract", "script"), HONEST.values(), ids=HONEST.keys())
def test_an_honest_use_of_git_is_not_told(tmp_path: Path, contract: Contract, script: str) -> None:
    assert _told(tmp_path, contract, script) == []


def test_pushes_to_another_machine_cannot_be_ruled_out(tmp_path: Path) -> None:
    subprocess.run(
        ["bash", "-c", "git init -q .; git remote add hub https://example.org/x.git"], cwd=tmp_path, check=True
    )
    monitor = GitMonitor(str(tmp_path))
    monitor.begin(NO_PUSH)
    assert monitor.unknown(NO_PUSH) == "pushes to hub cannot be ruled out: not on this machine"


def test_programs_in_the_settings_of_the_repository_are_never_run(tmp_path: Path) -> None:
    evil = f"git config core.fsmonitor 'touch {tmp_path}/ran'; git config core.pager 'touch {tmp_path}/ran'"
    assert _told(tmp_path, NO_COMMIT, f"{COMMIT}; {evil}")
    assert not (tmp_path / "ran").exists()
