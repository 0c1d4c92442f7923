"""Disk: whether the files that an agent says it wrote are there. Asked once, and kept with the step."""

from __future__ import annotations

from pathlib import Path

from ..core import Step

MOST = 8
"""Files of one step that are looked for."""


def missing_files(step: Step, workspace: str | None) -> tuple[str, ...] | None:
    """The files that the step claims to have written and that are not there; None if there is nothing to look for.

    A successor that reads the journal finds another disk, so the answer is recorded with the step.
    """
    if workspace is None or step.role != "assistant" or not step.content:
        return None
    from ..proof import claimed_files

    claimed = claimed_files(step.content)[:MOST]
    if not claimed:
        return None
    return tuple(path for path in claimed if not Path(workspace, path).exists())
