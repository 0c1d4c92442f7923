"""Session: one run of an agent in this process. Asks before calls, reports results, collects messages."""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from ...config import load
from ...core import (
    ENDED,
    Capability,
    Decision,
    InterlockError,
    InvalidState,
    Message,
    NotFound,
    Role,
    RunSpec,
    Step,
    Tool,
    Usage,
)
from ...journal import new_run_id
from ...runtime import MEANWHILE, EndsWithBlock, Options, Supervisor
from .adapter import ChildProcesses, InProcessAdapter
from .call_decision import CallDecision, CallOutcome, Marks, ModelTurn, read_error, read_outcome

T = TypeVar("T")
Flow = tuple[type[BaseException], ...]
"""Exceptions that are not errors: a framework uses them to end or interrupt an agent."""


class RunStopped(InterlockError):
    """Raised in the agent's program when its run was stopped: by a limit, a person, or an emergency stop."""

    def __init__(self, run_id: str, reason: str) -> None:
        super().__init__(f"Interlock stopped run {run_id}: {reason}")
        self.run_id, self.reason = run_id, reason


class Session(EndsWithBlock):
    """Thread-safe. Every blocking method has an async version, which never blocks the event loop."""

    def __init__(
        self, supervisor: Supervisor, adapter: InProcessAdapter, children: ChildProcesses, flow: Flow = ()
    ) -> None:
        self.supervisor = supervisor
        self.adapter = adapter
        self.children = children
        self._flow = flow
        self._messages: list[Message] = []
        self._marks = Marks()
        self._lock = threading.Lock()
        self.closed = False
        self._running = 0
        self._waiting = 0
        children.on_frozen = self._keep_work
        # Before the journal, which also closes itself when the program exits.
        atexit.register(self._leave)

    @property
    def run_id(self) -> str:
        return self.supervisor.run.spec.run_id

    @property
    def stopped(self) -> str | None:
        """Why the run was stopped; None while it may continue."""
        run = self.supervisor.run
        return run.why_ended if run.gate.status in ENDED else None

    @property
    def idle(self) -> bool:
        """Whether no call, question or wait is in progress. A live agent is idle only briefly."""
        return self._running == 0 and self._waiting == 0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Mark that the agent is waiting for an answer, from us or from the model."""
        with self._lock:
            self._waiting += 1
        try:
            yield
        finally:
            with self._lock:
                self._waiting -= 1

    def check(self) -> None:
        """Raise RunStopped if the run was stopped."""
        if (reason := self.stopped) is not None:
            raise RunStopped(self.run_id, reason)

    def ask(
        self, tool: str, arguments: Mapping[str, object], *, call_id: str | None = None, agent: str | None = None
    ) -> CallDecision:
        """Ask whether this call may run; waits for holds and delays."""
        step = self._call(tool, arguments, call_id, agent)
        with self.waiting():
            return self._asked(step, self.supervisor.ask(step))

    async def ask_async(
        self, tool: str, arguments: Mapping[str, object], *, call_id: str | None = None, agent: str | None = None
    ) -> CallDecision:
        """`ask` for an event loop."""
        step = self._call(tool, arguments, call_id, agent)
        with self.waiting():
            return self._asked(step, await self.supervisor.ask_async(step))

    def run(
        self,
        asked: CallDecision,
        work: Callable[[dict[str, object]], T],
        read: Callable[[T], CallOutcome] = read_outcome,
    ) -> T:
        """Run an allowed call, and report its result."""
        begin = time.perf_counter()
        try:
            with self.children.marked():
                result = work(asked.arguments)
        except BaseException as error:
            self.tell(asked, self._read_error(error), _since(begin))
            raise
        self.tell(asked, read(result), _since(begin))
        return result

    async def run_async(
        self,
        asked: CallDecision,
        work: Callable[[dict[str, object]], Awaitable[T]],
        read: Callable[[T], CallOutcome] = read_outcome,
    ) -> T:
        """`run` for an event loop."""
        begin = time.perf_counter()
        try:
            with self.children.marked():
                result = await work(asked.arguments)
        except BaseException as error:
            # Cancelled or failed: do not await anything.
            self.tell(asked, self._read_error(error), _since(begin))
            raise
        outcome, took = read(result), _since(begin)
        await asyncio.to_thread(self.tell, asked, outcome, took)
        return result

    def tell(self, asked: CallDecision, outcome: CallOutcome, duration_ms: float | None = None) -> None:
        """Report the result of a call."""
        with self._lock:
            self._running -= 1
        call = asked.step.tool
        step = self._result(outcome, replace(call, arguments={}) if call is not None else None)
        self._keep(self.supervisor.after(replace(step, agent=asked.step.agent, duration_ms=duration_ms)))

    def note(
        self, tool: str, arguments: Mapping[str, object], outcome: CallOutcome, *, call_id: str | None = None
    ) -> None:
        """Report a call that failed before we could be asked about it."""
        self._keep(self.supervisor.after(self._result(outcome, Tool(tool, dict(arguments), call_id))))

    def say(
        self,
        content: str,
        *,
        role: Role = "assistant",
        usage: Usage | None = None,
        model: str | None = None,
        agent: str | None = None,
    ) -> None:
        """Report a message of the model, or of another role, and its usage."""
        if not content and usage is None:
            return
        step = self.supervisor.message(content, role=role, usage=usage, agent=agent)
        self._keep(self.supervisor.after(replace(step, model=model, kind=step.kind if content else "usage")))

    def turn(self, length: int) -> ModelTurn:
        """Call this before a request with a conversation of `length` items; waits while the run is paused."""
        with self.waiting():
            self.supervisor.run.gate.wait_open()
        return self._turn(length)

    async def turn_async(self, length: int) -> ModelTurn:
        """`turn` for an event loop."""
        with self.waiting():
            await self.supervisor.run.gate.wait_open_async()
        return self._turn(length)

    def before_end(self, said: str = "") -> str:
        """The agent wants to end with this message; returns what it still has to do, empty if it may end."""
        with self.waiting():
            return self.supervisor.stop_gate.at_turn_end(said).words

    async def before_end_async(self, said: str = "") -> str:
        """`before_end` for an event loop."""
        return await asyncio.to_thread(self.before_end, said)

    def close(self, error: BaseException | None = None) -> None:
        """End the run after the agent has ended; a second call does nothing."""
        with self._lock:
            closed, self.closed = self.closed, True
        if not closed:
            atexit.unregister(self._leave)
            self.supervisor.close(None if isinstance(error, RunStopped) else error)

    def _leave(self) -> None:
        """The program exits: end the run, with the program's error if it failed."""
        error = getattr(sys, "last_value", None)
        self.close(error if isinstance(error, BaseException) else None)

    def _read_error(self, error: BaseException) -> CallOutcome:
        return CallOutcome(str(error)) if isinstance(error, self._flow) else read_error(error)

    def _call(self, tool: str, arguments: Mapping[str, object], call_id: str | None, agent: str | None) -> Step:
        step = self.supervisor.call(tool, dict(arguments), call_id=call_id, agent=agent)
        named = step.tool if call_id is not None or step.tool is None else replace(step.tool, call_id=f"#{step.index}")
        return replace(step, tool=named)

    def _result(self, outcome: CallOutcome, tool: Tool | None) -> Step:
        step = self.supervisor.result(outcome.content, error=outcome.error, exit_code=outcome.exit_code)
        return replace(step, tool=tool)

    def _asked(self, step: Step, decision: Decision) -> CallDecision:
        self._keep(decision)
        known = step.tool.arguments if step.tool is not None else {}
        rewritten = decision.arguments if decision.action == "rewrite" else None
        asked = CallDecision(step, decision, {**known, **rewritten} if rewritten is not None else known)
        with self._lock:
            self._running += asked.runs
        return asked

    def _keep(self, decision: Decision) -> None:
        with self._lock:
            self._messages += decision.messages

    def _turn(self, length: int) -> ModelTurn:
        keep = self._go_back()
        with self._lock:
            messages, self._messages = tuple(self._messages), []
        self._marks.note(self.supervisor.next_index, length if keep is None else keep)
        return ModelTurn(messages, keep, self.adapter.model, self.stopped)

    def _go_back(self) -> int | None:
        """How many items of the conversation stay, if the run was rolled back; otherwise None."""
        wanted, self.adapter.back_to = self.adapter.back_to, None
        workspace = self.supervisor.executor.workspace
        if wanted is None or workspace is None:
            return None
        try:
            return self._marks.at(workspace.checkpoints.get(wanted).step)
        except NotFound:
            return None

    def _keep_work(self) -> None:
        """Before a rollback: record changes made by a running call as the run's own work."""
        if self._running:
            self.supervisor.checkpoint(cause=MEANWHILE, step=self.supervisor.next_index)


def _since(begin: float) -> float:
    return (time.perf_counter() - begin) * 1000


class Supervision:
    """For one agent, which may run many times. `last` is the newest session, for inspection."""

    def __init__(self, name: str, capabilities: frozenset[Capability], options: Options, *, flow: Flow = ()) -> None:
        self.name = name
        self.capabilities = capabilities
        self.last: Session | None = None
        self._options = options
        self._flow = flow
        self._sessions: list[Session] = []

    def open(self, prompt: str = "", *, model: str | None = None, continues: str | None = None) -> Session:
        """A session for one run; `prompt` is what the agent was asked, `model` the model that answers."""
        options = Options(**self._options)
        options["config"] = options.get("config") or load()
        workspace = options.get("workspace")
        if workspace is not None:
            self._make_room()
        adapter, children = InProcessAdapter(self.name, self.capabilities), ChildProcesses()
        options["adapter"], options["processes"] = adapter, children
        options["spec"] = options.get("spec") or RunSpec(
            run_id=new_run_id(),
            name=options.get("name", ""),
            task=options.get("task") or prompt,
            workspace=str(Path(workspace).resolve()) if workspace is not None else None,
            cwd=str(Path.cwd()),
            adapter=self.name,
            model=model,
            continues=continues,
        )
        session = Session(Supervisor.open(**options), adapter, children, self._flow)
        self._sessions.append(session)
        children.limit(session.supervisor.process_limits)
        if prompt:
            session.say(prompt, role="user")
        self.last = session
        return session

    async def open_async(self, prompt: str = "", *, model: str | None = None) -> Session:
        """`open` for an event loop, as the first checkpoint of a large workspace takes time."""
        return await asyncio.to_thread(self.open, prompt, model=model)

    def _make_room(self) -> None:
        """Close sessions whose agent failed without reporting it: a workspace has only one run at a time."""
        for session in self._sessions:
            if not session.closed and session.idle:
                session.close(InvalidState("the agent ended without reporting it"))
        self._sessions = [session for session in self._sessions if not session.closed]
