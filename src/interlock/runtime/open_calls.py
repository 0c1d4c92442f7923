"""Calls under way: what is known of a call until its result is there."""

from __future__ import annotations

from typing import Generic, TypeVar

from ..core import Step

V = TypeVar("V")

MOST = 256
"""Calls remembered; results that never come must not pile up."""


def call_key(step: Step) -> str:
    """The key of a call: its agent and its id, or else its index."""
    name = step.tool.call_id if step.tool is not None and step.tool.call_id else f"#{step.index}"
    return f"{step.agent or ''}/{name}"


class OpenCalls(Generic[V]):
    """One value for each call under way, found again by its result."""

    def __init__(self) -> None:
        self._open: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._open)

    def get(self, step: Step) -> V | None:
        """The value kept for exactly this call."""
        return self._open.get(call_key(step))

    def begin(self, step: Step, value: V) -> V | None:
        """Remember a call; returns what was known of the oldest one, where that is forgotten for it.

        A call that is issued again under the same id takes the place of the one before, as the newest.
        """
        self._open.pop(call_key(step), None)
        self._open[call_key(step)] = value
        return self._open.pop(next(iter(self._open))) if len(self._open) > MOST else None

    def end(self, step: Step) -> V | None:
        """A call is over: by its own step or its result's id; a result without one ends its agent's newest call."""
        key = self._key_of(step)
        return self._open.pop(key) if key is not None else None

    def _key_of(self, step: Step) -> str | None:
        if call_key(step) in self._open:
            return call_key(step)
        if step.kind != "tool_result":
            return None
        # A result whose id no call has can only be that of a call without one.
        ours = f"{step.agent or ''}/" + ("#" if step.tool is not None and step.tool.call_id else "")
        return next((key for key in reversed(self._open) if key.startswith(ours)), None)
