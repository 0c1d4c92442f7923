"""A cluster of three servers under fault, while owners and controllers die: nothing lost, doubled, reordered or untrue."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

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

    def start_owner(self, run: str) -> None:
        url = self.cluster.settings.url
        self.owners[run] = self._start("cluster_owner", str(self.place / "runs"), run, str(url))

    def start_controller(self) -> subprocess.Popen[bytes]:
        self.started += 1
        history = self.place / f"history-{self.started}"
        url, seed = str(self.cluster.settings.url), str(self.dice.random())
        return self._start("cluster_controller", url, str(history), ",".join(RUNS), seed, str(self.threads))

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
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
        if fault == "clock jump" and shutil.which("faketime") is None:
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
        self.cluster.kill(server)
        self.cluster.start(server, ahead=self.dice.choice(("+3600s", "-3600s", "+10s")))
        time.sleep(hold * 2)
        self.cluster.kill(server)
        self.cluster.start(server)

    def _owner_killed(self, server: int, hold: float) -> None:
        run = self.dice.choice(RUNS)
        self.owners[run].kill()
        self.owners[run].wait()
        time.sleep(hold)
        self.start_owner(run)

    def _owner_stopped(self, server: int, hold: float) -> None:
        run = self.dice.choice(RUNS)
        self.owners[run].send_signal(signal.SIGSTOP)
        time.sleep(hold)
        self.owners[run].send_signal(signal.SIGCONT)

    def _controller_killed(self, server: int, hold: float) -> None:
        index = self.dice.randrange(len(self.controllers))
        self.controllers[index].kill()
        self.controllers[index].wait()
        self.controllers[index] = self.start_controller()

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
                records: list[Record] = list(reader.read(kinds=frozenset(("request", "ack", "result", "state"))))
            acked = {r.seq for r in records if r.kind == "ack"}
            results = [r for r in records if r.kind == "result"]
            assert len(results) >= len(acked) - 1, "lost: acknowledged, and no RESULT"
            lines = (self.place / "runs" / f"{run}.ticks").read_text().splitlines()
            ticks = [(float(pair[0]), float(pair[1])) for line in lines if len(pair := line.split()) == 2]
            assert judge(records, own, ticks) == [], run
        return answered, sum(row.get("outcome") == "unknown" for row in operations.values())


def torture(place: Path, seed: int, go_on: Callable[[Torture], bool], controllers: int = 2, threads: int = 3) -> None:
    made = Torture(place, seed, controllers=controllers, threads=threads)
    made.run(go_on)
    answered, unknown = made.judge()
    print(f"{answered:,} commands, {unknown} unknown; {made.happened.total()} faults: {dict(made.happened)}")
    assert answered > 10


def test_a_cluster_under_a_few_faults(tmp_path: Path) -> None:
    place = tmp_path
    torture(place, 7, lambda made: made.happened.total() < 3, controllers=1)


@pytest.mark.torture
@pytest.mark.timeout(7200)
def test_a_cluster_under_two_hundred_faults(tmp_path: Path) -> None:
    torture(tmp_path, 1, lambda made: made.happened.total() < 200 or made.commands() < 20_000, 3, 5)
