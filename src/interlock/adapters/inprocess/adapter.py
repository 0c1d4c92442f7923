"""InProcessAdapter: for an agent in this process; the processes of its tools; and each framework's capabilities."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...core import Applied, Capability, Directive, Restore, Stop, SwitchModel, boot_id
from ...process import MARKER, ProcessId, ProcessTree, TreeHandle, attach
from ..run_process_tree import RunProcessTree


class InProcessAdapter:
    """One for each session. `model` is the requested model, `back_to` the checkpoint to roll back to."""

    def __init__(self, name: str, capabilities: frozenset[Capability]) -> None:
        self.name = name
        self.capabilities = capabilities
        self.model: str | None = None
        self.back_to: str | None = None
        self.on_stop: Callable[[], str] = lambda: "ends at its next turn"

    def apply(self, directive: Directive) -> Applied:
        match directive:
            case SwitchModel(model):
                if "switch_model" not in self.capabilities:
                    return Applied(False, f"{self.name} cannot switch models")
                self.model = model
                return Applied(True, "from the next request on")
            case Restore(checkpoint_id):
                self.back_to = checkpoint_id
                return Applied(True, "the conversation is rolled back at the next request")
            case Stop():
                return Applied(True, self.on_stop())
            case _:
                return Applied(True, "sent with the reply to its step")


_MARKING = threading.Lock()


class ChildProcesses(RunProcessTree):
    """Processes that start during a call belong to the run, even if they leave their parent.

    This process itself does not belong to it. Overlapping calls of two runs in one process mark each other's processes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.marker = secrets.token_hex(8)
        self._calls = 0
        nobody = ProcessId(-1, -1)
        self.attach(attach(TreeHandle(marker=self.marker, boot=boot_id(), root=nobody, session=os.getsid(0))))

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Mark every process that starts during the block."""
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def pids(self) -> tuple[int, ...]:
        """The pids of the run's live processes."""
        tree: ProcessTree | None = self.tree
        return tree.pids() if tree is not None else ()

    def _count(self, by: int) -> None:
        with _MARKING:
            before, self._calls = self._calls, self._calls + by
            if before and self._calls:
                return
            marks = [mark for mark in os.environ.get(MARKER, "").split(":") if mark and mark != self.marker]
            if self._calls:
                marks.append(self.marker)
            if marks:
                os.environ[MARKER] = ":".join(marks)
            else:
                os.environ.pop(MARKER, None)


_LOOP: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage"))
"""The capabilities of all agent loops in this process: their calls and requests pass through us."""

CLAUDE_AGENT_SDK: frozenset[Capability] = _LOOP | {"switch_model"}
_REWINDABLE: frozenset[Capability] = CLAUDE_AGENT_SDK | {"conversation"}
LANGCHAIN = OPENAI_AGENTS = PYDANTIC_AI = MINI_SWE_AGENT = SMOLAGENTS = _REWINDABLE
