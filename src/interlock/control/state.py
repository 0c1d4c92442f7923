"""ControlState: the whole protocol state of a run as one frozen value, with its RESULTs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import inf
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from ..config import Models, Order, ship
from ..core import ENDED, Status
from .events import Desired, Held, Released
from .messages import Request, StackFrame, Waiting

NEWER = 32
"""Adding a RESULT copies at most this many; then they are merged with the older ones, which are copied rarely."""


class StoredResult(Struct, frozen=True):
    """A stored RESULT, byte for byte, and when it was sent (steady clock)."""

    fingerprint: bytes
    result: bytes
    at: float


NONE: Mapping[str, StoredResult] = MappingProxyType({})


class StoredResults:
    """RESULTs by request id, oldest first. Immutable: `add` and `since` return new ones."""

    __slots__ = ("_newer", "_older", "oldest")

    def __init__(
        self,
        older: Mapping[str, StoredResult] = NONE,
        newer: Mapping[str, StoredResult] = NONE,
        oldest: float | None = None,
    ) -> None:
        self._older, self._newer = older, newer
        self.oldest = min((each.at for _, each in self.items()), default=inf) if oldest is None else oldest
        """When the first of them was sent."""

    def get(self, request_id: str) -> StoredResult | None:
        return self._newer.get(request_id) or self._older.get(request_id)

    def add(self, request_id: str, stored: StoredResult) -> StoredResults:
        """These RESULTs and one more."""
        oldest = min(self.oldest, stored.at)
        if len(self._newer) < NEWER:
            return StoredResults(self._older, {**self._newer, request_id: stored}, oldest)
        return StoredResults({**self._older, **self._newer}, {request_id: stored}, oldest)

    def since(self, horizon: float) -> StoredResults:
        """The RESULTs that were sent at this time or later."""
        return StoredResults({key: stored for key, stored in self.items() if stored.at >= horizon})

    def items(self) -> Iterable[tuple[str, StoredResult]]:
        return chain(self._older.items(), self._newer.items())

    def __iter__(self) -> Iterator[str]:
        return chain(self._older, self._newer)

    def __len__(self) -> int:
        return len(self._older) + len(self._newer)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StoredResults) and list(self.items()) == list(other.items())

    def __hash__(self) -> int:
        return hash(tuple(self))


NOTHING = StoredResults()


WINDOW_S = 300.0
"""How long a stored RESULT lives, from the RESULT."""

EXPIRY_S = 30.0
"""How old a copy may be when it first arrives."""

Phase = Literal["idle", "closing", "switching", "executing"]
"""What the first command of the queue waits for: nothing, a shut gate, another model, or its execution."""


class ClockReading(Struct, frozen=True):
    """Now, on two clocks: `wall` is for people, `steady` never steps and is used for windows."""

    wall: float
    steady: float


class ControlRules(Struct, frozen=True, kw_only=True):
    """What an endpoint accepts. `cannot_switch` says why the adapter cannot switch models; empty if it can.

    Without `models` only the built-in ones are known.
    """

    strict_ids: bool = False
    models: Models | None = None
    cannot_switch: str = ""

    def knows(self, model: str) -> bool:
        """Whether enough is known of a model to compare it."""
        return (self.models or ship()).placed(model)

    def is_same(self, model: str, other: str | None) -> bool:
        """Whether two names mean the same model."""
        models = self.models or ship()
        return other is not None and (model == other or models.resolve(model) == (models.resolve(other) or other))

    def compare(self, model: str, than: str | None) -> Order | None:
        """How a model compares to another; any is stronger than an unknown one. None: inconclusive."""
        return "stronger" if than is None else (self.models or ship()).compare(model, than)


DEFAULT_RULES = ControlRules()


class InFlight(Struct, frozen=True):
    """A command that was acknowledged and has no RESULT yet; it never expires."""

    request: Request
    fingerprint: bytes


class ControlState(Struct, frozen=True, kw_only=True):
    """One run as its endpoint sees it.

    `gate_open`: an iteration may start right now; it closes before a pause is announced, and opens after a resume
    is durable. `under_way` are the passages through the gate that have not ended. `queue` has commands in flight, the
    first one in `phase`; `asked` is what the actuator must do for it. `unconfirmed` is a desired state that it has not
    confirmed yet. `ordered` is the model that the agent was started with or switched to; what it is seen to
    use is in its frame. `held` is why the supervisor paused the run, `later` what it wants once the actuator has
    answered. `cause` is the request that led to the status, `ended_by` who cancelled the run.
    `unannounced` iterations are not announced yet.
    """

    run_id: str
    rules: ControlRules = DEFAULT_RULES
    status: Status = "running"
    revision: int = 0
    stack: tuple[StackFrame, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    held: Waiting | None = None
    later: tuple[Held | Released, ...] = ()
    gate_open: bool = False
    iterations: int = 0
    under_way: frozenset[str] = frozenset()
    queue: tuple[InFlight, ...] = ()
    phase: Phase = "idle"
    asked: Desired | None = None
    unconfirmed: Desired | None = None
    ordered: str | None = None
    answered: StoredResults = NOTHING
    cause: str | None = None
    ended_by: str | None = None
    unannounced: int = 0

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def frame(self) -> StackFrame | None:
        """The current frame."""
        return self.stack[-1] if self.stack else None

    @property
    def model(self) -> str | None:
        return self.stack[-1].model if self.stack else None

    @property
    def iter(self) -> int:
        return self.stack[-1].iter if self.stack else max(1, self.iterations)

    def find(self, request_id: str) -> InFlight | None:
        """The command in flight under an id."""
        return next((item for item in self.queue if item.request.request_id == request_id), None)


def new_state(
    run_id: str,
    *,
    rules: ControlRules = DEFAULT_RULES,
    model: str | None = None,
    mode: str = "loop",
    max_iterations: int | None = None,
    issue_id: str | None = None,
    stack: tuple[StackFrame, ...] = (),
) -> ControlState:
    """A new run, with one frame unless more are given. Its gate opens with OwnerStarted."""
    first = StackFrame(id=run_id, mode=mode, iter=1, max=max_iterations, model=model, issue_id=issue_id)
    frames = stack or (first,)
    return ControlState(run_id=run_id, rules=rules, stack=frames, ordered=frames[-1].model)


def may_start(state: ControlState) -> bool:
    """Whether an iteration may start right now."""
    return state.gate_open
