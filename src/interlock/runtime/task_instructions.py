"""Task instructions: read the files that a task points to, where they are there at the start."""

from __future__ import annotations

import stat
from pathlib import Path

from ..core import LENGTH, Context, task_files, with_instructions


def read_task_files(context: Context, folder: str | None = None) -> Context:
    """The context with the words of those files; a file that is missing or not text is left out."""
    folder = context.workspace or folder
    for name in task_files(context.original_prompt):
        if folder is not None or name.startswith("/"):
            context = with_instructions(context, _text(Path(folder or "/") / name))
    return context


def missing_task_files(context: Context, folder: str | None = None) -> tuple[str, ...]:
    """The files that a task points to and that do not exist."""
    folder = context.workspace or folder
    if folder is None:
        return ()
    return tuple(name for name in task_files(context.original_prompt) if not (Path(folder) / name).exists())


def _text(path: Path) -> str:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return ""
        with path.open("rb") as file:
            raw = file.read(4 * LENGTH)
    except OSError:
        return ""
    return "" if b"\0" in raw else raw.decode("utf-8", "replace")
