"""The owner of a simulated run: the real state machine over a log that survives, in a process that does not."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from interlock.control import (
    OUTGOING,
    Actuate,
    ClockReading,
    ControlState,
    Desired,
    Event,
    Execute,
    OwnerStarted,
    Persist,
    Received,
    Send,
    Tick,
    handle,
    new_state,
    recover,
)
from interlock.control.events import LogEntry
from interlock.core import Record

from .weather import Timeline

RUN = "run"


class Crash(Exception):
    """Raised at a boundary where the owner dies."""


class Conn(Struct, eq=False):
    """A socket connection: it is gone when its owner is."""

    number: int
    epoch: int


class OwnerSide(Timeline):
    """What happens in the owner's process. What it reaches is above it: `reply`, `reach_actuator` and others."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        super().__init__(seed, trace)
        self.step = 0.0
        self.boundaries, self.crash_at = 0, -1
        self.log: list[Record] = []
        self.transaction_of: list[int] = []
        self.commit_time: list[float] = []
        self.transactions = 0
        self.published = 0
        self.fresh = new_state(RUN, model="haiku")
        self.state: ControlState = self.fresh
        self.up, self.epoch, self.restarts = False, 0, 0
        self.boot, self.thaw_at, self.frozen = 0.0, 0.0, 0.0
        self.until = 450.0
        self.conns: dict[str, list[Conn]] = {}
        self.inbox: list[tuple[float, float, bytes]] = []
        self.actuator = Desired(0, "running", False, "haiku")
        self.under_way: set[str] = set()
        self._pending: list[Event] = []
        self._busy = False

    def now(self) -> ClockReading:
        """The owner's clocks: the wall clock may step, the steady one begins anew with each start."""
        return ClockReading(1e9 + self.time + self.step, 1000.0 + self.live_time() - self.boot)

    def live_time(self) -> float:
        """Time in which the owner could have worked: windows do not run out while it is frozen."""
        return self.time - self.frozen

    def boundary(self) -> None:
        """A place where the owner may die."""
        self.boundaries += 1
        if self.boundaries == self.crash_at:
            raise Crash
        if self.weather.crash and self.dice.random() < self.weather.crash:
            raise Crash

    def start_owner(self) -> None:
        self.up = True
        self.epoch += 1
        self.boot = self.live_time() if self.dice.random() < 0.5 else self.boot
        self.state = recover(self.log, self.fresh, self.now(), frozenset(self.under_way))
        self._pending.clear()
        self._busy = False
        self.post(OwnerStarted(self.actuator.revision))
        for file in sorted(self.inbox):
            if not self.up:
                return
            mtime, _, data = file
            self.post(Received(data, None, self.now().wall - mtime, "inbox"))
            if self.up:
                self.inbox.remove(file)
        if self.up:
            self.publish()

    def crash_owner(self) -> None:
        if self.trace:
            self.trace(f"{self.time:10.4f} CRASH")
        self.up = False
        self.conns.clear()
        self._pending.clear()
        self.restarts += 1
        if self.restarts > 12:
            self.weather = msgspec.structs.replace(self.weather, crash=0.0)
        self.at(self.dice.choice((0.1, 3.0, 60.0)) * self.dice.random(), self.start_owner)

    def freeze_owner(self, seconds: float) -> None:
        """The owner is stopped (SIGSTOP, a sleeping machine): what is sent to it waits in its buffers."""
        if not self.up:
            return
        self.thaw_at = self.time + seconds
        # It notices nothing of the time that it slept, beyond one look at the clock.
        self.frozen += max(0.0, seconds - 5.0)

    def post(self, event: Event) -> None:
        """Hand an event to the machine and carry out what it asks for, as the owner does."""
        if not self.up:
            return
        if self.time < self.thaw_at:
            self.at(self.thaw_at - self.time, self.post_later, event, self.epoch)
            return
        self._pending.append(event)
        if self._busy:
            return
        self._busy = True
        try:
            while self._pending:
                self.state, effects = handle(self.state, self._pending.pop(0), self.now())
                for effect in effects:
                    self.boundary()
                    self.carry_out(effect)
                    self.boundary()
        except Crash:
            self.crash_owner()
        finally:
            self._busy = False

    def post_later(self, event: Event, epoch: int) -> None:
        if epoch == self.epoch:
            self.post(event)

    def carry_out(self, effect: Persist | Send | Actuate | Execute) -> None:
        if isinstance(effect, Persist):
            self.commit(effect.entries)
            self.boundary()
            self.send_committed(effect.entries)
        elif isinstance(effect, Send):
            self.answer_copy(effect)
        elif isinstance(effect, Actuate):
            self.reach_actuator(effect.desired)
        else:
            self.execute(effect)

    def commit(self, entries: tuple[LogEntry, ...]) -> None:
        self.transactions += 1
        for entry in entries:
            seq = len(self.log) + 1
            self.log.append(Record(seq=seq, run_id=RUN, time=self.now().wall, kind=entry.kind, body=Raw(entry.body)))
            self.transaction_of.append(self.transactions)
            self.commit_time.append(self.time)

    def send_committed(self, entries: tuple[LogEntry, ...]) -> None:
        for entry in entries:
            if entry.kind in OUTGOING and entry.request_id is not None:
                for conn in self.conns.get(entry.request_id, ()):
                    self.reply(conn, entry.body)
        self.publish()

    def publish(self) -> None:
        """The outbox: whatever is committed goes to the broker in sequence, when there is one."""
        end = self.outage_end(self.time)
        if end is not None:
            self.at(end - self.time + 0.01, self.publish_later, self.epoch)
            return
        while self.published < len(self.log):
            record = self.log[self.published]
            self.published += 1
            if record.kind in OUTGOING:
                self.spread(bytes(record.body))

    def publish_later(self, epoch: int) -> None:
        if self.up and epoch == self.epoch:
            self.publish()

    def step_clock(self, seconds: float) -> None:
        self.step += seconds

    def tick(self) -> None:
        self.post(Tick())
        if self.time < self.until + 100:
            self.at(self.dice.choice((10.0, 40.0)), self.tick)

    def reply(self, conn: Conn, body: bytes) -> None:
        raise NotImplementedError

    def spread(self, body: bytes) -> None:
        raise NotImplementedError

    def answer_copy(self, effect: Send) -> None:
        raise NotImplementedError

    def reach_actuator(self, desired: Desired) -> None:
        raise NotImplementedError

    def execute(self, effect: Execute) -> None:
        raise NotImplementedError
