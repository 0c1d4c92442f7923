"""The people of a simulated world: controllers on sockets and on the hub, and the network between."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec import Struct

from interlock.control import (
    ClockReading,
    LookUp,
    Received,
    RequestClient,
    RequestOutcome,
    RequestRecord,
    Send,
    Transmit,
    find_request,
    new_request,
)

from .outside import Outside
from .owner_side import RUN, Conn

MODELS = ("haiku", "sonnet", "opus")


class HubCopy(Struct, eq=False):
    """A copy that the broker took."""

    number: int
    data: bytes
    taken: float


class Told(Struct, frozen=True):
    """A RESULT that reached a controller."""

    number: int
    body: bytes
    code: str | None


class Senders(Outside):
    """The real controller, many times, over transports that lose, double and delay."""

    def __init__(self, seed: int, trace: Callable[[str], None] | None = None) -> None:
        super().__init__(seed, trace)
        self.controllers: list[RequestClient] = []
        self.by_hub: dict[int, bool] = {}
        self.answers: dict[int, RequestOutcome] = {}
        self.told: list[Told] = []
        self.violations: list[str] = []

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
        controller = RequestClient(request, timeout=dice.choice((20.0, 100.0, 300.0, 700.0)))
        index = len(self.controllers)
        self.controllers.append(controller)
        self.by_hub[index] = dice.random() < 0.5
        self.do_actions(index, controller.start(self.sender_now(index)))
        if dice.random() < 0.3:
            self.at(dice.uniform(0, 150), self.reuse_id, index)

    def sender_now(self, number: int) -> ClockReading:
        """A controller's clocks: its wall clock may be far off."""
        return ClockReading(1e9 + self.time + (-500.0, 0.0, 500.0)[number % 3], self.time)

    def do_actions(self, number: int, actions: list[Transmit | LookUp]) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self.controllers[number].found(self.look_up(number))
            elif self.by_hub[number]:
                self.send_to_hub(number, action.data)
            else:
                self.send_to_socket(number, action.data)
        self.settle(number)

    def look_up(self, number: int) -> RequestRecord:
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

    def reply(self, conn: Conn, body: bytes) -> None:
        if conn.epoch == self.epoch and self.dice.random() >= self.weather.loss:
            self.at(self.dice.random() * 0.01, self.hear_on, conn, body)

    def answer_copy(self, effect: Send) -> None:
        if isinstance(effect.via, Conn):
            self.reply(effect.via, effect.body)
        elif isinstance(effect.via, HubCopy) and not effect.direct and self.outage_end(self.time) is None:
            self.spread(effect.body)

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


class _Id(Struct):
    request_id: str | None = None


_id_decoder = msgspec.json.Decoder(_Id)


def _peek(body: bytes) -> str | None:
    return _id_decoder.decode(body).request_id
