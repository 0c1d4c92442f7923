"""A cluster of three servers, its owners and controllers as processes, and everything that is done to them."""

from __future__ import annotations

import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from interlock.control import new_request
from interlock.core import InterlockError, Record
from interlock.journal import JournalReader, RunFolder
from interlock.link.hub_client import HubClient

from ..waiting import eventually
from .cluster import SIZE, Cluster, Wire
from .cluster_controller import note_and_ask
from .linearizability import judge, read_history

RUNS = ("run-a", "run-b", "run-c")
FAULTS = (
    "leader killed", "follower killed", "leader stopped", "follower stopped", "leader cut off", "follower cut off",
    "data lost", "disk full", "clock jump", "owner killed", "owner stopped", "owner cut off", "controller killed",
    "controller stopped",
)  # fmt: skip
HOLD_S = (0.1, 0.5, 1.5, 3.0, 9.0)
"""How long a fault lasts. The servers elect another leader after 4 to 9 seconds."""

JUMPS_S = (3600, -3600, -86_400, 3650 * 86_400)
KINDS = frozenset(("ack", "result", "state"))


class ClusterTorture:
    """Break one cluster and whoever uses it, then judge what controllers were told."""

    def __init__(self, place: Path, seed: int, *, controllers: int, threads: int) -> None:
        self.place, self.dice = place, random.Random(seed)
        self.cluster = Cluster(place / "hub")
        self.wires = {run: [Wire(port) for port in self.cluster.ports] for run in RUNS}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.controllers = [f"controller-{number}" for number in range(controllers)]
        self.started, self.threads = 0, threads
        self.happened: Counter[str] = Counter()
        self._next: list[str] = []
        self._counted: dict[Path, tuple[int, int]] = {}
        (place / "runs").mkdir()
        self.library = _compile(place)
        can_fill = os.geteuid() == 0 and self.cluster.mount_small_disk(SIZE - 1)
        self.missing = {name for name, can in (("disk full", can_fill), ("clock jump", self.library)) if not can}
        """Faults that cannot be had here."""

    def run(self, faults: int, commands: int) -> None:
        """Break something so many times, while so many commands are given."""
        with self.cluster:
            try:
                for name in (*RUNS, *self.controllers):
                    self.start(name)
                eventually(lambda: self.commands() >= 10, patience_s=180)
                eventually(self.cluster.is_whole, patience_s=180)
                for number in range(1, faults + 1):
                    self.break_something()
                    if self.dice.random() < 0.5:
                        # The next fault comes before this one has healed.
                        time.sleep(self.dice.uniform(0.1, 1.0))
                    else:
                        eventually(lambda number=number: self.commands() >= number * commands / faults, patience_s=180)  # type: ignore[misc]
                eventually(self.cluster.is_whole, patience_s=180)
                eventually(lambda: self.commands() >= commands, patience_s=180)
                self.end()
            finally:
                for name in self.processes:
                    self.kill(name)
                for wire in (wire for wires in self.wires.values() for wire in wires):
                    wire.close()

    def start(self, name: str) -> None:
        ahead = self.place / f"{name}.ahead"
        if not ahead.exists():
            ahead.write_bytes(bytes(8))
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        if self.library is not None:
            env |= {"LD_PRELOAD": str(self.library), "CLOCK_AHEAD": str(ahead)}
        if name in RUNS:
            url = ",".join(f"nats://127.0.0.1:{wire.port}" for wire in self.wires[name])
            given = ["cluster_owner", str(self.place / "runs"), name, url]
        else:
            self.started += 1
            url, history = str(self.cluster.settings.url), self.place / f"history-{self.started}"
            given = [
                "cluster_controller",
                url,
                str(history),
                ",".join(RUNS),
                str(self.dice.random()),
                str(self.threads),
            ]
        with (self.place / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", f"tests.link.{given[0]}", *given[1:]],
                cwd=Path(__file__).parents[2], env=env, stdout=log, stderr=log,
            )  # fmt: skip

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()

    def commands(self) -> int:
        """Commands that have an answer."""
        for file in self.place.glob("history-*"):
            offset, count = self._counted.get(file, (0, 0))
            with file.open("rb") as lines:
                lines.seek(offset)
                more = lines.read().rpartition(b"\n")[0] + b"\n"
            if len(more) > 1:
                self._counted[file] = offset + len(more), count + more.count(b'"told"')
        return sum(count for _, count in self._counted.values())

    def break_something(self) -> None:
        """Every kind of fault once, in some order; then in another."""
        if not self._next:
            self._next = [fault for fault in FAULTS if fault not in self.missing]
            self.dice.shuffle(self._next)
        fault = self._next.pop()
        whom, _, what = fault.partition(" ")
        hold = self.dice.choice(HOLD_S)
        if whom in ("leader", "follower"):
            leader = self.cluster.leader() or 0
            server = leader if whom == "leader" else (leader + self.dice.randrange(1, SIZE)) % SIZE
            self._break_server(server, what, hold)
        elif whom in ("owner", "controller"):
            self._break_process(self.dice.choice(RUNS if whom == "owner" else self.controllers), what, hold)
        elif fault == "data lost":
            # Of one server, while the others have everything.
            eventually(self.cluster.is_whole, patience_s=180)
            self.cluster.lose_data(self.dice.randrange(SIZE))
            eventually(self.cluster.is_whole, patience_s=180)
        elif fault == "disk full":
            self.cluster.fill_disk(SIZE - 1)
            time.sleep(hold)
            self.cluster.empty_disk(SIZE - 1)
        else:
            name = self.dice.choice((*RUNS, *self.controllers))
            with (self.place / f"{name}.ahead").open("r+b") as ahead:
                ahead.write(struct.pack("q", self.dice.choice(JUMPS_S)))
        self.happened[fault] += 1

    def _break_server(self, server: int, what: str, hold: float) -> None:
        cluster = self.cluster
        if what == "killed":
            cluster.kill(server)
            time.sleep(hold)
            cluster.start(server)
        elif what == "stopped":
            cluster.signal(server, signal.SIGSTOP)
            time.sleep(hold)
            cluster.signal(server, signal.SIGCONT)
        else:
            cluster.cut_off(server)
            time.sleep(hold)
            cluster.heal(server)

    def _break_process(self, name: str, what: str, hold: float) -> None:
        if what == "killed":
            self.kill(name)
            time.sleep(min(hold, HOLD_S[2]))
            self.start(name)
        elif what == "stopped":
            self.processes[name].send_signal(signal.SIGSTOP)
            time.sleep(hold)
            self.processes[name].send_signal(signal.SIGCONT)
        else:
            for wire in self.wires[name]:
                wire.cut = True
            time.sleep(hold)
            for wire in self.wires[name]:
                wire.heal()

    def end(self) -> None:
        """When everything has healed, everybody is reachable again. Cancel each run while controllers steer it."""

        def is_answered(run: str, command: str) -> bool:
            try:
                with HubClient(self.cluster.settings) as client, (self.place / "history-end").open("ab", 0) as history:
                    answer = note_and_ask(client, history, new_request(os.urandom(8).hex(), command, run), 60)  # type: ignore[arg-type]
                    return answer.outcome != "unknown" and {it.summary.run_id for it in client.runs()} >= set(RUNS)
            except InterlockError:
                return False

        for run in RUNS:
            for command in ("pause", "cancel", "resume"):
                eventually(lambda run=run, command=command: is_answered(run, command), patience_s=180)  # type: ignore[misc]
        for name in self.controllers:
            self.kill(name)

    def judge(self) -> tuple[int, int]:
        """How many commands were answered, and how many of these with: unknown."""
        operations = read_history(self.place.glob("history-*"))
        for run in RUNS:
            own = {key: row for key, row in operations.items() if row.get("run") == run}
            with JournalReader.open(RunFolder(self.place / "runs" / run)) as reader:
                records: list[Record] = list(reader.read(kinds=KINDS))
            notes = (self.place / "runs" / f"{run}.ticks").read_text().splitlines()
            assert judge(records, own, notes) == [], run
            assert any(row["command"] == "cancel" and row.get("outcome") == "success" for row in own.values()), run
        told = [row["outcome"] for row in operations.values() if "told" in row]
        return len(told), told.count("unknown")


def _compile(place: Path) -> Path | None:
    compiler, made = shutil.which("cc") or shutil.which("gcc"), place / "clock_jump.so"
    if compiler is None:
        return None
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-o", made, Path(__file__).with_name("clock_jump.c"), "-ldl"], check=True
    )
    return made
