"""Supervision: what `supervise(...)` was given; opens a session for each run of the agent."""

from __future__ import annotations

import atexit
import sys
import weakref
from pathlib import Path

from ...config import load
from ...core import Capability, RunSpec
from ...journal import new_run_id
from ...runtime import Options, Supervisor
from .adapter import InProcess
from .children import Children
from .session import Session


class Supervision:
    """For one agent, which may run many times. `last` is the newest session, for whoever wants to look at it."""

    def __init__(self, name: str, capabilities: frozenset[Capability], options: Options) -> None:
        self.name = name
        self.capabilities = capabilities
        self.last: Session | None = None
        self._options = options

    def open(self, prompt: str = "", *, model: str | None = None) -> Session:
        """A session for one run; `prompt` is what the agent was asked, `model` what answers."""
        options = Options(**self._options)
        options["config"] = options.get("config") or load()
        workspace = options.get("workspace")
        adapter, children = InProcess(self.name, self.capabilities), Children()
        options["adapter"], options["processes"] = adapter, children
        options["spec"] = options.get("spec") or RunSpec(
            run_id=new_run_id(),
            name=options.get("name", ""),
            task=options.get("task") or prompt,
            workspace=str(Path(workspace).resolve()) if workspace is not None else None,
            cwd=str(Path.cwd()),
            adapter=self.name,
            model=model,
        )
        session = Session(Supervisor.open(**options), adapter, children)
        _OPEN.add(session)
        if prompt:
            session.say(prompt, role="user")
        self.last = session
        return session


_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


def open_sessions() -> list[Session]:
    """Every session of this process that has not been closed."""
    return [session for session in _OPEN if not session.closed]


@atexit.register
def _close_all() -> None:
    """A program that ends takes its runs with it; one that fails says why."""
    error = getattr(sys, "last_value", None)
    for session in open_sessions():
        session.close(error if isinstance(error, BaseException) else None)
