"""Asking: how an adapter makes steps and waits for what is decided about them."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from ..core import Decision, Kind, Role, Step, Tool, Usage
from .run import Run


class Asking(ABC):
    """The outer half of a supervisor: numbers the run's steps, waits out holds and delays, and ends with its block."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.next_index = 0
        self._counting = threading.Lock()

    @abstractmethod
    def before(self, step: Step) -> Decision:
        """May this step run?"""

    @abstractmethod
    def close(self, error: BaseException | None = None) -> None:
        """End the run, if it has not ended, and let go of it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close(error)

    def call(self, tool: str, arguments: dict[str, object], *, call_id: str | None = None, said: str = "") -> Step:
        """A tool call as the run's next step; hand it to `before` or `ask`."""
        return self._next("assistant", said, "tool_call", Tool(tool, arguments, call_id))

    def result(self, content: str, *, error: bool | None = None, exit_code: int | None = None) -> Step:
        """A tool's result as the run's next step; hand it to `after`."""
        return replace(self._next("tool", content, "tool_result"), error=error, exit_code=exit_code)

    def message(self, content: str, *, role: Role = "assistant", usage: Usage | None = None) -> Step:
        """Something said as the run's next step; hand it to `after`."""
        return replace(self._next(role, content, "message"), usage=usage)

    def ask(self, step: Step) -> Decision:
        """`before`, waiting out holds and delays: what comes back is proceed, rewrite, deny, defer or stop."""
        gate = self.run.gate
        decision = self._until_let(step)
        deadline = time.monotonic() + decision.delay_s
        while (left := deadline - time.monotonic()) > 0 and not self.run.ended:
            gate.wait(gate.version, left)
        return self._after_delay(decision, step)

    async def ask_async(self, step: Step) -> Decision:
        """`ask` for an event loop."""
        gate = self.run.gate
        while True:
            version = gate.version
            decision = self.before(step)
            if decision.action != "hold":
                break
            await gate.wait_async(version)
        if decision.delay_s:
            await asyncio.sleep(decision.delay_s)
            if self.run.ended or gate.status != "running":
                return await self.ask_async(step)
        return decision

    def _until_let(self, step: Step) -> Decision:
        gate = self.run.gate
        while True:
            version = gate.version
            decision = self.before(step)
            if decision.action != "hold":
                return decision
            gate.wait(version)

    def _after_delay(self, decision: Decision, step: Step) -> Decision:
        """The decision, asked for again where the run was paused or ended while the call waited."""
        if decision.delay_s and (self.run.ended or self.run.gate.status != "running"):
            return self.ask(step)
        return decision

    def count_from(self, index: int) -> None:
        """The next step has at least this index."""
        with self._counting:
            self.next_index = max(self.next_index, index)

    def take_index(self) -> int:
        """The number of the run's next step, for whoever makes steps otherwise."""
        with self._counting:
            index, self.next_index = self.next_index, self.next_index + 1
            return index

    def _next(self, role: Role, content: str, kind: Kind, tool: Tool | None = None) -> Step:
        index = self.take_index()
        return Step(run_id=self.run.spec.run_id, index=index, role=role, content=content, kind=kind, tool=tool)
