"""A request to a run of this machine, with or without its owner; what it did is checked before it is reported."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from ..control import Command, Request, RequestOutcome
from ..core import ENDED
from ..journal import PARKED, RunFolder, read_tree
from ..process import attach
from .adoption import adopt_orphan
from .owner_client import Notice, ask_owner, read_status
from .steering_without_owner import STEERABLE, patience_for, processes_live, steer_without_owner

ENDING_S = 15.0
"""How long we wait for a cancelled run's processes to end."""

STOPPING_S = 10.0
"""How long a paused run's processes may take to stop."""

STILL_RUNNING = "the run has ended, but these processes are still running"


def ask_run(folder: RunFolder, request: Request, timeout: float, notice: Notice) -> RequestOutcome:
    """Send a request to the run's owner; if it does not respond, apply it to the run's processes."""
    # A parked run without an owner gets one: it answers, and resumes with our environment.
    adopted = (folder.path / PARKED).exists() and adopt_orphan(folder)
    patience = patience_for(folder) if request.command in STEERABLE and not adopted else None
    lived = patience is not None and processes_live(folder)
    answer = ask_owner(folder, request, timeout=timeout, notice=notice, patience=patience, settled=True)
    if patience is not None and answer.outcome == "unknown" and not answer.accepted:
        without = steer_without_owner(folder, request.command, lived)
        answer = without or ask_owner(folder, request, timeout=timeout, notice=notice, settled=True)
    if answer.outcome == "success" and request.command == "cancel":
        return _see_ended(folder, see_named(answer, request.command, notice))
    if answer.outcome == "success" and request.command == "pause":
        return _see_still(folder, answer, notice)
    return answer


def see_named(answer: RequestOutcome, command: Command, notice: Notice) -> RequestOutcome:
    """Report the processes that the reply names: those that a pause did not stop, or that a cancel did not end."""
    details = answer.result.payload.details if answer.result is not None else UNSET
    named = details.get("processes") if isinstance(details, dict) else None
    if named is None:
        return answer
    if command == "cancel":
        return replace(answer, outcome="failure", code="failed", message=f"the run has ended; {named}", result=None)
    notice(str(named))
    return answer


def _see_ended(folder: RunFolder, answer: RequestOutcome) -> RequestOutcome:
    """Check that the agent's processes have ended: only then the run is cancelled. They get time to clean up."""
    handle = read_tree(folder) if answer.outcome == "success" else None
    tree = attach(handle) if handle is not None else None
    if tree is None or not tree.alive():
        return answer
    tree.wait(ENDING_S)
    return answer if not tree.alive() else _failed(answer, "failed", f"{STILL_RUNNING}: {tree.describe()}")


def _see_still(folder: RunFolder, answer: RequestOutcome, notice: Notice) -> RequestOutcome:
    """Check that no process of the run can be scheduled: only then it is paused, unless it was resumed or has ended."""
    if answer.outcome != "success":
        return answer
    handle = read_tree(folder)
    tree = attach(handle) if handle is not None else None
    words = tree.not_stopped(STOPPING_S) if tree is not None else ""
    if (status := read_status(folder)) in ENDED:
        return _failed(answer, "not_found", "the run has ended")
    if status == "running":
        return _failed(answer, "invalid_state", "the run was resumed meanwhile and is not paused")
    if tree is not None and (moving := tree.not_frozen()[0]):
        named = tree.describe(moving)
        return _failed(answer, "failed", f"no further step starts, but these processes could not be stopped: {named}")
    if words:
        notice(words)
    return answer


def _failed(answer: RequestOutcome, code: str, message: str) -> RequestOutcome:
    return replace(answer, outcome="failure", code=code, message=message, result=None)
