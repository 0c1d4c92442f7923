"""A request to a run of this machine, with or without its owner; what it did is checked before it is reported."""

from __future__ import annotations

import time

from msgspec import UNSET
from msgspec.structs import replace

from ..control import Command, Request, RequestOutcome, decode_current, status_of
from ..core import ENDED, InterlockError, Status
from ..journal import HELD, PARKED, JournalReader, RunFolder, read_tree
from ..process import attach
from .adoption import adopt_orphan
from .owner_client import Notice, ask_owner
from .steering_without_owner import STEERABLE, patience_for, processes_live, steer_without_owner

ENDING_S = 15.0
"""How long we wait for a cancelled run's processes to end."""

STOPPING_S = 10.0
"""How long a paused run's processes may take to stop."""

WAITING_S = 5.0
"""How often we report what a pause waits for."""


def ask_run(folder: RunFolder, request: Request, timeout: float, notice: Notice) -> RequestOutcome:
    """Send a request to the run's owner; if it does not respond, apply it to the run's processes."""
    # A parked run without an owner gets one: it answers, and resumes with our environment.
    adopted = (folder.path / PARKED).exists() and adopt_orphan(folder)
    patience = patience_for(folder) if request.command in STEERABLE and not adopted else None
    lived = patience is not None and processes_live(folder)
    answer = ask_owner(folder, request, timeout=timeout, notice=notice, patience=patience)
    if patience is not None and answer.outcome == "unknown" and not answer.accepted:
        without = steer_without_owner(folder, request.command, lived)
        answer = without or ask_owner(folder, request, timeout=timeout, notice=notice)
    if answer.outcome == "success" and request.command == "cancel":
        return _see_ended(folder, see_named(answer, request.command, notice))
    if answer.outcome == "success" and request.command == "pause":
        return _see_still(folder, _see_paused(folder, answer, timeout, notice), notice)
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
    """Wait until the agent's processes have ended: only then the run is cancelled. They get time to clean up."""
    handle = read_tree(folder) if answer.outcome == "success" else None
    tree = attach(handle) if handle is not None else None
    until = time.monotonic() + ENDING_S
    while tree is not None and tree.alive():
        if time.monotonic() > until:
            message = f"the run has ended, but these processes are still running: {tree.describe()}"
            return replace(answer, outcome="failure", code="failed", message=message, result=None)
        time.sleep(0.05)
    return answer


def _see_paused(folder: RunFolder, answer: RequestOutcome, timeout: float, notice: Notice) -> RequestOutcome:
    """Wait until the run is paused, not pausing: the current step may finish first."""
    until, noticed_at = time.monotonic() + timeout, 0.0
    while read_status(folder) == "pausing":
        now = time.monotonic()
        if now > until:
            message = f"no further step starts, but one is still running after {timeout:.0f} s; --now stops it at once"
            return replace(answer, outcome="unknown", message=message, accepted=True)
        if now - noticed_at > WAITING_S:
            noticed_at = now
            name = folder.spec().name or folder.run_id
            notice(f"{name}: waiting for the current step to finish (--now stops it at once)")
        time.sleep(0.05)
    return answer


def _see_still(folder: RunFolder, answer: RequestOutcome, notice: Notice) -> RequestOutcome:
    """Wait until no process of the run can be scheduled: only then it is paused, unless it was resumed or has ended."""

    def failed(code: str, message: str) -> RequestOutcome:
        return replace(answer, outcome="failure", code=code, message=message, result=None)

    if answer.outcome != "success":
        return answer
    handle = read_tree(folder)
    tree, until = attach(handle) if handle is not None else None, time.monotonic() + STOPPING_S
    while True:
        unstopped = tree.not_frozen() if tree is not None else ((), ())
        if (status := read_status(folder)) in ENDED:
            return failed("not_found", "the run has ended")
        if status == "running":
            return failed("invalid_state", "the run was resumed meanwhile and is not paused")
        if tree is None or not unstopped[0]:
            break
        if time.monotonic() > until:
            named = tree.describe(unstopped[0])
            return failed("failed", f"no further step starts, but these processes could not be stopped: {named}")
        time.sleep(0.05)
    if tree is not None and unstopped[1]:
        notice(tree.not_stopped())
    return answer


def read_status(folder: RunFolder) -> Status | None:
    """The run's status in the protocol; `paused` if it was paused without its owner, None if it is unknown."""
    if (folder.path / HELD).exists():
        return "paused"
    try:
        with JournalReader.open(folder) as reader:
            last = reader.last("state")
    except InterlockError:
        return None
    event = decode_current(bytes(last.body)) if last is not None else None
    return status_of(event) if event is not None else None
