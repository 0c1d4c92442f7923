"""Removes runs that are too old, too many, or too large in total."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from ..core import ENDED, InterlockError, InvalidState
from .folder import OURS, RunFolder, agent_lives, is_run_id
from .lock import RunLock
from .summary import RunSummary

LEFTOVER_S = 3600.0
"""A draft or partly removed folder of this age was left by a process that died."""


class Pruned(Struct, frozen=True, omit_defaults=True):
    """A run that was removed, or would be; with a `problem`, one that could not be removed."""

    run_id: str
    name: str
    bytes: int
    why: str
    problem: str = ""


def prune_runs(
    root: Path,
    runs: Sequence[tuple[RunFolder, RunSummary]],
    *,
    now: float,
    older_than_s: float | None,
    keep_last: int | None,
    max_bytes: int | None,
    dry_run: bool,
    failed: list[Pruned] | None = None,
) -> list[Pruned]:
    """`runs` are newest first, and removed oldest first. Each limit is independent. `failed` collects failures."""
    removed: list[Pruned] = []
    sizes = [folder.size() for folder, _ in runs]
    total = sum(sizes)
    for index in reversed(range(len(runs))):
        folder, run = runs[index]
        if older_than_s is not None and now - run.updated > older_than_s:
            why = "old"
        elif keep_last is not None and index >= keep_last:
            why = "too many"
        elif max_bytes is not None and total > max_bytes:
            why = "too large together"
        else:
            continue
        # A paused run stays paused, however long.
        if run.owner_pid is not None or run.status in ("pausing", "paused"):
            continue
        # The owner may be dead and the agent alive: the folder has its gate and process tree.
        if run.status not in ENDED and agent_lives(folder):
            continue
        try:
            _be_sure(folder, run)
            gone = dry_run or remove_run(folder)
        except (InterlockError, OSError) as error:
            if failed is not None:
                failed.append(Pruned(run.run_id, run.name, sizes[index], why, str(error)))
            continue
        if gone:
            total -= sizes[index]
            removed.append(Pruned(run.run_id, run.name, sizes[index], why))
    if not dry_run:
        _sweep(root)
    return removed


def _be_sure(folder: RunFolder, run: RunSummary) -> None:
    """Raise if an unreadable run has no valid spec: it may be a folder of the user's."""
    if run.status == "unreadable":
        folder.spec()


def remove_run(folder: RunFolder) -> bool:
    """Remove one run; False if it has an owner."""
    try:
        lock = RunLock.acquire(folder.lock_file, f"run {folder.run_id}", patience_s=0)
    except InvalidState:
        return False
    with lock:
        gone = folder.path.with_name(f".gone-{folder.run_id}")
        shutil.rmtree(gone, ignore_errors=True)
        folder.path.rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
    return True


def _sweep(root: Path) -> None:
    for pattern in (".new-*", ".gone-*"):
        for left in root.glob(pattern):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > LEFTOVER_S and _is_left_over(left, pattern):
                    shutil.rmtree(left, ignore_errors=True)


def _is_left_over(folder: Path, pattern: str) -> bool:
    """Whether it contains only what a run's folder has."""
    if folder.is_symlink() or not is_run_id(folder.name.removeprefix(pattern.rstrip("*"))):
        return False
    return all(each.name.removeprefix(".").startswith(OURS) for each in folder.iterdir())
