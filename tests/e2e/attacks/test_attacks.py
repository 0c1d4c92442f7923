"""An agent attacks its supervisor in every way that we know, and a person can rely on pause and cancel all the same."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from interlock.contain import why_not
from interlock.process import attach

from ..running import Place, until
from .scripts import ATTACKS, Attack
from .siege import Siege, ordinary_python
from .table import BEGIN, END, PAGE, Seen, write_down

needs_guard = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture(scope="module")
def guarded() -> Iterator[Siege]:
    """One run under guard for all attacks, as whoever we are."""
    with besieged("guard", root=os.geteuid() == 0) as siege:
        siege.results()
        yield siege


@needs_guard
def test_guard_prevents_notices_or_holds_every_attack(guarded: Siege) -> None:
    check_guard(guarded)
    agent, owner = guarded.tree.root.pid, guarded.owner
    scores = [int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (agent, owner)]
    assert scores[0] > scores[1], "where memory runs out, the agent ends before its owner"


def check_guard(siege: Siege) -> None:
    results = siege.results()
    worked = {name: said for name, (status, said, _) in results.items() if status == 0}
    allowed = {one.name for one in ATTACKS if one.at(siege.level) in ("held", "noticed", "not held")}
    assert not worked.keys() - allowed, {name: worked[name] for name in worked.keys() - allowed}
    assert not [name for name in worked if "itself" in name], "no order from inside took effect"
    assert siege.picture() == siege.before
    assert siege.machine() == siege.machine_before
    for command in ("resume", "approve", "rollback", "escalate"):
        assert siege.tells(f"steer its own run ({command}"), siege.noticed()
    if siege.level == "guard":
        made = "starts programs outside"
        until("the new start-up file is noticed", lambda: any(made in one for one in siege.noticed()))


@needs_guard
def test_after_all_of_it_pause_holds_and_cancel_leaves_nothing(guarded: Siege) -> None:
    check_steering(guarded)


def check_steering(siege: Siege) -> dict[str, float]:
    """Pause holds, and cancel leaves nothing alive; how long each command took."""
    run = siege.folder.run_id
    until("it works", siege.ticks)
    begun = time.monotonic()
    status, said = siege.interlock("pause", run)
    paused = time.monotonic() - begun
    assert (status, siege.ticks()) == (0, False), said
    status, said = siege.interlock("resume", run)
    assert status == 0, said
    until("it goes on", siege.ticks)
    begun = time.monotonic()
    status, said = siege.interlock("cancel", run)
    cancelled = time.monotonic() - begun
    assert status == 0 and "is cancelled" in said, said
    assert attach(siege.tree).pids() == ()
    # Bubblewrap's own process, outside, has the same words, and ends a moment after what it waits for.
    until("nothing is left", lambda: siege.alive() == [])
    return {"paused": paused, "cancelled": cancelled}


@needs_guard
def test_whatever_kills_its_own_process_group_does_not_reach_the_front(place: Place) -> None:
    status, _, err = place.run("sh", "-c", "kill -9 0", options=("--contain", "guard"))
    assert status == -9 and b"SIGKILL" in err
    assert place.told()["status"] == "aborted"


@needs_guard
def test_an_unattended_run_that_is_tampered_with_is_stopped_and_says_so(place: Place) -> None:
    home = place.root / "home"
    home.mkdir()
    script = f"export HOME={home}; echo > $HOME/.bash_profile; sleep 600"
    words = place.command("sh", "-c", script, options=("--contain", "guard"))
    run = place.begin(words, env={**place.environment, "HOME": str(home)})
    _, err = run.communicate(timeout=150)
    assert run.returncode == 125, err
    assert b"tampered with: a file that starts programs outside" in err


@needs_guard
def test_a_false_interlock_in_front_of_the_real_one_is_noticed(place: Place) -> None:
    """It would tell a person that the run is paused."""
    front, real = place.root / "front", place.root / "real"
    for folder in (front, real):
        folder.mkdir()
    (real / "interlock").symlink_to("/bin/true")
    path = f"{front}:{real}:{os.environ['PATH']}"
    for script in (f"echo '#!/bin/sh' > {front}/interlock", f"ln -sf /bin/false {real}/interlock"):
        words = place.command("sh", "-c", f"{script}; sleep 600", options=("--contain", "guard"))
        run = place.begin(words, env={**place.environment, "PATH": path})
        _, err = run.communicate(timeout=150)
        assert run.returncode == 125, err
        assert b"tampered with: what your shell runs as interlock was replaced" in err


TRAPPED_REPOSITORY = """
printf '#!/bin/sh\\ntouch "%s/escaped"\\n' "$PWD" > trap; chmod +x trap
for name in core.fsmonitor core.pager core.sshCommand core.alternateRefsCommand gpg.program diff.external; do
    git config $name "$PWD/trap"
done
git config log.showSignature true
git commit -q --no-verify --allow-empty -m signed
git cat-file commit HEAD | sed '0,/^$/s/^$/gpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----\\n/' > commit
made=$(git hash-object -t commit -w commit)
git update-ref -m push --create-reflog refs/remotes/origin/main $made
git update-ref refs/heads/other $made
rm -f escaped
"""


@needs_guard
def test_a_repository_whose_settings_start_programs_starts_none_outside(place: Place) -> None:
    """What the contract says about commits is read from the repository by the run's owner, outside."""
    shell = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "-q", "--allow-empty", "-m", "one"]
    subprocess.run(["git", "init", "-q", "."], cwd=place.workspace, check=True)
    subprocess.run(shell, cwd=place.workspace, check=True)
    named = "export GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=x@y GIT_COMMITTER_NAME=x GIT_COMMITTER_EMAIL=x@y\n"
    contract = place.root / "contract.yaml"
    contract.write_text("contract: {may_not: [commit]}\n")
    words = ("--contain", "guard", "--contract", str(contract))
    _, _, err = place.run("sh", "-ec", named + TRAPPED_REPOSITORY, options=words)
    assert b"contract: commit" in err, err
    assert not (place.workspace / "escaped").exists()


def test_the_table_of_the_documentation_has_every_attack() -> None:
    text = PAGE.read_text()
    table = text[text.index(BEGIN) : text.index(END)]
    assert [one.name for one in ATTACKS if f"| {one.name} |" not in table] == []
    assert len(ATTACKS) >= 40


EACH_ALONE = [
    pytest.param(level, root, cgroups, attack, id=f"{level}-{'root' if root else 'user'}-{kind}-{attack.name}")
    for level in ("off", "guard", "fence")
    for root in (True, False)
    for cgroups, kind in ((True, "cgroups"), (False, "no cgroups"))
    for attack in ATTACKS
    if attack.applies(level, root, cgroups)
]


@pytest.mark.torture
@pytest.mark.parametrize(("level", "root", "cgroups", "attack"), EACH_ALONE)
@needs_guard
@needs_root
def test_each_attack_in_a_run_of_its_own(level: str, root: bool, cgroups: bool, attack: Attack) -> None:
    """What is noticed is answered by a pause; after each, pause and cancel hold. What came of it goes into the table."""
    answer = "warn" if level == "off" else "pause"
    with besieged(level, root=root, cgroups=cgroups, only=(attack,), on_tamper=answer) as siege:
        assert bool(siege.tree.group) == cgroups
        took: dict[str, float] = {}
        if level != "off" and attack.at(level) == "noticed":
            took["answered"] = siege.answered()
            status, said = siege.interlock("resume", siege.folder.run_id)
            assert status == 0, said
        status, said, _ = siege.results()[attack.name]
        told = bool(attack.tells) and siege.tells(attack.tells)
        if level != "off":
            assert status or attack.at(level) != "prevented", said
            assert told or attack.at(level) != "noticed", siege.noticed()
            assert siege.picture() == siege.before
            took |= check_steering(siege)
        assert siege.machine() == siege.machine_before
    if os.environ.get("INTERLOCK_WRITE_TABLE"):
        write_down((level, root, cgroups), attack, Seen(status=status, told=told, took=took))


@contextmanager
def besieged(level: str, **more: Any) -> Iterator[Siege]:
    """A siege that has begun."""
    if not more["root"] and not ordinary_python():
        pytest.skip("no interpreter here that an ordinary user can run")
    siege = Siege(level, **more)
    try:
        if missing := siege.why_not():
            pytest.skip(f"no copy of this machine to attack: {missing}")
        siege.begin()
        yield siege
    finally:
        siege.close()


@pytest.mark.torture
@needs_guard
def test_tampering_is_answered_within_a_second(place: Place) -> None:
    """Of an agent that has idled before, so that it was looked at rarely. Here with room for a busy machine."""
    home = place.root / "home"
    home.mkdir()
    script = f"sleep 25; echo > {home}/.bash_profile; while :; do touch tick; sleep 0.05; done"
    words = place.command("sh", "-c", script, options=("--contain", "guard"))
    run = place.begin(words, env={**place.environment, "HOME": str(home)})
    _, err = run.communicate(timeout=120)
    assert run.returncode == 125, err
    took = (place.workspace / "tick").stat().st_mtime - (home / ".bash_profile").stat().st_mtime
    print(f"stopped after {took:.2f} s")
    assert took < 10
