"""Steering a run whose owner does not answer: by its recorded process tree, and only with words that are true."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from ..control import Command, RequestOutcome
from ..journal import RunFolder, write_whole
from ..journal.folder import HELD, TREE
from ..journal.process_tree import read_tree
from ..process import ProcessTree, attach

PATIENCE_S = 1.0
"""How long an owner may take to acknowledge a pause or a cancel."""

DEAD_S = 0.3
"""How long we wait where there is none: another may be on its way."""

GRACE_S = 0.5
"""How long the agent may take to end by itself."""

STEERABLE = ("pause", "resume", "cancel")


def patience_for(folder: RunFolder) -> float | None:
    """How long to wait for the owner of a run; None where there is nothing to be done without one."""
    if not (folder.path / TREE).exists():
        return None
    return PATIENCE_S if folder.owner() is not None else DEAD_S


def processes_live(folder: RunFolder) -> bool:
    """Whether a process of the run's recorded tree is alive."""
    handle = read_tree(folder)
    return handle is not None and attach(handle).alive()


def steer_without_owner(folder: RunFolder, command: Command, lived: bool) -> RequestOutcome | None:
    """Do it to the processes themselves; None where there are none on record, or it cannot be done like this.

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
    return _resume(folder, tree) if command == "resume" else _cancel(tree)


def describe(pids: tuple[int, ...]) -> str:
    """Processes with what they run, for people."""
    return ", ".join(f"{pid} ({_command(pid)})" for pid in pids[:10])


def _pause(folder: RunFolder, tree: ProcessTree) -> RequestOutcome:
    with contextlib.suppress(OSError):
        # For an owner that comes back: it must not let them go on.
        write_whole(folder.path / HELD, f"{time.time()}\n".encode())
    how = tree.freeze()
    if not how.held:
        return RequestOutcome(
            outcome="failure", code="failed", message=f"not all of its processes could be stopped: {how.words}"
        )
    return RequestOutcome(outcome="success", message=f"paused without its owner: {how.words}")


def _resume(folder: RunFolder, tree: ProcessTree) -> RequestOutcome | None:
    if not (folder.path / HELD).exists():
        # It is paused by what its journal says; only an owner may change that.
        return None
    (folder.path / HELD).unlink(missing_ok=True)
    return RequestOutcome(outcome="success", message=f"resumed without its owner: {tree.thaw().words}")


def _cancel(tree: ProcessTree) -> RequestOutcome:
    ended = tree.end(GRACE_S)
    if tree.alive():
        left = describe(ended.left or tree.pids())
        return RequestOutcome(outcome="failure", code="failed", message=f"still running: {left}")
    return RequestOutcome(outcome="success", message=f"cancelled without its owner: {ended.words}")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()[:80]
    except OSError:
        return "gone"
