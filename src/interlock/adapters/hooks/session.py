"""HookSession: the run of an agent that we did not start, known only through its hooks."""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path

from msgspec.structs import replace

from ...config import Config
from ...contain import RunMembers
from ...core import ENDED, Context, InvalidState, RunSpec, boot_id
from ...journal import RunFolder, Store, new_run_id
from ...process import ProcessId, ProcessTree, TreeHandle, attach, name_of, read_process
from ...runtime import Options, Supervisor
from ..run_process_tree import RunProcessTree
from ..steps.step_numbering import StepNumbering
from .clients import adapter_named, dialect_named, new_dialects
from .exchange import HookExchange
from .hook_event import HookEvent
from .hook_guardian import HookGuardian, keep_authority

log = logging.getLogger("interlock")

SHELLS = frozenset(("sh", "bash", "dash", "zsh"))
"""Processes that may be between an agent and its hook."""

ANCESTORS = 4


class HookSession:
    """Created at the first hook of a client's session, or continued from its journal."""

    def __init__(
        self,
        event: HookEvent,
        config: Config,
        store: Store,
        pid: int | None,
        *,
        folder: RunFolder | None = None,
        checkpoints: bool = True,
    ) -> None:
        self.client, self.name = event.client, event.session
        self.held = RunProcessTree()
        cwd = event.cwd if Path(event.cwd).is_dir() else None
        spec = RunSpec(
            run_id=new_run_id(),
            name=f"{event.client} {Path(event.cwd).name}".strip(),
            task=event.content if event.moment == "prompt" else "",
            workspace=cwd if checkpoints else None,
            cwd=cwd,
            adapter=event.client,
            session_id=event.session,
        )
        options = Options(
            spec=spec,
            config=config,
            context=Context(original_prompt=spec.task, workspace=cwd),
            store=store,
            adapter=adapter_named(event.client),
            processes=self.held,
        )
        if folder is not None:
            self.supervisor = Supervisor.reopen(folder, **options)
        else:
            self.supervisor = _open(options)
        self.numbering = StepNumbering(self.supervisor)
        self.guardian = HookGuardian(self.supervisor, self.held)
        self.exchange = HookExchange(self.numbering, new_dialects(), self.guardian)
        if folder is not None:
            self.numbering.recall(self.supervisor.run.journal.reader())
            self.exchange.recall(self.supervisor.run.journal.reader())
        self._members = RunMembers()
        keep_authority(self.supervisor, self._members, self.guardian)
        self._closing = threading.Lock()
        self._closed = False
        self._started = self.supervisor.run.summary.started
        self.find_agent(pid)

    @property
    def folder(self) -> RunFolder:
        folder = self.supervisor.run.folder
        assert folder is not None
        return folder

    def find_agent(self, pid: int | None) -> None:
        """Attach to the agent's process: `pid`, or an ancestor if a shell started the hook."""
        if pid is None or self.held.tree is not None:
            return
        if (root := agent_of(pid, self.client)) is not None:
            handle = TreeHandle(marker=os.urandom(16).hex(), boot=boot_id(), root=ProcessId.of(root))
            self._members.add_agent(root)
            self.held.attach(attach(handle))

    def check(self) -> bool:
        """Regular checks; False when the agent is gone."""
        run, tree = self.supervisor.run, self.held.tree
        if tree is None:
            return True
        if not _is_there(tree):
            return False
        self.supervisor.check_usage(tree.usage().memory_mb, run.steady.time() - self._started)
        self.exchange.read_transcripts()
        self.guardian.check()
        return True

    def finish(self) -> None:
        """The agent's session is over."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self.exchange.read_transcripts()
        self.supervisor.finish("done", "COMPLETE", "the agent's session ended")
        self.supervisor.close()

    def release(self) -> None:
        """Stop supervising without ending the run: the next supervisor continues from the journal."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self.supervisor.run.close()


def _open(options: Options) -> Supervisor:
    """A new run; without checkpoints if another run uses the folder, as changes could not be attributed."""
    spec = options["spec"]
    try:
        return Supervisor.open(**options)
    except InvalidState as error:
        if spec.workspace is None:
            raise
        log.warning("%s: no checkpoints (%s)", spec.name, error)
        options["spec"] = replace(spec, run_id=new_run_id(), workspace=None)
        return Supervisor.open(**options)


def open_sessions(store: Store) -> dict[tuple[str, str], RunFolder]:
    """The runs of sessions that have not ended and have no owner."""
    found: dict[tuple[str, str], RunFolder] = {}
    for summary in store.runs():
        if summary.status in ENDED or dialect_named(summary.adapter) is None:
            continue
        folder = RunFolder(store.root / summary.run_id)
        spec = folder.spec()
        if spec.session_id and not spec.argv and folder.owner() is None:
            found.setdefault((spec.adapter, spec.session_id), folder)
    return found


def agent_of(pid: int, client: str) -> int | None:
    """The agent behind a hook: the process itself for a plugin, else its nearest ancestor that is not a shell."""
    if client == "opencode":
        return pid
    process = read_process(pid)
    for _ in range(ANCESTORS):
        process = read_process(process.parent) if process is not None else None
        if process is None or process.pid <= 1:
            return None
        if name_of(process.pid) not in SHELLS:
            return process.pid
    return None


def _is_there(tree: ProcessTree) -> bool:
    root = read_process(tree.pid)
    return root is not None and not root.dead
