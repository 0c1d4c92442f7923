"""Drift: whether the files that a run changed have to do with what its task names, looked up on the disk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ..core import GOAL_DRIFT, CheckpointInfo, Issue, Severity, Step, Stuck, open_regular
from ..journal_records import Opinion
from .decision_pipeline import DecisionPipeline
from .run import Run
from .workspace import RunWorkspace, is_source

FIRST, EVERY = 13, 5
"""Changed files at which it is looked up first, and how many more until it is looked up again."""
MANY = 25
"""Changed files from which it is an issue; below it is a note."""
CONNECTED = 0.25
"""Share of them that is connected with the task, below which the work has left it."""
MOST = 64
"""Changed files that are looked up."""
READ = 64 * 1024
"""Bytes read of a file."""
PATIENCE_S = 0.2
"""Time for all of it; what takes longer is left alone."""
NAMED = 5


class Drift:
    """For one run; the caller holds the supervisor's lock."""

    def __init__(self, run: Run, pipeline: DecisionPipeline, workspace: RunWorkspace | None) -> None:
        self._run, self._pipeline, self._workspace = run, pipeline, workspace
        self._changed: dict[str, None] = {}
        self._due = FIRST
        self._said = ""
        self._begun = False

    def after(
        self, step: Step, start: Callable[[], str | None], before: CheckpointInfo | None, now: CheckpointInfo | None
    ) -> None:
        """After a call: count what it changed; look the changed files up where there are enough of them."""
        if self._workspace is None or before is None or now is None or before.id == now.id:
            return
        since = before.id if self._begun else start() or before.id
        changes = self._workspace.checkpoints.own_changes(since).states
        self._begun = True
        self._changed.update(dict.fromkeys(filter(is_source, changes)))
        if len(self._changed) >= self._due:
            self._due += EVERY * (1 + (len(self._changed) - self._due) // EVERY)
            self._look(step.index)

    def _look(self, step: int) -> None:
        from ..detect import path_words, read_named, unconnected

        workspace = self._run.spec.workspace
        if workspace is None:
            return
        until = time.monotonic() + PATIENCE_S
        root, task = Path(workspace), self._pipeline.context.task.replace(f"{workspace}/", "")
        kinds = {}
        for word in path_words(task):
            place = root / word.rstrip("/")
            if place.is_file() or place.is_dir():
                kinds[word] = "file" if place.is_file() else "folder"
        named = read_named(task, kinds)
        changed = list(self._changed)[-MOST:]
        texts = _read(root, (*named.files, *changed), until)
        if texts is None:
            return
        apart = unconnected(named, texts, changed)
        if time.monotonic() <= until and len(changed) - len(apart) < CONNECTED * len(changed):
            self._raise(step, changed, apart)

    def _raise(self, step: int, changed: Sequence[str], apart: Sequence[str]) -> None:
        count = len(self._changed)
        severity: Severity = "medium" if count >= MANY else "low"
        if severity == self._said:
            return
        self._said = severity
        issue = Issue(
            id=f"{GOAL_DRIFT}:{step}:files",
            type=GOAL_DRIFT,
            step=step,
            description=f"{count} files were changed, and nothing connects {len(apart)} of the last {len(changed)} "
            f"with what the task names: {', '.join(apart[-NAMED:])}. Return to the task, or say why they are part "
            "of it.",
            severity=severity,
            confidence=0.7,
            details={"key": f"{GOAL_DRIFT}:files", "changed": count, "files": list(apart[-NAMED:])},
            evidence=(step,),
            # A hint, and no more: no single step can tell whether it goes on.
            stuck=Stuck(kind="pattern", key="changed files", every=1_000_000, most=0),
        )
        opinion = Opinion(issue_id=issue.id, key=f"{GOAL_DRIFT}:files", model="", issue=issue)
        self._pipeline.heed(opinion)
        self._run.record(opinion)


def _read(root: Path, names: Iterable[str], until: float) -> dict[str, bytes] | None:
    """The beginning of each file that is there; None if that takes too long."""
    texts = {}
    for name in names:
        if time.monotonic() > until:
            return None
        try:
            with open_regular(name, below=root) as file:
                texts[name] = file.read(READ)
        except OSError:
            continue
    return texts
