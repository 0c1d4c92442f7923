"""OpenCalls: a value for each call in progress, until its result arrives."""

from __future__ import annotations

from typing import Generic, TypeVar

from ..core import Step

V = TypeVar("V")

MOST = 256
"""How many calls are remembered; those without a result must not accumulate."""


def call_key(step: Step) -> str:
    """The key of a call: its agent and its id, or else its index."""
    name = step.tool.call_id if step.tool is not None and step.tool.call_id else f"#{step.index}"
    return f"{step.agent or ''}/{name}"


class OpenCalls(Generic[V]):
    """One value for each call in progress, found by the call's result."""

    def __init__(self) -> None:
        self._open: dict[str, V] = {}

    def __len__(self) -> int:
        return len(self._open)

    def get(self, step: Step) -> V | None:
        """The value of exactly this call."""
        return self._open.get(call_key(step))

    def begin(self, step: Step, value: V) -> V | None:
        """Remember a call; returns the value of the oldest call if it is dropped.

        A call with the same id as an earlier one replaces it, and counts as the newest.
        """
        self._open.pop(call_key(step), None)
        self._open[call_key(step)] = value
        return self._open.pop(next(iter(self._open))) if len(self._open) > MOST else None

    def end(self, step: Step) -> V | None:
        """End a call by its own step or its result's id; a result without an id ends its agent's newest call."""
        key = self._key_of(step)
        return self._open.pop(key) if key is not None else None

    def _key_of(self, step: Step) -> str | None:
        if call_key(step) in self._open:
            return call_key(step)
        if step.kind != "tool_result":
            return None
        # A result with an unknown id can only belong to a call without one.
        ours = f"{step.agent or ''}/" + ("#" if step.tool is not None and step.tool.call_id else "")
        return next((key for key in reversed(self._open) if key.startswith(ours)), None)
