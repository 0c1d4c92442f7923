"""Pause, resume or cancel a run whose owner does not answer, through its recorded process tree."""

from __future__ import annotations

import contextlib
import time

from ..control import Command, RequestOutcome
from ..core import InterlockError
from ..journal import HELD, TREE, RunFolder, read_tree, write_whole
from ..process import ProcessTree, attach

PATIENCE_S = 1.0
"""How long an owner may take to acknowledge a pause or a cancel."""

DEAD_S = 0.3
"""How long we wait if there is none: a successor may be starting."""

GRACE_S = 0.5
"""How long the agent may take to end after SIGTERM."""

STEERABLE = ("pause", "resume", "cancel")


def patience_for(folder: RunFolder) -> float | None:
    """How long to wait for the owner of a run; None if nothing can be done without one."""
    if not (folder.path / TREE).exists():
        return None
    return PATIENCE_S if folder.owner() is not None else DEAD_S


def processes_live(folder: RunFolder) -> bool:
    """Whether a process of the run's recorded tree is alive."""
    handle = read_tree(folder)
    return handle is not None and attach(handle).alive()


def steer_without_owner(folder: RunFolder, command: Command, lived: bool) -> RequestOutcome | None:
    """Apply a command to the processes themselves; None if none are recorded, or the command needs an owner.

    `lived`: whether they were alive when the request was made. The front may have cancelled them since.
    """
    handle = read_tree(folder)
    if handle is None or command not in STEERABLE:
        return None
    tree = attach(handle)
    if not tree.alive():
        if lived and command == "cancel":
            return RequestOutcome(outcome="success", message="cancelled without its owner: its processes have ended")
        return RequestOutcome(
            outcome="failure", code="not_found", message="its owner is dead and its processes have ended"
        )
    if command == "pause":
        return _pause(folder, tree)
    return _resume(folder, tree) if command == "resume" else _cancel(folder, tree)


def _pause(folder: RunFolder, tree: ProcessTree) -> RequestOutcome:
    with contextlib.suppress(OSError):
        # For an owner that comes back: it must not resume them.
        write_whole(folder.path / HELD, f"{time.time()}\n".encode())
    how = tree.freeze()
    if not how.held:
        return RequestOutcome(
            outcome="failure", code="failed", message=f"not all of its processes could be stopped: {how.words}"
        )
    return RequestOutcome(outcome="success", message=f"paused without its owner: {how.words}")


def _resume(folder: RunFolder, tree: ProcessTree) -> RequestOutcome | None:
    """Resume processes that were paused without an owner; if nothing supervises the run any more, start an owner."""
    from ..adapters.command import adopt_orphan, has_front, read_launch

    held = (folder.path / HELD).exists()
    orphaned = folder.owner() is None and not has_front(folder)
    launch = read_launch(folder) if orphaned else None
    if orphaned and (launch is None or launch.config.runtime.contain == "fence"):
        # The fence's network access and the agent's key ended with the front.
        why = "it is no longer supervised, and inside a fence that cannot be restored; interlock cancel ends it"
        return RequestOutcome(outcome="failure", code="failed", message=why)
    if held:
        (folder.path / HELD).unlink(missing_ok=True)
        how = tree.thaw().words
    adopt_orphan(folder)
    # A run that its journal says is paused is resumed by the new owner.
    return RequestOutcome(outcome="success", message=f"resumed without its owner: {how}") if held else None


def _cancel(folder: RunFolder, tree: ProcessTree) -> RequestOutcome:
    ended = tree.end(GRACE_S)
    if tree.alive():
        return RequestOutcome(outcome="failure", code="failed", message=f"still running: {tree.describe()}")
    message = f"cancelled without its owner: {ended.words}"
    _record_end(folder, message)
    return RequestOutcome(outcome="success", message=message)


def _record_end(folder: RunFolder, message: str) -> None:
    """Record the end in the journal if the run has no front, which would do so itself."""
    from ..adapters.command import has_front
    from ..runtime import Run

    # A full disk, or an owner that has just come back: the processes are gone anyway.
    with contextlib.suppress(InterlockError, OSError):
        if folder.owner() is None and not has_front(folder):
            with Run.reopen(folder) as run:
                if not run.ended:
                    run.end("aborted", "USER_CANCELLED", message)
