"""Supervision: what `supervise(...)` was given; opens a session for each run of the agent."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ...config import load
from ...core import Capability, InvalidState, RunSpec
from ...journal import new_run_id
from ...runtime import Options, Supervisor
from .adapter import InProcessAdapter
from .child_processes import ChildProcesses
from .session import Flow, Session


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
        """A session for one run; `prompt` is what the agent was asked, `model` what answers."""
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
        """`open` for an event loop: a large workspace takes its time to be kept."""
        return await asyncio.to_thread(self.open, prompt, model=model)

    def _make_room(self) -> None:
        """A workspace has one run at a time: one whose agent failed without saying so is over now."""
        for session in self._sessions:
            if not session.closed and session.idle:
                session.close(InvalidState("the agent ended without reporting it"))
        self._sessions = [session for session in self._sessions if not session.closed]
