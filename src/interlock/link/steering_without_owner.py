"""Pauses, resumes or cancels a run whose owner does not answer, through its recorded process tree."""

from __future__ import annotations

import contextlib
import time
from contextlib import closing

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..config import Config
from ..control import Command, RequestOutcome
from ..core import ENDED, InterlockError, from_json, read_small
from ..journal import HELD, LAUNCH, TREE, Journal, JournalEntry, RunFolder, read_tree, write_whole
from ..journal_records import EndRecord, kind_of
from ..process import ProcessTree, attach
from .adoption import adopt_orphan, is_orphaned

PATIENCE_S = 1.0
"""How long an owner may take to acknowledge a pause or a cancel."""

DEAD_S = 0.3
"""How long we wait if there is none: a successor may be starting."""

GRACE_S = 0.5
"""How long the agent may take to end after SIGTERM."""

STEERABLE = ("pause", "resume", "cancel")

CANCELLED = "USER_CANCELLED"


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
    held = (folder.path / HELD).exists()
    if is_orphaned(folder) and _is_fenced(folder):
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


def _is_fenced(folder: RunFolder) -> bool:
    """Whether the command is inside a fence, or its launch cannot be read."""
    try:
        return from_json(read_small(folder.path / LAUNCH), _Launch).config.runtime.contain == "fence"
    except (OSError, msgspec.DecodeError):
        return True


class _Launch(Struct):
    """The part of a run's stored launch that matters here."""

    config: Config


def _record_end(folder: RunFolder, message: str) -> None:
    """Record the end in the journal if the run has no front, which would do so itself."""
    # A full disk, or an owner that has just come back: the processes are gone anyway.
    with contextlib.suppress(InterlockError, OSError):
        if not is_orphaned(folder):
            return
        with closing(Journal.open(folder)) as journal, closing(journal.reader()) as reader:
            summary = reader.summary()
            if summary is None or summary.status in ENDED:
                return
            now, reason = time.time(), summary.reason or CANCELLED
            summary = replace(summary, status="aborted", reason=reason, updated=now, ended=now, waiting=None)
            end = EndRecord("aborted", CANCELLED, message)
            journal.append([JournalEntry(kind_of(end), end)], durable=True, summary=summary)
