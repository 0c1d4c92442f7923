"""A run's owner in a few lines: the real state machine over a list for a log, and an actuator that obeys."""

from __future__ import annotations

import msgspec

from interlock.control import (
    OUTGOING,
    Actuate,
    Actuated,
    ClockReading,
    ControlRules,
    ControlState,
    Desired,
    Effect,
    Event,
    Execute,
    LogEntry,
    OwnerStarted,
    Persist,
    Received,
    Request,
    Send,
    StackFrame,
    handle,
    new_request,
    new_state,
    recover,
    stamp_seq,
)
from interlock.control.messages import encode
from interlock.core import Record

RUN = "run-1"


class Owner:
    """Carries effects out at once; `hold` keeps the actuator from answering, so that a command stays in flight."""

    def __init__(
        self,
        model: str | None = "claude-haiku-4-5",
        rules: ControlRules | None = None,
        stack: tuple[StackFrame, ...] = (),
    ) -> None:
        self.fresh = new_state(RUN, model=model, max_iterations=10, rules=rules or ControlRules(), stack=stack)
        self.state: ControlState = self.fresh
        self.now = ClockReading(1_700_000_000.0, 0.0)
        self.log: list[Record] = []
        self.transactions: list[tuple[str, ...]] = []
        self.sent: list[dict[str, object]] = []
        self.raw: list[bytes] = []
        self.told: list[Desired] = []
        self.asked: list[Execute] = []
        self.hold = False
        self.broken = ""
        self.do(OwnerStarted())
        self.sent.clear(), self.raw.clear(), self.transactions.clear()

    def do(self, event: Event) -> list[Effect]:
        self.state, effects = handle(self.state, event, self.now)
        for effect in effects:
            self._carry_out(effect)
        return effects

    def ask(self, command: str, payload: dict[str, object] | None = None, **more: object) -> list[dict[str, object]]:
        """Send a request and give back what was sent because of it."""
        self.sent.clear(), self.raw.clear()
        self.do(Received(make(command, payload, **more), via="me"))
        return list(self.sent)

    def do_raw(self, data: bytes) -> list[Effect]:
        return self.do(Received(data, via="me"))

    def pass_time(self, seconds: float) -> None:
        self.now = ClockReading(self.now.wall + seconds, self.now.steady + seconds)

    def crash(self, under_way: frozenset[str] = frozenset()) -> None:
        """The owner dies and comes back: all that it knows is the log."""
        self.sent.clear(), self.raw.clear()
        self.state = recover(self.log, self.fresh, self.now, under_way)
        self.do(OwnerStarted(self.told[-1].revision if self.told else 0))

    def kinds(self) -> list[str]:
        """What was sent, in short."""
        return [short(message) for message in self.sent]

    def audits(self) -> list[dict[str, object]]:
        return [msgspec.json.decode(record.body) for record in self.log if record.kind == "audit"]

    def _carry_out(self, effect: Effect) -> None:
        if isinstance(effect, Persist):
            self.transactions.append(tuple(entry.kind for entry in effect.entries))
            for entry in effect.entries:
                self._append(entry)
        elif isinstance(effect, Send):
            self._send(effect.body)
        elif isinstance(effect, Actuate):
            self.told.append(effect.desired)
            if not self.hold:
                self.do(Actuated(effect.desired.revision, not self.broken, self.broken))
        elif isinstance(effect, Execute):
            self.asked.append(effect)

    def _append(self, entry: LogEntry) -> None:
        seq = len(self.log) + 1
        self.log.append(Record(seq=seq, run_id=RUN, time=self.now.wall, kind=entry.kind, body=msgspec.Raw(entry.body)))
        if entry.kind in OUTGOING:
            self._send(stamp_seq(entry.body, seq) if entry.kind == "state" else entry.body)

    def _send(self, body: bytes) -> None:
        self.raw.append(body)
        self.sent.append(msgspec.json.decode(body))


def make(
    command: str,
    payload: dict[str, object] | None = None,
    *,
    id: str = "r1",  # noqa: A002
    run: str = RUN,
    **more: object,
) -> bytes:
    """The bytes of a request."""
    default: dict[str, dict[str, object]] = {
        "escalate": {"model": "claude-opus-4-1"},
        "approve": {"step": 3},
        "reject": {"step": 3},
        "rollback": {"to": "c1"},
    }
    chosen = default.get(command, {}) if payload is None else payload
    request: Request = new_request(id, command, run, chosen, **more)  # type: ignore[arg-type]
    return encode(request)


def short(message: dict[str, object]) -> str:
    """A message in a word or two: ACK, success, not_found, STATE paused, ABORT."""
    if message.get("type") == "RESULT":
        payload = message["payload"]
        assert isinstance(payload, dict)
        return str(payload.get("code", payload["status"]))
    if "event" in message:
        return f"{message['event']} {message['status']}" if message["event"] == "STATE" else str(message["event"])
    return str(message["type"])
