"""A run's environment: whether it is a container, the files named in its task, and those it claims to have written."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..core import LENGTH, Context, open_regular, task_files, with_instructions

if TYPE_CHECKING:
    from ..core import Step

MARKS = ("/.dockerenv", "/run/.containerenv")
"""Files that container engines create in containers."""


@functools.cache
def is_contained() -> bool:
    """Whether we run inside a container."""
    return any(map(os.path.exists, MARKS))


MOST = 8
"""The most files of one step that are checked."""


def missing_files(step: Step, workspace: str | None) -> tuple[str, ...] | None:
    """The files that the step claims to have written and that do not exist; None if it claims none.

    Recorded with the step, because the files may have changed when a successor replays the journal.
    """
    if workspace is None or step.role != "assistant" or not step.content:
        return None
    from ..proof import claimed_files

    claimed = claimed_files(step.content)[:MOST]
    if not claimed:
        return None
    return tuple(path for path in claimed if not Path(workspace, path).exists())


def read_task_files(context: Context, folder: str | None = None) -> Context:
    """Add the content of the files that the task names to the context; missing and non-text files are skipped."""
    folder = context.workspace or folder
    for name in task_files(context.original_prompt):
        if folder is not None or name.startswith("/"):
            context = with_instructions(context, _text(Path(folder or "/") / name))
    return context


def missing_task_files(context: Context, folder: str | None = None) -> tuple[str, ...]:
    """The files that a task names but that do not exist."""
    folder = context.workspace or folder
    if folder is None:
        return ()
    return tuple(name for name in task_files(context.original_prompt) if not (Path(folder) / name).exists())


def _text(path: Path) -> str:
    try:
        with open_regular(path, links=True) as file:
            raw = file.read(4 * LENGTH)
    except OSError:
        return ""
    return "" if b"\0" in raw else raw.decode("utf-8", "replace")
