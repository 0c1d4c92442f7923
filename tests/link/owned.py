"""A run with a real journal, gate file, endpoint and socket, in this process."""

from __future__ import annotations

import socket
from pathlib import Path

import msgspec

from interlock.control import CONTROL_KINDS, ControlRules, Desired, Event, Execute, Executed, StackFrame, new_state
from interlock.core import Applied, Record, RunSpec
from interlock.journal import Journal, JournalReader, RunFolder, Store
from interlock.link import ControlServer, Endpoint, FileGate, JournalLog

from ..control.owner import RUN, make, short


class TestActuator:
    """The gate file, and somebody who executes when told to."""

    __test__ = False

    def __init__(self, folder: RunFolder) -> None:
        self.gate = FileGate(folder.gate)
        self.told: list[Desired] = []
        self.orders: list[Execute] = []

    @property
    def revision(self) -> int:
        return self.gate.revision

    def set_desired(self, desired: Desired) -> Applied:
        self.told.append(desired)
        return self.gate.set_desired(desired)

    def rest(self) -> None:
        self.gate.rest()

    def execute(self, order: Execute) -> Executed | None:
        self.orders.append(order)
        return None


class Owned:
    """Start it with `with`; `crash` forgets everything but the disk."""

    def __init__(
        self,
        root: Path,
        rules: ControlRules | None = None,
        run_id: str = RUN,
        frame_id: str | None = None,
        name: str = "",
    ) -> None:
        store = Store(root)
        self.frame_id = frame_id or run_id
        self.rules = rules or ControlRules()
        try:
            self.folder = store.create(RunSpec(run_id=run_id, name=name))
        except Exception:
            self.folder = store.find(run_id)
        self.start()

    def start(self, listener: socket.socket | None = None) -> None:
        self.journal = Journal.open(self.folder)
        self.actuator = TestActuator(self.folder)
        frame = StackFrame(id=self.frame_id, mode="loop", iter=1, max=10, model="claude-haiku-4-5")
        fresh = new_state(self.folder.run_id, stack=(frame,), rules=self.rules)
        self.endpoint = Endpoint(fresh, JournalLog(self.journal), self.actuator)
        self.endpoint.start()
        self.server = ControlServer(self.endpoint, self.folder.path, listener)
        self.server.open()

    def close(self) -> None:
        self.server.close()
        self.endpoint.close()
        self.journal.close()

    def __enter__(self) -> Owned:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def records(self, kinds: frozenset[str] = CONTROL_KINDS) -> list[Record]:
        self.journal.flush()
        with JournalReader.open(self.folder) as reader:
            return list(reader.read(kinds=kinds))

    def audits(self) -> list[dict[str, object]]:
        return [msgspec.json.decode(record.body) for record in self.records(frozenset({"audit"}))]


class SocketSender:
    """A sender on the run's real socket: one connection, whose answers are read in order."""

    def __init__(self, owned: Owned) -> None:
        self.owned = owned
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(owned.server.path))
        self.sock.settimeout(150)
        self.lines = self.sock.makefile("rb")
        self.results: list[bytes] = []
        self.markers = 0

    def do(self, event: Event) -> object:
        return self.owned.endpoint.post(event)

    def say(self, data: bytes, expected: int) -> list[str]:
        self.sock.sendall(data + b"\n" + self._mark())
        return self._read_to_mark()

    def execute(self) -> list[str]:
        self.owned.endpoint.post(Executed(self.owned.actuator.orders[-1].request_id, True, "done"))
        self.sock.sendall(self._mark())
        return self._read_to_mark()

    def last_result(self) -> bytes:
        return self.results[-1] if self.results else b""

    def close(self) -> None:
        self.lines.close()
        self.sock.close()

    def _mark(self) -> bytes:
        """A request whose answer comes after everything before it."""
        self.markers += 1
        return make("pause", run="nowhere", id=f"mark-{self.markers}") + b"\n"

    def _read_to_mark(self) -> list[str]:
        found = []
        while True:
            line = self.lines.readline().rstrip(b"\n")
            message = msgspec.json.decode(line)
            if message.get("request_id") == f"mark-{self.markers}":
                return found
            if message.get("type") == "RESULT":
                self.results.append(line)
            found.append(short(message))
