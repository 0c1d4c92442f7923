"""A cluster of three servers under fault, while owners and controllers die: nothing lost, doubled, reordered or untrue."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from interlock.control import new_request
from interlock.core import InterlockError, Record
from interlock.journal import JournalReader, RunFolder
from interlock.link.hub import RUNS_STREAM, STREAM
from interlock.link.hub_client import HubClient

from .cluster import SIZE, Cluster
from .linearizability import judge, read_history
from .test_hub import until

RUNS = ("run-a", "run-b", "run-c")
FAKETIME = next(iter(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")), None)
FAULTS = (
    "leader killed", "follower killed", "server stopped", "partition", "data lost", "disk full", "clock jump",
    "owner killed", "controller killed", "owner stopped",
)  # fmt: skip


class Torture:
    """One cluster, its owners and controllers as processes, and who breaks them."""

    def __init__(self, place: Path, seed: int, *, controllers: int, threads: int) -> None:
        self.place, self.dice = place, random.Random(seed)
        self.cluster = Cluster(place / "hub")
        self.owners: dict[str, subprocess.Popen[bytes]] = {}
        self.controllers: list[subprocess.Popen[bytes]] = []
        self.started, self.threads, self.count = 0, threads, controllers
        self.happened: Counter[str] = Counter()
        self.small = self.cluster.mount_small_disk(SIZE - 1) if os.geteuid() == 0 else False
        (place / "runs").mkdir()

    def start_owner(self, run: str, ahead: str = "") -> None:
        url = self.cluster.settings.url
        self.owners[run] = self._start("cluster_owner", str(self.place / "runs"), run, str(url), ahead=ahead)

    def start_controller(self, ahead: str = "") -> subprocess.Popen[bytes]:
        self.started += 1
        history = self.place / f"history-{self.started}"
        url, seed = str(self.cluster.settings.url), str(self.dice.random())
        given = (url, str(history), ",".join(RUNS), seed, str(self.threads))
        return self._start("cluster_controller", *given, ahead=ahead)

    def _start(self, module: str, *arguments: str, ahead: str = "") -> subprocess.Popen[bytes]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        if ahead:
            env |= {"LD_PRELOAD": str(FAKETIME), "FAKETIME": ahead, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        with (self.place / f"{module}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"tests.link.{module}", *arguments],
                cwd=Path(__file__).parents[2], env=env, stdout=log, stderr=log,
            )  # fmt: skip

    def break_something(self) -> None:
        fault = self.dice.choice(FAULTS)
        server = self.dice.randrange(SIZE)
        if fault in ("leader killed", "follower killed"):
            leader = self.cluster.leader()
            if leader is not None:
                server = leader if fault == "leader killed" else (leader + 1) % SIZE
        if fault == "disk full" and not self.small:
            return
        if fault == "clock jump" and FAKETIME is None:
            return
        hold = self.dice.choice((0.1, 0.5, 1.5, 3.0))
        getattr(self, "_" + fault.replace(" ", "_"))(server, hold)
        self.happened[fault] += 1

    def _leader_killed(self, server: int, hold: float) -> None:
        self.cluster.kill(server)
        time.sleep(hold)
        self.cluster.start(server)

    _follower_killed = _leader_killed

    def _server_stopped(self, server: int, hold: float) -> None:
        self.cluster.signal(server, signal.SIGSTOP)
        time.sleep(hold)
        self.cluster.signal(server, signal.SIGCONT)

    def _partition(self, server: int, hold: float) -> None:
        self.cluster.partition(server)
        time.sleep(hold * 2)
        self.cluster.heal(server)

    def _data_lost(self, server: int, hold: float) -> None:
        # Of one server, while the others have everything: two losses in a row need time to copy between them.
        until(self.is_whole, 120)
        server = min(server, SIZE - 2)
        self.cluster.lose_data(server)
        until(self.is_whole, 120)

    def _disk_full(self, server: int, hold: float) -> None:
        self.cluster.fill_disk(SIZE - 1)
        time.sleep(hold)
        self.cluster.empty_disk(SIZE - 1)

    def _clock_jump(self, server: int, hold: float) -> None:
        """The wall clock of an owner or of a controller; a static program like the server has no such knob."""
        ahead = self.dice.choice(("+3600s", "-3600s", "+3650d"))
        if self.dice.random() < 0.5:
            self._owner_killed(server, 0.0, ahead)
            return
        self._controller_killed(server, hold, ahead)

    def _owner_killed(self, server: int, hold: float, ahead: str = "") -> None:
        run = self.dice.choice(RUNS)
        self.owners[run].kill()
        self.owners[run].wait()
        time.sleep(hold)
        self.start_owner(run, ahead)

    def _owner_stopped(self, server: int, hold: float) -> None:
        run = self.dice.choice(RUNS)
        self.owners[run].send_signal(signal.SIGSTOP)
        time.sleep(hold)
        self.owners[run].send_signal(signal.SIGCONT)

    def _controller_killed(self, server: int, hold: float, ahead: str = "") -> None:
        index = self.dice.randrange(len(self.controllers))
        self.controllers[index].kill()
        self.controllers[index].wait()
        self.controllers[index] = self.start_controller(ahead)

    def is_whole(self) -> bool:
        """Whether every copy of both streams is current."""
        import asyncio

        from interlock.link.hub_connect import open_session

        async def ask() -> bool:
            session = await open_session(self.cluster.settings, "whole")
            try:
                for name in (STREAM, RUNS_STREAM):
                    peers = (await session.api(f"STREAM.INFO.{name}", {}))["cluster"].get("replicas", ())
                    if len(peers) != SIZE - 1 or not all(peer.get("current") for peer in peers):
                        return False
                return True
            finally:
                await session.close()

        try:
            return asyncio.run(asyncio.wait_for(ask(), 20))
        except Exception:
            return False

    def run(self, go_on: Callable[[Torture], bool]) -> None:
        with self.cluster:
            try:
                for run in RUNS:
                    self.start_owner(run)
                self.controllers = [self.start_controller() for _ in range(self.count)]
                until(lambda: self.commands() >= 10, 60)
                until(self.is_whole, 60)
                while go_on(self):
                    self.break_something()
                    time.sleep(self.dice.uniform(0.1, 1.0))
                until(self.is_whole, 180)
                self.check_reachable()
            finally:
                for process in (*self.controllers, *self.owners.values()):
                    process.send_signal(signal.SIGCONT)
                    process.kill()
                    process.wait()

    def commands(self) -> int:
        """Commands that have an answer."""
        return sum(file.read_bytes().count(b'"told"') for file in self.place.glob("history-*"))

    def check_reachable(self) -> None:
        """When everything has healed, everybody is there again, and every copy of a run says the same."""
        for controller in self.controllers:
            controller.kill()
            controller.wait()

        def reached(run: str) -> bool:
            try:
                with HubClient(self.cluster.settings) as client:
                    asked = new_request(os.urandom(8).hex(), "pause", run)
                    if client.ask(asked, timeout=20).outcome == "unknown":
                        return False
                    return {known.summary.run_id for known in client.runs()} >= set(RUNS)
            except InterlockError:
                return False

        for run in RUNS:
            until(lambda run=run: reached(run), 120)  # type: ignore[misc]

    def judge(self) -> tuple[int, int]:
        operations = read_history(self.place.glob("history-*"))
        answered = 0
        for run in RUNS:
            own = {key: row for key, row in operations.items() if row.get("run") == run}
            answered += sum("told" in row for row in own.values())
            with JournalReader.open(RunFolder(self.place / "runs" / run)) as reader:
                records: list[Record] = list(reader.read(kinds=frozenset(("ack", "result", "state"))))
            notes = (self.place / "runs" / f"{run}.ticks").read_text().splitlines()
            assert judge(records, own, notes) == [], run
        return answered, sum(row.get("outcome") == "unknown" for row in operations.values())


def torture(place: Path, seed: int, go_on: Callable[[Torture], bool], controllers: int = 2, threads: int = 3) -> None:
    made = Torture(place, seed, controllers=controllers, threads=threads)
    made.run(go_on)
    answered, unknown = made.judge()
    print(f"{answered:,} commands, {unknown} unknown; {made.happened.total()} faults: {dict(made.happened)}")
    assert answered > 10


def test_a_cluster_under_a_few_faults(tmp_path: Path) -> None:
    torture(tmp_path, 7, lambda made: made.happened.total() < 2, controllers=1)


@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_a_cluster_under_two_hundred_faults(tmp_path: Path) -> None:
    torture(tmp_path, 1, lambda made: made.happened.total() < 200 or made.commands() < 20_000, 4, 5)


def _record(seq: int, kind: str, **body: object) -> Record:
    return Record(seq=seq, run_id="r", time=float(seq), kind=kind, body=msgspec.Raw(msgspec.json.encode(body)))


def _result(seq: int, request_id: str, command: str, status: str = "success") -> Record:
    code = {} if status == "success" else {"code": "invalid_state"}
    return _record(seq, "result", request_id=request_id, command=command, payload={"status": status, **code})


def _asked(asked: float, told: float, outcome: str = "success", code: str | None = None) -> dict[str, object]:
    return {"asked": asked, "told": told, "outcome": outcome, "code": code}


GOOD = [_result(1, "p", "pause"), _result(2, "r", "resume")]


@pytest.mark.parametrize(
    ("records", "operations", "notes", "what"),
    [
        (GOOD, {"p": _asked(1, 2), "r": _asked(3, 4)}, ["tick 0 0.1", "shut 2", "open 3", "tick 3.1 3.2"], None),
        (GOOD, {"p": _asked(1, 9), "r": _asked(1, 9)}, [], None),
        ([*GOOD, _result(3, "p", "pause")], {}, [], "doubled"),
        ([_result(1, "r", "resume")], {}, [], "illegal"),
        ([_result(1, "p", "pause"), _result(2, "q", "pause", "failure")], {}, [], None),
        ([_record(1, "ack", request_id="a"), _record(2, "ack", request_id="b"), _result(3, "c", "pause")], {}, [], "lost"),
        (GOOD, {"x": _asked(1, 2)}, [], "untrue"),
        (GOOD, {"p": _asked(1, 2, "failure", "not_found")}, [], "untrue"),
        (GOOD, {"p": _asked(5, 6), "r": _asked(1, 2)}, [], "reordered"),
        (GOOD, {}, ["shut 2", "tick 2.1 2.2", "open 3"], "a step"),
        (GOOD, {}, ["shut 2", "open 3", "shut 4", "tick 4.1 4.2"], "a step"),
    ],
)  # fmt: skip
def test_the_judge_is_not_blind(records: list[Record], operations: dict, notes: list[str], what: str | None) -> None:
    found = judge(records, operations, notes)
    assert (found == []) if what is None else any(words.startswith(what) for words in found), found
