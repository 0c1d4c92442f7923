"""Simulation: the real state machine and the real controller in a world that loses, doubles, delays and crashes.

One seed is one world; the same seed gives the same world, event for event:
    python -m tests.control.simulation SEED      (prints what happens)
"""

from __future__ import annotations

import heapq
import random
import sys
from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from interlock.control import (
    OUTGOING,
    Actuate,
    Actuated,
    Answer,
    Controller,
    ControlState,
    Desired,
    Event,
    Execute,
    Executed,
    Found,
    IterationEnded,
    IterationStarted,
    LookUp,
    Moment,
    Persist,
    Received,
    RunEnded,
    Send,
    Started,
    Tick,
    Transmit,
    Waiting,
    WaitingForPerson,
    find_request,
    handle,
    may_start,
    new_request,
    new_state,
    recover,
)
from interlock.control.effects import Entry
from interlock.core import Record

RUN = "run"
MODELS = ("haiku", "sonnet", "opus")
COMMANDS = ("pause", "pause", "pause", "resume", "resume", "resume", "escalate", "approve", "rollback")


class Crash(Exception):
    """Raised at a boundary where the owner dies."""


class Weather(Struct, frozen=True):
    """How bad it is in one world."""

    loss: float
    duplication: float
    delay: float
    first_leg: float
    crash: float
    slow_actuator: float
    broken_actuator: float
    execution: float
    clock_steps: bool
    outages: tuple[tuple[float, float], ...]


class Conn(Struct, eq=False):
    """A socket connection: it is gone when its owner is."""

    number: int
    epoch: int


class HubCopy(Struct, eq=False):
    """A copy that the broker took."""

    number: int
    data: bytes
    taken: float


class Passage(Struct, frozen=True):
    """An iteration that began, and how long the log was then."""

    key: str
    log_length: int


class Told(Struct, frozen=True):
    """A RESULT that reached a controller."""

    number: int
    body: bytes
    code: str | None


def choose_weather(dice: random.Random) -> Weather:
    outages = []
    for _ in range(dice.choice((0, 0, 1, 2))):
        begin = dice.uniform(0, 300)
        outages.append((begin, begin + dice.choice((5.0, 40.0, 330.0)) * dice.uniform(0.2, 1.1)))
    return Weather(
        loss=dice.choice((0.0, 0.05, 0.3)),
        duplication=dice.choice((0.0, 0.1, 0.4)),
        delay=dice.choice((0.05, 2.0, 40.0, 120.0)),
        first_leg=dice.choice((0.01, 1.0, 25.0)),
        crash=dice.choice((0.0, 0.01, 0.05, 0.15)),
        slow_actuator=dice.choice((0.0, 0.0, 1.0, 8.0)),
        broken_actuator=dice.choice((0.0, 0.0, 0.1)),
        execution=dice.choice((0.5, 20.0, 150.0)),
        clock_steps=dice.random() < 0.4,
        outages=tuple(sorted(outages)),
    )


class World:
    """One run, its owner, what acts outside, an agent, controllers, a broker; and virtual time."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None, commands: int = 8) -> None:
        self.seed, self.trace = seed, trace
        self.dice = random.Random(seed)
        self.weather = choose_weather(self.dice)
        self.time, self.step = 0.0, 0.0
        self._events: list[tuple[float, int, Callable[..., None], tuple[object, ...]]] = []
        self._count = 0
        self.until = 450.0

        self.log: list[Record] = []
        self.transaction_of: list[int] = []
        self.commit_time: list[float] = []
        self.transactions = 0
        self.published = 0

        self.fresh = new_state(RUN, model="haiku")
        self.up, self.epoch, self.restarts = False, 0, 0
        self.state: ControlState = self.fresh
        self.boot = 0.0
        self.thaw_at, self.frozen = 0.0, 0.0
        self._pending: list[Event] = []
        self._busy = False
        self.conns: dict[str, list[Conn]] = {}
        self.inbox: list[tuple[float, float, bytes]] = []

        self.actuator = Desired(0, "running", False, "haiku")
        self.executions: dict[str, bool] = {}
        self.under_way: set[str] = set()
        self.passages: list[Passage] = []
        self.agent_over = False

        self.controllers: list[Controller] = []
        self.by_hub: dict[int, bool] = {}
        self.answers: dict[int, Answer] = {}
        self.told: list[Told] = []
        self.violations: list[str] = []
        self._set_up(commands)

    def run(self) -> World:
        """Let everything happen, then let it settle."""
        while self._events:
            self.time, _, action, args = heapq.heappop(self._events)
            if self.trace:
                self.trace(f"{self.time:10.4f} {action.__name__} {args!r:.150}")
            action(*args)
        self.weather = msgspec.structs.replace(self.weather, crash=0.0, broken_actuator=0.0, slow_actuator=0.0)
        for _ in range(3):
            self.post(Tick())
        return self

    def at(self, delay: float, action: Callable[..., None], *args: object) -> None:
        self._count += 1
        heapq.heappush(self._events, (self.time + delay, self._count, action, args))

    def now(self) -> Moment:
        """The owner's clocks: the wall clock may step, the steady one begins anew with each start."""
        return Moment(1e9 + self.time + self.step, 1000.0 + self.live_time() - self.boot)

    def live_time(self) -> float:
        """Time in which the owner could have worked: windows do not run out while it is frozen."""
        return self.time - self.frozen

    def _set_up(self, commands: int) -> None:
        dice = self.dice
        self.at(0.0, self.start_owner)
        for number in range(commands):
            self.at(dice.uniform(0, 300), self.use_controller, number, dice.choice(COMMANDS))
        if dice.random() < 0.4:
            self.at(dice.uniform(100, 350), self.use_controller, commands, "cancel")
        self.at(dice.uniform(0, 5), self.try_iteration, 0)
        for _ in range(2):
            self.at(dice.uniform(0, 200), self.want_person, dice.randrange(3))
        if dice.random() < 0.3:
            self.at(dice.uniform(50, 400), self.end_agent, dice.choice(("COMPLETE", "STUCK", "ERROR")))
        if dice.random() < 0.3:
            self.at(dice.uniform(0, 300), self.freeze_owner, dice.choice((10.0, 100.0, 400.0)))
        if self.weather.clock_steps:
            for _ in range(2):
                self.at(dice.uniform(0, 400), self.step_clock, dice.choice((-3600.0, -40.0, 40.0, 400.0, 3600.0)))
        self.at(10.0, self.tick)

    def boundary(self) -> None:
        """A place where the owner may die."""
        if self.weather.crash and self.dice.random() < self.weather.crash:
            raise Crash

    def start_owner(self) -> None:
        self.up = True
        self.epoch += 1
        self.boot = self.live_time() if self.dice.random() < 0.5 else self.boot
        self.state = recover(self.log, self.fresh, self.now(), frozenset(self.under_way))
        self._pending.clear()
        self._busy = False
        self.post(Started(self.actuator.revision))
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

    def commit(self, entries: tuple[Entry, ...]) -> None:
        self.transactions += 1
        for entry in entries:
            seq = len(self.log) + 1
            self.log.append(Record(seq=seq, run_id=RUN, time=self.now().wall, kind=entry.kind, body=Raw(entry.body)))
            self.transaction_of.append(self.transactions)
            self.commit_time.append(self.time)

    def send_committed(self, entries: tuple[Entry, ...]) -> None:
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

    def spread(self, body: bytes) -> None:
        """A message of the topic on its way to every controller that listens and may want it."""
        found = _peek(body)
        for number, controller in enumerate(self.controllers):
            if self.by_hub[number] and controller.request.request_id == found:
                self.over_the_net(self.hear, number, body)

    def over_the_net(self, action: Callable[..., None], *args: object) -> None:
        dice, weather = self.dice, self.weather
        if dice.random() >= weather.loss:
            self.at(dice.random() * weather.delay, action, *args)
        if dice.random() < weather.duplication:
            self.at(dice.random() * weather.delay, action, *args)

    def reply(self, conn: Conn, body: bytes) -> None:
        if conn.epoch == self.epoch and self.dice.random() >= self.weather.loss:
            self.at(self.dice.random() * 0.01, self.hear_on, conn, body)

    def answer_copy(self, effect: Send) -> None:
        if isinstance(effect.via, Conn):
            self.reply(effect.via, effect.body)
        elif isinstance(effect.via, HubCopy) and not effect.direct and self.outage_end(self.time) is None:
            self.spread(effect.body)

    def reach_actuator(self, desired: Desired) -> None:
        delay = self.weather.slow_actuator * self.dice.random()
        if delay == 0.0:
            self.act(desired, self.epoch)
        else:
            self.at(delay, self.act, desired, self.epoch)

    def act(self, desired: Desired, epoch: int) -> None:
        """What acts outside: it lives on when the owner dies, and its word is also the gate file."""
        # A cancel goes on even if its gate cannot be shut, so that one is left whole here.
        cancelling = desired.shut and desired.status == "running"
        ok = cancelling or self.dice.random() >= self.weather.broken_actuator
        if ok and self.fenced(desired):
            self.actuator = desired
        if epoch == self.epoch:
            self.post(Actuated(desired.revision, ok, "" if ok else "broken"))

    def fenced(self, desired: Desired) -> bool:
        return desired.revision >= self.actuator.revision

    def execute(self, effect: Execute) -> None:
        seconds = 0.0 if effect.request_id in self.executions else self.weather.execution * self.dice.random() * 2
        self.at(seconds, self.executed, effect.request_id, self.epoch)

    def executed(self, request_id: str, epoch: int) -> None:
        if epoch != self.epoch and self.dice.random() < 0.5:
            return
        ok = self.executions.setdefault(request_id, self.dice.random() < 0.8)
        if epoch == self.epoch:
            self.post(Executed(request_id, ok, "executed"))

    def gate_file_is_open(self) -> bool:
        return not self.actuator.shut

    def try_iteration(self, number: int) -> None:
        """The agent wants to go on: the owner decides, or the gate file if there is no owner."""
        if self.agent_over or self.time > self.until:
            return
        key = f"i{number}"
        if may_start(self.state) if self.up and self.time >= self.thaw_at else self.gate_file_is_open():
            self.passages.append(Passage(key, len(self.log)))
            self.under_way.add(key)
            self.post(IterationStarted(key))
            self.at(self.dice.random() * 12, self.end_iteration, key)
        self.at(self.dice.random() * 16, self.try_iteration, number + 1)

    def end_iteration(self, key: str) -> None:
        self.under_way.discard(key)
        self.post(IterationEnded(key))

    def end_agent(self, reason: str) -> None:
        """The run is over by itself; the owner hears of it when there is one."""
        self.agent_over = True
        if self.up:
            self.post(RunEnded(reason))  # type: ignore[arg-type]
        if not self.up or not self.state.ended:
            self.at(1.0, self.end_agent, reason)

    def want_person(self, step: int) -> None:
        self.post(WaitingForPerson(Waiting("approval", step, "may I?")))

    def step_clock(self, seconds: float) -> None:
        self.step += seconds

    def tick(self) -> None:
        self.post(Tick())
        if self.time < self.until + 100:
            self.at(self.dice.choice((10.0, 40.0)), self.tick)

    def use_controller(self, number: int, command: str) -> None:
        dice = self.dice
        payload: dict[str, object] = {}
        if command == "escalate":
            payload = {"model": dice.choice(MODELS)}
        elif command == "approve":
            payload = {"step": dice.randrange(3)}
        elif command == "rollback":
            payload = {"to": "c1"}
        request = new_request(f"q{number}", command, RUN, payload)  # type: ignore[arg-type]
        controller = Controller(request, timeout=dice.choice((20.0, 100.0, 300.0, 700.0)))
        index = len(self.controllers)
        self.controllers.append(controller)
        self.by_hub[index] = dice.random() < 0.5
        self.do_actions(index, controller.start(self.sender_now(index)))
        if dice.random() < 0.3:
            self.at(dice.uniform(0, 150), self.reuse_id, index)

    def sender_now(self, number: int) -> Moment:
        """A controller's clocks: its wall clock may be far off."""
        return Moment(1e9 + self.time + (-500.0, 0.0, 500.0)[number % 3], self.time)

    def do_actions(self, number: int, actions: list[Transmit | LookUp]) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self.controllers[number].found(self.look_up(number))
            elif self.by_hub[number]:
                self.send_to_hub(number, action.data)
            else:
                self.send_to_socket(number, action.data)
        self.settle(number)

    def look_up(self, number: int) -> Found:
        return find_request(self.log, self.controllers[number].request.request_id)

    def settle(self, number: int) -> None:
        controller = self.controllers[number]
        if controller.answer is not None:
            self.answers.setdefault(number, controller.answer)
            return
        wake = controller.wake_at()
        if wake is not None:
            self.at(max(0.0, wake - self.time) + 0.001, self.wake, number, wake)

    def wake(self, number: int, wake: float) -> None:
        controller = self.controllers[number]
        if controller.answer is None and controller.wake_at() == wake:
            self.do_actions(number, controller.tick(self.sender_now(number)))

    def send_to_hub(self, number: int, data: bytes) -> None:
        delay = self.dice.random() * self.weather.first_leg
        if self.outage_end(self.time + delay) is None and self.dice.random() >= self.weather.loss:
            self.at(delay, self.broker_takes, number, data)

    def broker_takes(self, number: int, data: bytes) -> None:
        copy = HubCopy(number, data, self.time)
        self.at(self.dice.random() * self.weather.delay, self.deliver, copy)
        if self.dice.random() < self.weather.duplication:
            self.at(self.dice.random() * 120.0, self.deliver, copy)

    def deliver(self, copy: HubCopy) -> None:
        """The broker delivers until it is acknowledged, which the owner does after the first transaction."""
        end = self.outage_end(self.time)
        if end is not None:
            self.at(end - self.time + self.dice.random(), self.deliver, copy)
            return
        if self.time < self.thaw_at:
            self.at(self.thaw_at - self.time + self.dice.random(), self.deliver, copy)
            return
        before, epoch = len(self.log), self.epoch
        was_up = self.up
        self.post(Received(copy.data, copy, self.age_of(copy), "hub"))
        self.note_taken(before, copy)
        if not was_up or not self.up or self.epoch != epoch:
            self.at(self.dice.uniform(1, 30), self.deliver, copy)

    def age_of(self, copy: HubCopy) -> float:
        return self.time - copy.taken

    def note_taken(self, before: int, copy: HubCopy) -> None:
        """Nothing may be accepted that was too old when it was first seen."""
        for record in self.log[before:]:
            if (
                record.kind == "request"
                and _peek(bytes(record.body)) == _peek(copy.data)
                and self.time - copy.taken > 30
            ):
                self.violations.append("executed a copy older than 30 s")

    def send_to_socket(self, number: int, data: bytes) -> None:
        if not self.up:
            self.inbox.append((self.now().wall, self.time, data))
            return
        conn = Conn(number, self.epoch)
        self.at(self.dice.random() * self.weather.first_leg, self.arrive, conn, data)

    def arrive(self, conn: Conn, data: bytes) -> None:
        if not self.up or conn.epoch != self.epoch:
            self.break_connection(conn.number)
            return
        if self.time < self.thaw_at:
            self.at(self.thaw_at - self.time, self.arrive, conn, data)
            return
        self.conns.setdefault(_peek(data) or "", []).append(conn)
        self.post(Received(data, conn, 0.0, "socket"))
        if not self.up:
            self.break_connection(conn.number)

    def break_connection(self, number: int) -> None:
        if self.dice.random() < 0.5:
            self.at(self.dice.random() * 2, self.retry, number)

    def retry(self, number: int) -> None:
        self.do_actions(number, self.controllers[number].retry(self.sender_now(number)))

    def hear_on(self, conn: Conn, body: bytes) -> None:
        if conn.epoch == self.epoch:
            self.hear(conn.number, body, True)

    def hear(self, number: int, body: bytes, direct: bool = False) -> None:
        message = msgspec.json.decode(body)
        if message.get("type") == "RESULT":
            self.told.append(Told(number, body, message["payload"].get("code")))
        elif message.get("type") == "ACK" and not any(bytes(r.body) == body for r in self.log if r.kind == "ack"):
            self.violations.append("lost after ACK: told what the log does not have")
        self.controllers[number].receive(body, direct=direct)
        if self.controllers[number].answer is not None:
            self.answers.setdefault(number, self.controllers[number].answer)

    def reuse_id(self, number: int) -> None:
        """Somebody sends an answered id again, byte for byte or with other content: the window must hold."""
        request = self.controllers[number].request
        given = [i for i, r in enumerate(self.log) if r.kind == "result" and _peek(bytes(r.body)) == request.request_id]
        if not given:
            return
        left = self.commit_time[given[0]] + 299.0 - self.time
        if left > 0:
            self.at(self.dice.random() * left, self.reuse_now, number, self.dice.random() < 0.5)

    def reuse_now(self, number: int, same: bool) -> None:
        request = self.controllers[number].request
        if not self.up or self.time < self.thaw_at:
            return
        if not same:
            request = msgspec.structs.replace(request, payload={**request.payload, "more": 1})
        copy = msgspec.json.encode(request)
        before, epoch = len(self.log), self.epoch
        stranger = Conn(-1, self.epoch)
        replies: list[bytes] = []
        keep = self.reply
        self.reply = lambda conn, body: replies.append(body) if conn is stranger else keep(conn, body)  # type: ignore[method-assign]
        self.post(Received(copy, stranger, 0.0, "stranger"))
        self.reply = keep  # type: ignore[method-assign]
        if any(record.kind == "request" for record in self.log[before:]):
            self.violations.append("an answered request was taken again within its window")
        if self.epoch == epoch and self.up and same:
            stored = next(
                bytes(r.body) for r in self.log if r.kind == "result" and _peek(bytes(r.body)) == request.request_id
            )
            if replies != [stored]:
                self.violations.append("two different RESULTs: the stored one was not sent byte for byte")

    def outage_end(self, moment: float) -> float | None:
        return next((end for begin, end in self.weather.outages if begin <= moment < end), None)


class _Id(Struct):
    request_id: str | None = None


_id_decoder = msgspec.json.Decoder(_Id)


def _peek(body: bytes) -> str | None:
    return _id_decoder.decode(body).request_id


if __name__ == "__main__":
    from .checker import check

    world = World(int(sys.argv[1]), trace=print).run()
    print(world.weather)
    for record in world.log:
        print(record.seq, record.kind, bytes(record.body).decode())
    print(check(world) or "no violation")
