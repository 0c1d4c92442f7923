"""SupervisedRun: a GUI session as a run like any other, with journal, lists, pause, resume, cancel and checkpoints."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
import structlog
from msgspec.structs import replace

from ..config import Config
from ..core import Applied, Capability, Directive, InterlockError, RunSpec, Step, Stop, Tool
from ..journal import RunFolder, Store, has_ended, new_run_id, open_store
from ..journal_records import GuiChunkRecord, GuiModelCallRecord, InterventionEvent, RecordBody, kind_of
from ..redact import redact_text
from ..runtime import AFTER_STEP, Options, Supervisor
from .screenshot.screenshot import NAME

ADAPTER = "gui"

log = structlog.get_logger("interlock.gui")


class Keyboard:
    """The adapter of a GUI session, which can be held between two chunks and stopped at once."""

    name = ADAPTER
    capabilities: frozenset[Capability] = frozenset(("hold", "stop"))

    def __init__(self) -> None:
        self.on_stop: Callable[[str], object] = lambda reason: None

    def apply(self, directive: Directive) -> Applied:
        if isinstance(directive, Stop):
            self.on_stop("cancelled")
            return Applied(True, "typing stops")
        return Applied(False, "not supported in a GUI session")


Passage = Literal["proceed", "stop"]


class NoRun:
    """A run as sessions see it: its journal and its gate. This one records nothing, and nobody pauses it."""

    def record(self, body: RecordBody) -> None:
        """Write a record to the run's journal."""

    def gate(self) -> Passage:
        """Call before each chunk; waits while the run is paused, returns "stop" when it was cancelled."""
        return "proceed"

    def is_paused(self) -> bool:
        """Whether nothing may be typed now, not even by a recovery."""
        return False

    def checkpoint(self, label: str) -> None:
        """Make a checkpoint of the workspace."""


class SupervisedRun(NoRun):
    """A Supervisor's run as a replay and its monitor use it; a computer-use agent's steps may use the same run."""

    def __init__(self, supervisor: Supervisor, keyboard: Keyboard | None = None) -> None:
        self.supervisor, self.run = supervisor, supervisor.run
        self.keyboard = keyboard or Keyboard()
        self._lock, self._recording = threading.Lock(), threading.Lock()
        self._passing: Step | None = None
        self._passages = 0

    @property
    def pictures(self) -> Path | None:
        """Where the run's pictures are."""
        return self.run.folder.pictures if self.run.folder is not None else None

    def record(self, body: RecordBody) -> None:
        """Write a record and update the run's summary; a full disk does not end a session."""
        try:
            # Typing and monitoring record at the same time, and both update counters.
            with self._recording:
                changes = self._changes(body)
                if isinstance(body, InterventionEvent):
                    body = self._portable(body)
                elif isinstance(body, GuiModelCallRecord):
                    body = replace(body, question=redact_text(body.question), answer=redact_text(body.answer))
                self.run.append([body], changes=changes)
        except InterlockError as error:
            log.error("a record could not be written", kind=kind_of(body), error=str(error))

    def gate(self) -> Passage:
        """Pass the gate before each chunk; the previous chunk is over when the next one asks."""
        gate = self.run.gate
        self.leave()
        with self._lock:
            self._passages += 1
            step = Step(
                run_id=self.run.spec.run_id,
                index=self._passages,
                role="assistant",
                kind="tool_call",
                tool=Tool("type", {}, f"gui-{self._passages}"),
            )
        if gate.admit(lambda: gate.enter(step)).action == "stop":
            return "stop"
        with self._lock:
            self._passing = step
        return "proceed"

    def leave(self) -> None:
        """The chunk under way is over; a pause that waited for it takes effect."""
        with self._lock:
            step, self._passing = self._passing, None
        if step is not None:
            self.run.gate.leave(step)

    def is_paused(self) -> bool:
        return self.run.gate.status not in ("running", "pausing")

    def checkpoint(self, label: str) -> None:
        self.supervisor.checkpoint(cause=AFTER_STEP, step=self.run.summary.steps, label=label)

    def end(self, completed: bool, message: str) -> None:
        """End the session; an earlier reason for its end takes precedence."""
        self.leave()
        status, reason = ("done", "COMPLETE") if completed else ("aborted", "ERROR")
        self.supervisor.finish(status, reason, message)  # type: ignore[arg-type]

    def close(self) -> None:
        self.supervisor.close()

    def _changes(self, body: RecordBody) -> dict[str, object]:
        summary = self.run.summary
        changes: dict[str, object] = {}
        if isinstance(body, InterventionEvent):
            if body.outcome != "none":
                changes = {"issues": summary.issues + 1, "last_issue": f"{body.status.value}: {body.description}"[:200]}
            if body.outcome in ("recovered", "failed"):
                changes["interventions"] = summary.interventions + 1
        elif isinstance(body, GuiChunkRecord):
            changes = {"steps": summary.steps + 1}
        elif isinstance(body, GuiModelCallRecord):
            tokens = summary.tokens + body.input_tokens + body.output_tokens
            changes = {"tokens": tokens, "cost_usd": summary.cost_usd + body.cost_usd}
        return changes

    def _portable(self, event: InterventionEvent) -> InterventionEvent:
        """The event with pictures relative to the run's folder, which may be moved or sent."""

        def inside(path: str | None) -> str | None:
            pictures = self.pictures
            if path is None or pictures is None or not Path(path).is_relative_to(pictures):
                return path
            return str(Path(path).relative_to(pictures))

        return msgspec.structs.replace(
            event,
            screenshot_path=inside(event.screenshot_path),
            screenshot_after=inside(event.screenshot_after),
            raw_response=redact_text(event.raw_response[:4000]),
            description=redact_text(event.description),
        )


def open_run(
    config: Config, *, name: str, task: str, workspace: Path | None, session_id: str | None = None, resume: bool = False
) -> SupervisedRun:
    """A run for a GUI session; with `resume`, the one that was interrupted continues."""
    store = open_store(config)
    remove_old_pictures(store, config.gui.screenshot_retention_days)
    keyboard = Keyboard()
    left = find_interrupted(store, session_id, workspace) if resume and session_id else None
    spec = RunSpec(
        run_id=new_run_id(),
        name=name,
        task=task,
        workspace=str(workspace.resolve()) if workspace is not None else None,
        cwd=str(Path.cwd()),
        adapter=ADAPTER,
        session_id=session_id,
        continues=left.run_id if left is not None else None,
    )
    options = Options(spec=spec, config=config, store=store, adapter=keyboard)
    if left is not None and left.owner() is None and not has_ended(left):
        return SupervisedRun(Supervisor.reopen(left, **options), keyboard)
    return SupervisedRun(Supervisor.open(**options), keyboard)


def find_interrupted(store: Store, session_id: str | None, workspace: Path | None) -> RunFolder | None:
    """The newest run of this session on this workspace."""
    where = str(workspace.resolve()) if workspace is not None else None
    for folder in store.folders():
        try:
            spec = folder.spec()
        except InterlockError:
            continue
        if spec.adapter == ADAPTER and spec.session_id == session_id and spec.workspace == where:
            return folder
    return None


def remove_old_pictures(store: Store, days: float) -> None:
    """Remove pictures of all runs that are older than the retention."""
    from .screenshot.album import Album

    for folder in store.folders():
        if folder.pictures.is_dir() and any(NAME.fullmatch(file.name) for file in folder.pictures.iterdir()):
            Album(folder.pictures, days).prune()
