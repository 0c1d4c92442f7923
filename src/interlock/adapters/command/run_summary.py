"""The summary of a run that has ended, which the owner sends to the front and `--summary` writes."""

from __future__ import annotations

import contextlib
import signal

from ...checkpoint import Change
from ...core import InterlockError, NotFound, from_json
from ...journal import JournalReading, RunFolder
from ...process import UNKNOWN_STATUS
from ...runtime import Supervisor, read_end
from ..run_process_tree import RunProcessTree
from .owner_messages import Finished

FAILED_ENDING = 123
EXIT_OF = {"UNPROVEN": FAILED_ENDING, "MAX_ITERATIONS": 124, "EMERGENCY_STOP": 125, "USER_CANCELLED": 130}
"""Exit statuses for the reasons why a run was ended."""


def summarize(
    supervisor: Supervisor,
    folder: RunFolder,
    held: RunProcessTree,
    *,
    status: int | None,
    limits: tuple[str, ...],
    left: str,
    tampering: tuple[str, ...],
    refused: tuple[str, ...],
) -> Finished:
    """The summary: `status` is the command's, `limits` those that it reached, `left` describes what it left running."""
    run, ledger = supervisor.run, supervisor.pipeline.ledger
    with contextlib.suppress(InterlockError):
        # On a full disk, the summary contains what is known.
        run.journal.flush()
    contract: tuple[str, ...] = ()
    with contextlib.suppress(InterlockError):
        contract = supervisor.proof.contract()[1]
    summary, tree = run.summary, held.tree
    pids = tree.pids() if tree is not None and tree.alive() else ()
    journal = _journal(supervisor)
    incident = journal.last("incident") if journal is not None and run.reason == "EMERGENCY_STOP" else None
    changes = _changes(supervisor, journal)
    return Finished(
        run_id=summary.run_id,
        name=summary.name,
        status=summary.status,
        reason=run.reason or "",
        message=summary.ended_by if run.reason == "USER_CANCELLED" else run.why_ended,
        exit_status=_exit_status(supervisor, status),
        ending=summary.ending,
        not_done=read_end(journal).not_done if journal is not None else (),
        command_status=status,
        seconds=run.clock.time() - summary.started,
        steps=summary.steps,
        calls=ledger.spend.calls,
        issues=summary.issues,
        interventions=summary.interventions,
        tokens=ledger.spend.tokens,
        cost_usd=ledger.spend.cost_usd,
        unpriced_tokens=ledger.spend.unpriced_tokens,
        max_cost_usd=supervisor.config.limits.max_cost_usd,
        checkpoints=journal.count("checkpoint") if journal is not None else 0,
        checkpoint_problem=supervisor.checkpoint_problem,
        files_changed=tuple(change.path for change in changes),
        files_created=tuple(change.path for change in changes if change.kind == "created"),
        files_deleted=tuple(change.path for change in changes if change.kind == "deleted"),
        limits_reached=limits,
        incident_id=from_json(incident.body)["id"] if incident is not None else None,
        processes_left=len(pids),
        still_running="" if tree is None or (left and left in run.why_ended) else tree.describe(pids),
        tampering=tampering,
        contract=contract,
        refused=refused,
        folder=str(folder.path),
    )


def _exit_status(supervisor: Supervisor, status: int | None) -> int:
    """The command's status, unless Interlock ended the run or its ending counts as failure."""
    run = supervisor.run
    if run.reason in EXIT_OF:
        return EXIT_OF[run.reason]
    observed = supervisor.config.interventions.observe
    if status == 0 and not observed and run.summary.ending in supervisor.config.run.fail_on:
        return FAILED_ENDING
    return status if status is not None else UNKNOWN_STATUS


def status_words(status: int | None) -> str:
    """How the command ended, for people."""
    if status is None:
        return "the command ended; its exit status is unknown"
    if status >= 0:
        return f"the command ended with status {status}"
    try:
        return f"the command was terminated by {signal.Signals(-status).name}"
    except ValueError:
        return f"the command was terminated by signal {-status}"


def _changes(supervisor: Supervisor, journal: JournalReading | None) -> tuple[Change, ...]:
    """The files that have changed since the start of the run."""
    workspace = supervisor.executor.workspace
    kinds = frozenset(("checkpoint",))
    start = next(iter(journal.read(kinds=kinds, limit=1)), None) if journal is not None else None
    if workspace is None or start is None:
        return ()
    try:
        last = workspace.settle()
        changes = workspace.checkpoints.diff(str(from_json(start.body)["id"]), None if last is None else last.id)
    except InterlockError:
        return ()
    return tuple(change for change in changes if change.kind != "touched")


def _journal(supervisor: Supervisor) -> JournalReading | None:
    """A reader of the journal; None if the journal was removed."""
    try:
        return supervisor.run.journal.reader()
    except NotFound:
        return None
