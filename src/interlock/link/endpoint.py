"""Endpoint: a run's side of the control protocol; connects the state machine to log, actuator and transports."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec.structs import replace

from ..control import (
    OUTGOING,
    Actuate,
    Actuated,
    Audit,
    ControlState,
    Desired,
    Event,
    Execute,
    Executed,
    IterationEnded,
    IterationStarted,
    LogEntry,
    OwnerStarted,
    Persist,
    Received,
    Result,
    Send,
    Tick,
    handle,
    may_start,
    recover,
    stamp_seq,
)
from ..core import Applied, Clock, InterlockError, Record, SystemClock, from_json
from .live_clock import TICK_S, LiveClock

log = logging.getLogger("interlock")

SOON_S = 1.0
"""How long an iteration may go unannounced, and how often a failed action is retried."""


class Log(Protocol):
    """Where the endpoint's records live."""

    def append_atomic(self, entries: Sequence[LogEntry], state: ControlState, *, durable: bool) -> int:
        """Add entries, all or none, in sequence; returns the last one's number. `state` is the run after them."""

    def read(self) -> Iterable[Record]:
        """The records of control.CONTROL_KINDS, in order."""


class Actuator(Protocol):
    """What has effects outside the log: the gate, the agent's processes, its model."""

    @property
    def revision(self) -> int:
        """The newest revision that it has."""

    def set_desired(self, desired: Desired) -> Applied | None:
        """Reach this state, unless it has a newer revision. None: it takes longer and posts Actuated later."""

    def execute(self, order: Execute) -> Executed | None:
        """Carry out approve, reject or rollback, once per request_id. None: it posts Executed later."""

    def rest(self) -> None:
        """Called when everything is reported and nothing is pending: do deferred work here."""


class Reply(Protocol):
    """Where answers to one copy of a message go."""

    def send(self, body: bytes, *, direct: bool = False, seq: int | None = None) -> None:
        """Send one message. `direct` ones go to connections only; one with a `seq` is in the log."""


COUNTED = frozenset(("result", "audit"))
"""Entries that the request counters use."""

Follower = Callable[[int, LogEntry], None]


class Endpoint:
    """Thread-safe. Events are handled one by one; an ACK is durable, and sent, before anything happens."""

    def __init__(
        self,
        fresh: ControlState,
        log: Log,
        actuator: Actuator,
        *,
        clock: Clock | None = None,
        under_way: frozenset[str] = frozenset(),
        ticking: bool = True,
    ) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        self._fresh, self._log, self._actuator = fresh, log, actuator
        self._clock = LiveClock(clock or SystemClock())
        self._state = replace(fresh, under_way=under_way)
        # The holder of `_turn` carries out effects; `_mutex` is held only briefly, so that the gate never waits.
        self._turn, self._mutex = threading.RLock(), threading.Lock()
        self._opened = threading.Condition(self._mutex)
        self._events: deque[Event] = deque()
        self._draining = False
        self._asking: dict[str, list[Reply]] = {}
        self._pausing: list[Reply] = []
        self._newest_state = b""
        self._followers: list[Follower] = []
        self._on_open: list[Callable[[], None]] = []
        self._must_restart = False
        self._wake, self._stop = threading.Event(), threading.Event()
        self._ticker = threading.Thread(target=self._tick, name=f"control {fresh.run_id}", daemon=True)
        self._ticking = ticking

    @property
    def state(self) -> ControlState:
        return self._state

    def start(self) -> None:
        """Read the log, put the actuator into its state, and finish what was in flight."""
        with self._turn:
            self._recover(self._state.under_way)
            self.post(OwnerStarted(self._actuator.revision))
        if self._ticking:
            self._ticker.start()

    def close(self) -> None:
        """Stop the ticker. Nothing is lost: everything is in the log."""
        self._stop.set()
        self._wake.set()
        if self._ticker.ident is not None:
            self._ticker.join()
        with self._opened:
            self._opened.notify_all()

    def receive(self, data: bytes, reply: Reply | None, *, age: float = 0.0, actor: str | None = None) -> None:
        """Receive one copy of a message. When this returns, the first transaction is durable."""
        self.post(Received(data, reply, age, actor))

    def post(self, event: Event) -> None:
        """Handle an event; its effects have been carried out, or the actuator reports them later."""
        try:
            with self._turn:
                self._events.append(event)
                if self._draining:
                    return
                self._draining = True
                try:
                    while self._events:
                        self._handle_event(self._events.popleft())
                finally:
                    self._draining = False
                self._actuator.rest()
        finally:
            self._wake_ticker()

    def enter(self, key: str, number: int | None = None) -> bool:
        """Begin an iteration if the gate allows it right now. Never waits."""
        with self._mutex:
            if not may_start(self._state):
                return False
            unannounced = self._state.unannounced
            self._state, _ = handle(self._state, IterationStarted(key, number), self._clock.now())
        if unannounced == 0:
            self._wake_ticker()
        return True

    def leave(self, key: str) -> None:
        """End an iteration."""
        with self._mutex:
            after, effects = handle(self._state, IterationEnded(key), self._clock.now())
            if not effects:
                self._state = after
                return
        self.post(IterationEnded(key))

    def wait_open(self, timeout: float | None = None) -> bool:
        """Wait until an iteration may start; False after a timeout or if the run has ended."""
        with self._opened:
            self._opened.wait_for(lambda: may_start(self._state) or self._state.ended or self._stop.is_set(), timeout)
            return may_start(self._state)

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Call back for every committed entry, with its sequence number; call the returned function to stop."""
        self._followers.append(follower)
        return lambda: self._followers.remove(follower)

    def when_open(self, tell: Callable[[], None]) -> None:
        """Call back whenever iterations may start again."""
        self._on_open.append(tell)

    def forget(self, reply: Reply) -> None:
        """Forget a requester that has disconnected."""
        with self._turn:
            self._pausing = [each for each in self._pausing if each is not reply]
            for request_id, replies in list(self._asking.items()):
                if reply in replies:
                    replies.remove(reply)
                if not replies:
                    del self._asking[request_id]

    def _handle_event(self, event: Event) -> None:
        with self._mutex:
            before = self._state
            self._state, effects = handle(before, event, self._clock.now())
            was_open, is_open = before.gate_open, self._state.gate_open
            if is_open != was_open or self._state.ended:
                self._opened.notify_all()
        if is_open and not was_open:
            for tell in self._on_open:
                tell()
        try:
            for effect in effects:
                if isinstance(effect, Persist):
                    self._persist(effect, event)
                elif isinstance(effect, Actuate):
                    self._actuate(effect.desired)
                elif isinstance(effect, Send):
                    self._answer(effect)
                else:
                    self._execute(effect)
            if self._pausing and self._state.status != "pausing":
                # Only now: the processes of a run that is paused are frozen.
                self._tell_paused()
        except Exception:
            # Nothing may happen after a failed commit: return to the state in the log, and retry soon.
            self._events.clear()
            self._must_restart = True
            self._recover(self._state.under_way, gate_open=before.gate_open)
            raise

    def _persist(self, effect: Persist, event: Event) -> None:
        last = self._log.append_atomic(effect.entries, self._state, durable=effect.durable)
        if last == 0:
            # It was not durable and could not be written: it never happened.
            return
        first = last - len(effect.entries) + 1
        for seq, entry in enumerate(effect.entries, first):
            if entry.kind == "request" and isinstance(event, Received):
                self._remember(entry.request_id, event.via)
            if entry.kind in OUTGOING and entry.request_id is not None:
                body = stamp_seq(entry.body, seq) if entry.kind == "state" else entry.body
                self._newest_state = body if entry.kind == "state" else self._newest_state
                for reply in self._asking.get(entry.request_id, ()):
                    reply.send(body, seq=seq)
            for follower in self._followers:
                follower(seq, entry)
        for entry in effect.entries:
            if entry.kind in COUNTED:
                self._count(entry)
            if entry.kind == "result" and entry.request_id is not None:
                replies = self._asking.pop(entry.request_id, [])
                if self._state.status == "pausing" and self._state.cause == entry.request_id:
                    self._pausing += replies

    def _tell_paused(self) -> None:
        """Tell those whose pause had to wait for a step; if it ended otherwise, they read that in the journal."""
        replies, self._pausing = self._pausing, []
        for reply in replies if self._state.status == "paused" else ():
            reply.send(self._newest_state, direct=True)

    def _answer(self, effect: Send) -> None:
        if effect.request_id is not None and self._state.find(effect.request_id) is not None:
            self._remember(effect.request_id, effect.via)
        if effect.via is not None:
            effect.via.send(effect.body, direct=effect.direct)  # type: ignore[attr-defined]

    def _remember(self, request_id: str | None, reply: object) -> None:
        """Remember who wants the RESULT of a request."""
        if request_id is not None and reply is not None:
            replies = self._asking.setdefault(request_id, [])
            if reply not in replies:
                replies.append(reply)  # type: ignore[arg-type]

    def _actuate(self, desired: Desired) -> None:
        try:
            applied = self._actuator.set_desired(desired)
        except (InterlockError, OSError) as error:
            applied = Applied(False, str(error))
        if applied is not None:
            self._events.append(Actuated(desired.revision, applied.ok, applied.how))

    def _execute(self, order: Execute) -> None:
        try:
            executed = self._actuator.execute(order)
        except (InterlockError, OSError) as error:
            executed = Executed(order.request_id, False, str(error))
        if executed is not None:
            self._events.append(executed)

    def _recover(self, under_way: frozenset[str], *, gate_open: bool = False) -> None:
        recovered = recover(self._log.read(), self._fresh, self._clock.now(), under_way)
        with self._mutex:
            self._state = replace(recovered, gate_open=gate_open and recovered.status == "running")

    def _count(self, entry: LogEntry) -> None:
        """Count a request by its command and outcome."""
        if entry.kind == "result":
            result = from_json(entry.body, Result)
            self.counts[result.command or "", result.payload.code or "success"] += 1
        else:
            self.counts["", from_json(entry.body, Audit).what] += 1

    def _pause_until_tick(self) -> float | None:
        state = self._state
        if state.unannounced or state.unconfirmed is not None or self._must_restart:
            return SOON_S
        return TICK_S if state.answered else None

    def _wake_ticker(self) -> None:
        if not self._wake.is_set() and self._pause_until_tick() is not None:
            self._wake.set()

    def _tick(self) -> None:
        """The ticker's thread: sleeps indefinitely while nothing depends on time."""
        while not self._stop.is_set():
            self._wake.wait()
            while (pause := self._pause_until_tick()) is not None and not self._stop.wait(pause):
                self._post_tick()
            self._wake.clear()
            self._wake_ticker()

    def _post_tick(self) -> None:
        event: Event = Tick()
        if self._must_restart:
            self._must_restart, event = False, OwnerStarted(self._actuator.revision)
        try:
            self.post(event)
        except InterlockError:
            # The log cannot be written: the journal reports that itself, and the next tick retries.
            self._must_restart = True
        except Exception:
            log.exception("run %s: a pending action failed and will be retried", self._fresh.run_id)
            self._must_restart = True
