"""Usage limits against a model: kills at every write, reboots, clocks that jump, people who resume and cancel."""

from __future__ import annotations

import random
from datetime import datetime
from pathlib import Path

import pytest

from interlock.adapters.command import usage_limit_parking
from interlock.adapters.command.usage_limit_parking import UsageLimitParking
from interlock.adapters.usage_limits import UsageLimit
from interlock.config import Config
from interlock.config.schema import Resume
from interlock.core import ManualClock, RunSpec
from interlock.journal import RunFolder, Store, new_run_id
from interlock.journal_records import WokenRecord, read_body
from interlock.runtime import Supervisor
from interlock.runtime.resume_after_limit import SPACING_S, ParkClock

START = 1_794_880_800.0
"""2026-11-17 02:00 UTC."""


class Killed(BaseException):
    """The owner was killed."""


class World:
    """True time, a wall clock that lies, a boot, and a front that starts a client once for each park."""

    def __init__(self, root: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.random = random.Random(seed)
        self.time, self.ahead, self.booted, self.boot = 0.0, 0.0, -1000.0, 0
        jitter = self.random.choice((0, 30))
        self.closes = self.random.choice((None, START + 4 * 3600.0))
        closes = f"{datetime.fromtimestamp(self.closes):%H:%M}" if self.closes is not None else None
        self.rules = Resume(jitter_s=jitter, max_parks=50, until=closes)
        self.clock = ManualClock(START)
        self.store = Store(root, self.clock)
        self.launches: list[int] = []
        self.told: list[tuple[str, int]] = []
        self.client_lives, self.cancelled = True, False
        self.continues, self.last_words = self.random.random() < 0.7, ""
        self.kill_in: int | None = None
        self.spec = RunSpec(run_id=new_run_id(), adapter="direct")
        monkeypatch.setattr(usage_limit_parking, "_now", self.now)
        for name in ("write_parked", "clear_parked"):
            monkeypatch.setattr(usage_limit_parking, name, self.mortal(getattr(usage_limit_parking, name)))
        self.supervisor = Supervisor.open(spec=self.spec, store=self.store, clock=self.clock, config=self.config)
        self.lot = self.open_lot()

    @property
    def config(self) -> Config:
        return Config()

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.store.root / self.spec.run_id)

    def now(self) -> ParkClock:
        return ParkClock(START + self.time + self.ahead, self.time - self.booted, f"boot {self.boot}")

    def mortal(self, function):
        """A function at which the owner may be killed, before or after it has done its work."""

        def called(*args, **more):
            self.strike()
            result = function(*args, **more)
            self.strike()
            return result

        return called

    def strike(self) -> None:
        if self.kill_in is not None:
            self.kill_in -= 1
            if self.kill_in < 0:
                self.kill_in = None
                raise Killed

    def open_lot(self) -> UsageLimitParking:
        run = self.supervisor.run
        for name in ("append", "hold", "resume"):
            setattr(run, name, self.mortal(getattr(run, name)))
        lot = UsageLimitParking(
            self.supervisor,
            self.folder,
            self.rules,
            quota="q",
            last_words=lambda: self.last_words,
            session=lambda: "s1",
            continues=self.continues,
        )
        lot.relaunch = self.relaunch
        lot.finish = lambda status: self.told.append(("over", status))
        return lot

    def relaunch(self, parked: usage_limit_parking.Parked) -> None:
        """As the front does: the same park once."""
        if parked.number not in self.launches:
            self.launches.append(parked.number)
            self.client_lives = True
        self.strike()

    def do(self, action) -> None:
        """Let the owner do something; killed, another one takes its place."""
        try:
            action()
        except Killed:
            self.reopen()

    def reopen(self) -> None:
        while True:
            try:
                self.supervisor.run.close()
                self.supervisor = Supervisor.reopen(
                    self.folder, spec=self.spec, store=self.store, clock=self.clock, config=self.config
                )
                self.lot = self.open_lot()
                parked = self.lot.parked
                if parked is not None and self.client_lives and parked.number in self.launches:
                    self.lot.started()
                elif not self.client_lives:
                    self.lot.exited(1)
            except Killed:
                continue
            return

    def look(self) -> None:
        parked = self.lot.parked
        self.do(self.lot.resume_if_due)
        if parked is not None and parked.number in self.launches and self.client_lives:
            self.do(self.lot.started)

    def woken(self) -> list[WokenRecord]:
        with self.supervisor.run.journal.reader() as reader:
            found = [read_body(record) for record in reader.read(kinds=frozenset(("woken",)))]
        return [body for body in found if isinstance(body, WokenRecord)]


def play(world: World, limits: int) -> int:
    """Some limits with weather in between; gives how many were woken by the timer."""
    rng, by_timer = world.random, 0
    for _ in range(limits):
        resets_in = rng.choice((90.0, 600.0, 5 * 3600.0))
        ends = rng.random() < 0.6
        limit = UsageLimit(reason="limit", source="test", resets_in=resets_in)
        if rng.random() < 0.3:
            world.kill_in = rng.randrange(12)
        world.do(lambda limit=limit: world.lot.see(limit))
        if world.lot.parked is None:
            # Killed before anything was written: the API says so again.
            world.kill_in = None
            world.do(lambda limit=limit: world.lot.see(limit))
        assert world.lot.parked is not None and world.supervisor.run.status == "paused", "a limit was lost"
        assert world.lot.parked.until == world.closes
        begun, number, said = world.time, world.lot.parked.number, world.lot.parked.at.wall
        delay, asked = world.lot.parked.delay, False
        if ends:
            world.client_lives = False
            world.do(lambda: world.lot.exited(1))
        jumped = rebooted = False
        for _ in range(60):
            before, launched = len(world.woken()), len(world.launches)
            match rng.choice(("pass", "pass", "pass", "kill", "jump", "reboot", "person", "cancel", "strike")):
                case "pass":
                    world.time += rng.choice((1.0, 60.0, 1800.0))
                case "kill":
                    world.reopen()
                case "jump":
                    jumped, world.ahead = True, world.ahead + rng.choice((-7200.0, 86_400.0, 7200.0, -86_400.0))
                case "reboot" if rng.random() < 0.3:
                    rebooted, world.client_lives = True, False
                    world.boot, world.booted = world.boot + 1, world.time
                    world.reopen()
                case "person" if rng.random() < 0.1:
                    asked = True
                    person_resumes(world)
                    if rng.random() < 0.5:
                        world.reopen()
                case "cancel" if rng.random() < 0.03:
                    world.cancelled, world.kill_in = True, None
                    world.supervisor.run.end("aborted", "USER_CANCELLED")
                case "strike":
                    world.kill_in = rng.randrange(6)
            world.look()
            new = world.woken()[before:]
            assert all(each.number == number for each in new)
            if new:
                assert not world.cancelled, "woken after cancel"
                assert len([w for w in world.woken() if w.number == number]) == 1, "woken twice"
                if new[0].by == "the timer":
                    by_timer += 1
                    assert world.continues or len(world.launches) == launched, "it was run again by itself"
                    if not (jumped and rebooted):
                        assert world.time - begun >= delay, "woken before the limit reset"
                    if world.closes is not None:
                        latest = world.now().wall if rebooted else max(world.now().wall, said + world.time - begun)
                        assert latest <= world.closes, "woken outside the window"
                else:
                    assert asked
            if new or world.cancelled:
                break
        world.kill_in = None
        if not world.cancelled and not [w for w in world.woken() if w.number == number]:
            # Nothing is lost: it still waits for its time or for a person, and says so.
            assert world.lot.parked is not None and world.lot.liveness is not None
            assert world.supervisor.run.status == "paused"
            person_resumes(world)
            world.look()
        world.look()
        assert world.launches == sorted(set(world.launches))
        if world.cancelled:
            assert world.lot.parked is None
            break
        assert world.supervisor.run.status == "running", "it does not go on"
        assert world.client_lives, "the client was not started again"
        world.lot.answered()
    world.supervisor.run.close()
    return by_timer


def parked_command(world: World) -> World:
    """A command without a session, parked while it runs, as the proxy does it; the limit has passed."""
    world.continues, world.rules = False, Resume(jitter_s=0)
    world.lot = world.open_lot()
    world.lot.see(UsageLimit(reason="limit", source="test", resets_in=90.0))
    world.time += 100.0
    return world


def test_a_command_that_ends_while_it_is_parked_is_run_again_by_a_person_only(tmp_path, monkeypatch):
    world = parked_command(World(tmp_path, 1, monkeypatch))
    assert world.lot.exited(1)
    world.look()
    assert world.lot.liveness.words == "parked: needs you" and "start over" in world.lot.liveness.question
    world.time += 86_400.0
    world.look()
    world.reopen()
    world.look()
    assert world.woken() == [] and world.launches == []
    person_resumes(world)
    world.look()
    assert [(each.by, each.how) for each in world.woken()] == [("a person", "the command is restarted")]
    assert world.launches == [1]
    world.supervisor.run.close()


@pytest.mark.parametrize("killed", [False, True])
def test_a_person_who_resumes_before_the_owner_has_looked_is_heard(tmp_path, monkeypatch, killed):
    world = World(tmp_path, 1, monkeypatch)
    world.lot.see(UsageLimit(reason="limit", source="test", resets_in=3600.0))
    if killed:
        world.reopen()
    person_resumes(world)
    world.look()
    assert [each.by for each in world.woken()] == ["a person"]
    world.supervisor.run.close()


def test_two_runs_on_one_quota_wake_one_after_the_other(tmp_path, monkeypatch):
    first, second = (World(tmp_path, seed, monkeypatch) for seed in (1, 2))
    first.now = second.now
    limit = UsageLimit(reason="limit", source="test", resets_in=90.0)
    for world in (first, second):
        world.rules = Resume(jitter_s=0)
        world.lot = world.open_lot()
        world.lot.see(limit)

    def pass_time(seconds: float) -> tuple[int, int]:
        second.time += seconds
        first.look()
        second.look()
        return len(first.woken()), len(second.woken())

    assert pass_time(89.0) == (0, 0)
    assert pass_time(1.0) == (1, 0), "the second waits for its turn"
    assert pass_time(SPACING_S - 1.0) == (1, 0)
    # The first meets the limit again before the second has its turn: the second waits for that, too.
    first.lot.see(limit)
    assert pass_time(2.0) == (1, 0)
    assert pass_time(80.0) == (1, 0)
    woken = pass_time(10.0)
    assert sum(woken) == 2, "one of them, not both"
    assert pass_time(SPACING_S) == (2, 1)
    for world in (first, second):
        world.supervisor.run.close()


def test_a_command_that_gives_up_after_it_was_woken_is_not_run_again_by_itself(tmp_path, monkeypatch):
    world = parked_command(World(tmp_path, 1, monkeypatch))
    world.look()
    assert [each.by for each in world.woken()] == ["the timer"]
    world.last_words = "You've hit your usage limit. Try again in 90 seconds."
    assert world.lot.exited(1)
    world.time += 86_400.0
    world.look()
    assert world.launches == [] and world.lot.parked.held_by and len(world.woken()) == 1
    world.supervisor.run.close()


def test_a_command_that_met_a_limit_and_succeeded_has_ended(tmp_path, monkeypatch):
    world = World(tmp_path, 1, monkeypatch)
    world.continues = False
    world.lot = world.open_lot()
    world.lot.see(UsageLimit(reason="limit", source="test", resets_in=5.0))
    assert not world.lot.exited(0) and world.lot.parked is None
    world.supervisor.run.close()


def person_resumes(world: World) -> None:
    """`interlock resume`, as the endpoint carries it out: the status changes, and the owner finds out."""
    type(world.supervisor.run).resume(world.supervisor.run)


def simulate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: range, limits: int) -> int:
    total = 0
    for seed in seeds:
        with monkeypatch.context() as patch:
            root = tmp_path / str(seed)
            root.mkdir()
            total += play(World(root, seed, patch), limits)
    return total


def test_limits_with_kills_reboots_and_jumping_clocks_lose_nothing_and_wake_once(tmp_path, monkeypatch):
    assert simulate(tmp_path, monkeypatch, range(4), 4) > 0


@pytest.mark.torture
def test_two_hundred_limits_lose_nothing_and_wake_once(tmp_path, monkeypatch):
    assert simulate(tmp_path, monkeypatch, range(100, 150), 8) > 20
