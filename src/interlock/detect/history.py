"""History: what one agent did so far, read once per step and shared by all detectors."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec import Struct, field

from ..core import Step
from .failure import read_failure
from .fingerprint import canonical, fingerprint
from .normalise import normalise

T = TypeVar("T")

TURNS = 64
"""Turns kept: further back nothing is compared."""
PENDING = 32
"""Calls that wait for their result."""


class Call(Struct):
    """A call that was asked for."""

    step: int
    tool: str
    key: int
    arguments: str
    call_id: str | None = None


class Turn(Struct):
    """A call together with what came of it."""

    step: int
    call: Call
    outcome: int
    failed: bool
    error: int = 0
    message: str = ""
    progress: bool = True


class Past(Struct):
    """The part of a history that is stored."""

    turns: list[Turn] = field(default_factory=list)
    pending: list[Call] = field(default_factory=list)
    steps: int = 0
    progressed: bool = True


class History:
    """The turns of one agent. `turn` is the one that the current step completed, if it did."""

    def __init__(self) -> None:
        self.past = Past()
        self.turn: Turn | None = None

    @property
    def turns(self) -> list[Turn]:
        """The last turns, newest last."""
        return self.past.turns

    @property
    def progressed(self) -> bool:
        """Whether the last turn brought the run forward."""
        return self.past.progressed

    def take(self, step: Step) -> None:
        """Read one step; afterwards `turn` says what it completed."""
        self.turn = None
        self.past.steps += 1
        if step.kind == "tool_call" and step.tool is not None:
            arguments = canonical(step.tool.arguments)
            key = fingerprint(f"{step.tool.name}\0{arguments}")
            push(self.past.pending, Call(step.index, step.tool.name, key, arguments[:2000], step.tool.call_id), PENDING)
        elif step.kind == "tool_result":
            call = self._answered(step)
            if call is not None:
                self.turn = self._complete(call, step)
                push(self.past.turns, self.turn, TURNS)

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.past)

    def restore(self, state: bytes) -> None:
        self.past, self.turn = msgspec.msgpack.decode(state, type=Past), None

    def _answered(self, step: Step) -> Call | None:
        """The call that a result belongs to: by its id, else the oldest that waits."""
        waiting = self.past.pending
        if step.tool is not None and step.tool.call_id is not None:
            for at, call in enumerate(waiting):
                if call.call_id == step.tool.call_id:
                    return waiting.pop(at)
            return None
        return waiting.pop(0) if waiting else None

    def _complete(self, call: Call, step: Step) -> Turn:
        text = normalise(step.content)
        failure = read_failure(step, text)
        outcome = fingerprint(text)
        seen = any(turn.call.key == call.key and turn.outcome == outcome for turn in self.past.turns)
        self.past.progressed = not seen and failure is None
        return Turn(
            step.index,
            call,
            outcome,
            failure is not None,
            fingerprint(failure) if failure is not None else 0,
            failure or "",
            self.past.progressed,
        )


def push(window: list[T], item: T, cap: int) -> None:
    """Append to a bounded window."""
    window.append(item)
    if len(window) > cap:
        del window[0]
