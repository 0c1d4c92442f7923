"""An agent attacks its supervisor in every way that we know, and a person can rely on pause and cancel all the same."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from interlock.contain import why_not

from ..running import Place, until
from .scripts import ATTACKS
from .siege import Siege, ordinary_python
from .table import BEGIN, END, PAGE, render

needs_guard = pytest.mark.skipif(bool(why_not()), reason=f"no guard here: {why_not()}")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture(scope="module")
def guarded() -> Iterator[Siege]:
    """One run under guard for all attacks, as whoever we are."""
    siege = Siege("guard", root=os.geteuid() == 0)
    try:
        if missing := siege.why_not():
            pytest.skip(f"no copy of this machine to attack: {missing}")
        siege.begin()
        siege.results()
        yield siege
    finally:
        siege.close()


@needs_guard
def test_guard_prevents_notices_or_holds_every_attack(guarded: Siege) -> None:
    check_guard(guarded)


def check_guard(siege: Siege) -> None:
    results, noticed = siege.results(), " | ".join(siege.noticed())
    worked = {name: said for name, (status, said) in results.items() if status == 0}
    allowed = {one.name for one in ATTACKS if one.at(siege.level) in ("held", "noticed", "not held")}
    assert not worked.keys() - allowed, {name: worked[name] for name in worked.keys() - allowed}
    assert not [name for name in worked if "itself" in name], "no order from inside took effect"
    assert siege.picture() == siege.before
    assert siege.machine() == siege.machine_before
    for command in ("resume", "approve", "rollback", "escalate"):
        assert f"steer its own run ({command}" in noticed
    if siege.level == "guard":
        made = "starts programs outside"
        until("the new start-up file is noticed", lambda: any(made in one for one in siege.noticed()))


@needs_guard
def test_after_all_of_it_pause_holds_and_cancel_leaves_nothing(guarded: Siege) -> None:
    check_steering(guarded)


def check_steering(siege: Siege) -> None:
    run = siege.folder.run_id
    assert siege.ticks()
    status, said = siege.interlock("pause", run)
    assert (status, siege.ticks()) == (0, False), said
    status, said = siege.interlock("resume", run)
    assert status == 0, said
    until("it goes on", siege.ticks)
    status, said = siege.interlock("cancel", run)
    assert status == 0 and "is cancelled" in said
    assert siege.alive() == []


@needs_guard
def test_whatever_kills_its_own_process_group_does_not_reach_the_front(place: Place) -> None:
    status, _, err = place.run("sh", "-c", "kill -9 0", options=("--contain", "guard"))
    assert status == -9 and b"signal 9" in err
    assert place.told()["status"] == "aborted"


@needs_guard
def test_an_unattended_run_that_is_tampered_with_is_stopped_and_says_so(place: Place) -> None:
    home = place.root / "home"
    home.mkdir()
    script = f"export HOME={home}; echo > $HOME/.bash_profile; sleep 60"
    words = place.command("sh", "-c", script, options=("--contain", "guard"))
    run = place.begin(words, env={**place.environment, "HOME": str(home)})
    _, err = run.communicate(timeout=60)
    assert run.returncode == 125, err
    assert b"interfered with: a file that starts programs outside" in err


def test_the_table_of_the_documentation_has_every_attack() -> None:
    text = PAGE.read_text()
    table = text[text.index(BEGIN) : text.index(END)]
    assert [one.name for one in ATTACKS if f"| {one.name} |" not in table] == []
    assert len(ATTACKS) >= 40


@pytest.mark.torture
@pytest.mark.parametrize("root", [True, False], ids=["root", "user"])
@pytest.mark.parametrize("level", ["off", "guard", "fence"])
@needs_guard
@needs_root
def test_every_level_as_root_and_as_an_ordinary_user(level: str, root: bool) -> None:
    """As root there is a cgroup, as an ordinary user none. Writes what came of it into the table."""
    if not root and not ordinary_python():
        pytest.skip("no interpreter here that an ordinary user can run")
    siege = Siege(level, root=root)
    try:
        if missing := siege.why_not():
            pytest.skip(f"no copy of this machine to attack: {missing}")
        siege.begin()
        results = siege.results()
        if level != "off":
            check_guard(siege)
            check_steering(siege)
        noticed = siege.noticed()
        assert siege.machine() == siege.machine_before
    finally:
        siege.close()
    if os.environ.get("INTERLOCK_WRITE_TABLE"):
        render(level, root, {name: status for name, (status, _) in results.items()}, noticed)
