"""StepClient: creates steps for an adapter, and waits for the decisions about them."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from ..core import Decision, Kind, Role, Step, Tool, Usage
from .run import Run


class EndsWithBlock(ABC):
    """Supports `with` and `async with`: closed at the end of the block, with the error that ended it."""

    @abstractmethod
    def close(self, error: BaseException | None = None) -> None:
        """End the run, if it has not ended, and release it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close(error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        import asyncio  # only a caller with an event loop pays for it

        await asyncio.to_thread(self.close, error)


class StepClient(EndsWithBlock):
    """The client side of a supervisor: numbers the run's steps, waits for holds and delays, ends with its block."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.next_index = 0
        self._counting = threading.Lock()

    @abstractmethod
    def before(self, step: Step) -> Decision:
        """Whether this step may run."""

    @abstractmethod
    def abandon(self, step: Step) -> None:
        """Forget a step that will not run."""

    def call(
        self,
        tool: str,
        arguments: dict[str, object],
        *,
        call_id: str | None = None,
        agent: str | None = None,
        said: str = "",
    ) -> Step:
        """A tool call as the run's next step, for `before` or `ask`.

        `call_id` pairs it with its result; calls that run in parallel need one. `agent` names a subagent.
        """
        return self._next("assistant", said, "tool_call", Tool(tool, arguments, call_id), agent)

    def result(
        self,
        content: str,
        *,
        call_id: str | None = None,
        agent: str | None = None,
        error: bool | None = None,
        exit_code: int | None = None,
    ) -> Step:
        """A tool's result as the run's next step, for `after`; without `call_id`, that of its agent's newest call."""
        tool = Tool("", {}, call_id) if call_id is not None else None
        return replace(self._next("tool", content, "tool_result", tool, agent), error=error, exit_code=exit_code)

    def message(
        self, content: str, *, role: Role = "assistant", usage: Usage | None = None, agent: str | None = None
    ) -> Step:
        """A message as the run's next step, for `after`."""
        return replace(self._next(role, content, "message", agent=agent), usage=usage)

    def ask(self, step: Step) -> Decision:
        """`before`, but waits for holds and delays: returns proceed, rewrite, deny, defer or stop."""
        return self.run.gate.admit(lambda: self.before(step), abandon=lambda: self.abandon(step))

    async def ask_async(self, step: Step) -> Decision:
        """`ask` for an event loop, without blocking it."""
        return await self.run.gate.admit_async(lambda: self.before(step), abandon=lambda: self.abandon(step))

    def count_from(self, index: int) -> None:
        """Make sure that the next step has at least this index."""
        with self._counting:
            self.next_index = max(self.next_index, index)

    def allocate_index(self) -> int:
        """Allocate the index of the run's next step, for a step that is created elsewhere."""
        with self._counting:
            index, self.next_index = self.next_index, self.next_index + 1
            return index

    def _next(self, role: Role, content: str, kind: Kind, tool: Tool | None = None, agent: str | None = None) -> Step:
        run_id, index = self.run.spec.run_id, self.allocate_index()
        return Step(run_id=run_id, index=index, role=role, content=content, kind=kind, tool=tool, agent=agent)
