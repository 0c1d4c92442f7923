"""Continues a run after an emergency stop, with one of the four options of the stored incident."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from ..config import Config
from ..core import InvalidState, NotFound, RunSpec
from ..intervene import RecoveryOption
from ..journal import TREE, RunFolder, Store, has_ended, new_run_id, read_tree
from ..link import noted_socket
from ..process import attach
from .incidents import Incidents, StoredIncident, read_incidents
from .run import Run
from .workspace import open_workspace

ACTIONS = {"unknown_program": ("unknown", "unparsable"), "privilege": ()}
"""The review's names for removed kinds, if they differ; privilege escalation is blocked by rules anyway."""


class Continuation(Struct, frozen=True, kw_only=True):
    """A run that continues one that was stopped."""

    spec: RunSpec
    config: Config
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    restored: str | None = None


def choose(stored: StoredIncident, name: str) -> RecoveryOption:
    """The requested option, if the incident is open and the option applies."""
    if stored.status != "open":
        by = f" as run {stored.continued_by}" if stored.continued_by else ""
        raise InvalidState(
            f"incident {stored.id} is settled: {stored.option}{by}", todo="See interlock incidents --all"
        )
    option = next((one for one in stored.options if one.name == name), None)
    if option is None:
        raise NotFound(f"incident {stored.id} has no option {name!r}")
    if not option.applicable:
        raise InvalidState(f"{name} is not possible: {option.reason}", todo=f"See interlock incident show {stored.id}")
    return option


def continue_run(
    store: Store, stored: StoredIncident, option: RecoveryOption, config: Config, *, relaunch: bool = True
) -> Continuation:
    """The continuing run; with rollback_and_retry, the files have been restored when this returns.

    With `relaunch` its command will be started again; a program that continues by itself has no command.
    """
    old = RunFolder(store.root / stored.incident.run_id).spec()
    if relaunch and not old.argv:
        raise InvalidState(
            f"run {old.run_id} was driven by another program ({old.adapter}), which Interlock cannot start again",
            todo=f"Continue in that program: Supervisor.open(incident=({stored.id!r}, {option.name!r}), ...)",
        )
    spec = replace(old, run_id=new_run_id(), continues=old.run_id)
    if option.limits is not None:
        config = replace(config, limits=config.limits.smaller(option.limits))
    if option.monitoring == "strict":
        config = replace(config, detect=replace(config.detect, sensitivity="high"))
    if option.checkpoint_id is not None:
        _restore(old, option.checkpoint_id, config)
    return Continuation(
        spec=spec,
        config=config,
        needs_approval=bool(option.needs_approval),
        removed_actions=tuple(action for kind in option.removed_actions for action in ACTIONS.get(kind, (kind,))),
        restored=option.checkpoint_id,
    )


def abort(store: Store, stored: StoredIncident) -> tuple[str, ...]:
    """Leave the run stopped: clean up, and settle the incident. Returns what was done."""
    done = clean_up(RunFolder(store.root / stored.incident.run_id))
    Incidents(store).settle(stored, "aborted", "abort", None)
    return done


def settle_stop(folder: RunFolder) -> None:
    """Abort every open incident of a run that has closed, as `emergency_stop.auto_cleanup` wants."""
    for stored in read_incidents(folder.incidents):
        if stored.status == "open":
            abort(Store(folder.path.parent), stored)


def clean_up(folder: RunFolder) -> tuple[str, ...]:
    """End processes that the run left, and remove files that only a live run needs; returns what was done."""
    done, files = [], 0
    tree = read_tree(folder)
    if tree is not None and attach(tree).alive():
        done.append(f"processes: {attach(tree).end().words}")
    socket = noted_socket(folder.path)
    for path in (socket, folder.path / "socket", folder.gate, folder.path / TREE, *_inbox_files(folder)):
        if path is not None and path.exists():
            path.unlink(missing_ok=True)
            files += 1
    if files:
        done.append(f"removed {files} files that only a live run needs")
    if folder.owner() is None and not has_ended(folder):
        with Run.reopen(folder) as run:
            run.end("aborted", "EMERGENCY_STOP", "cleaned up after an emergency stop")
        done.append("marked as aborted")
    return tuple(done)


def _restore(old: RunSpec, checkpoint_id: str, config: Config) -> None:
    if old.workspace is None:
        raise InvalidState(f"run {old.run_id} had no workspace with checkpoints")
    workspace = open_workspace(Path(old.workspace), config, old.run_id)
    try:
        workspace.restore(checkpoint_id, ())
    finally:
        workspace.close()


def _inbox_files(folder: RunFolder) -> list[Path]:
    return list(folder.inbox.glob("*")) if folder.inbox.is_dir() else []
