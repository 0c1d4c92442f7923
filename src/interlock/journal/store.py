"""Store: all runs of one user, a folder each; and finding a run by what a person typed."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ..config import Config
from ..core import (
    ENDED,
    BadInput,
    Clock,
    InterlockError,
    InvalidState,
    NotFound,
    RunSpec,
    SystemClock,
    owner_key,
    write_whole,
)
from .database import create_database
from .durable_files import FOLDER_MODE, sync_folder
from .folder import RunFolder, check_run_id, default_root, is_run_id, store_root
from .index import Index, read_stamp
from .interface import encode_body
from .prune import Pruned, prune_runs, remove_run
from .reader import JournalReader
from .summary import RunSummary

SETTLED_NS = 100_000_000
"""A folder's time proves that nothing was added since only if it is older than a tick of the kernel's clock."""

PARTS = ("inbox", "incidents", "pictures")


class Store:
    """The folder of all runs. Safe to use from many processes at once."""

    def __init__(self, root: Path | None = None, clock: Clock | None = None) -> None:
        self.root = root if root is not None else default_root()
        self._clock = clock or SystemClock()
        self._index: Index | None = None
        self._listed: tuple[int, list[RunFolder]] | None = None

    def create(self, spec: RunSpec, *, to_write: bool = False) -> RunFolder:
        """Create a new run's folder, completely or not at all; `to_write`: its journal is opened for writing next."""
        folder = RunFolder(self.root / check_run_id(spec.run_id))
        draft = RunFolder(self.root / f".new-{spec.run_id}")
        self.root.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        if folder.path.exists():
            raise InvalidState(f"a run {spec.run_id} already exists", where=str(self.root))
        shutil.rmtree(draft.path, ignore_errors=True)
        try:
            draft.path.mkdir(mode=FOLDER_MODE)
            for part in PARTS:
                (draft.path / part).mkdir(mode=FOLDER_MODE)
            write_whole(draft.spec_file, encode_body(spec).encode() + b"\n", sync=True)
            summary = RunSummary.of(spec, self._clock.time())
            create_database(draft.journal, summary, owner_key(self.root), to_write=to_write)
            sync_folder(draft.path)
            draft.path.rename(folder.path)
        except OSError as error:
            shutil.rmtree(draft.path, ignore_errors=True)
            raise InterlockError(
                f"cannot create the run's folder ({error.strerror})", where=str(folder.path), todo="Set store.dir."
            ) from error
        sync_folder(self.root)
        return folder

    def folders(self) -> list[RunFolder]:
        """Every run's folder, the newest first; cached while none was added or removed."""
        try:
            stamp = self.root.stat().st_mtime_ns
            if self._listed is not None and self._listed[0] == stamp:
                return self._listed[1]
            names = sorted(os.listdir(self.root), reverse=True)  # noqa: PTH208
        except FileNotFoundError:
            return []
        found = [folder for name in names if (folder := RunFolder(self.root / name)).is_run()]
        # A list made while the folder changes may miss what is added within the same clock tick.
        self._listed = (stamp, found) if time.time_ns() - stamp > SETTLED_NS else None
        return found

    def runs(self) -> list[RunSummary]:
        """The summary of every run, the newest first. An unreadable one says why in `problem`."""
        folders = self.folders()
        found = [summary for folder in folders if (summary := self.summary(folder)) is not None]
        self.save_index()
        return sorted(found, key=lambda run: run.started, reverse=True)

    def summary(self, folder: RunFolder) -> RunSummary | None:
        """The summary of a run, from the index if it has ended; None if it was removed meanwhile."""
        if self._index is None:
            self._index = Index(self.root)
        known = self._index.get(folder)
        if known is not None:
            return known
        stamp = read_stamp(folder)
        summary = summarize(folder)
        if summary is not None:
            self._index.put(folder, stamp, summary)
        return summary

    def save_index(self) -> None:
        """Store the summaries of runs that have ended since."""
        if self._index is not None:
            self._index.save({folder.run_id for folder in self.folders()})

    def find(self, ref: str) -> RunFolder:
        """The run with this id, name or unique beginning of either."""
        # A path is not an id: only runs of this store are found.
        if is_run_id(ref) and (direct := RunFolder(self.root / ref)).is_run():
            return direct
        return RunFolder(self.root / find_run(ref, self.runs()).run_id)

    def prune(
        self,
        *,
        older_than_s: float | None = None,
        keep_last: int | None = None,
        max_bytes: int | None = None,
        dry_run: bool = False,
        failed: list[Pruned] | None = None,
    ) -> list[Pruned]:
        """Remove runs that are too old, too many, or too large in total: the oldest first, never a live or paused one.

        Those that could not be removed are added to `failed`.
        """
        return prune_runs(
            self.root,
            [(RunFolder(self.root / run.run_id), run) for run in self.runs()],
            now=self._clock.time(),
            older_than_s=older_than_s,
            keep_last=keep_last,
            max_bytes=max_bytes,
            dry_run=dry_run,
            failed=failed,
        )

    def discard(self, run_id: str) -> bool:
        """Remove a run that never began, unless it has an owner."""
        folder = RunFolder(self.root / check_run_id(run_id))
        try:
            return folder.is_run() and remove_run(folder)
        except (InterlockError, OSError):
            return False

    def export(self, ref: str, target: Path) -> Path:
        """Copy a run, also a live one, to a new folder, or to an archive if the target ends in .tar.gz or .zip."""
        from .export import export_run

        return export_run(self.find(ref), target)


def open_store(config: Config) -> Store:
    """The store that the configuration names."""
    return Store(store_root(config))


def has_ended(folder: RunFolder) -> bool:
    """Whether a run has ended, according to its journal."""
    with JournalReader.open(folder) as reader:
        summary = reader.summary()
    return summary is None or summary.status in ENDED


def summarize(folder: RunFolder) -> RunSummary | None:
    """The summary of a run with its current owner; None if it was removed meanwhile."""
    try:
        with JournalReader.open(folder) as reader:
            summary = reader.summary() or RunSummary.of(folder.spec(), 0.0)
            if reader.newer is not None:
                summary = msgspec.structs.replace(summary, problem=reader.newer)
    except InterlockError as error:
        try:
            when = folder.path.stat().st_mtime
        except OSError:
            return None
        summary = RunSummary(run_id=folder.run_id)
        with contextlib.suppress(InterlockError, OSError):
            summary = RunSummary.of(folder.spec(), when)
        summary = msgspec.structs.replace(summary, status="unreadable", started=when, updated=when, problem=str(error))
    owner = folder.owner()
    return msgspec.structs.replace(summary, run_id=folder.run_id, owner_pid=owner.pid if owner else None)


NEAR = 60.0
"""How similar (0..100) a name must be to be suggested."""


def find_run(ref: str, runs: Sequence[RunSummary]) -> RunSummary:
    """The run with this id, name or unique beginning of either; runs come newest first.

    Among several with one name, the live one, or else the newest.
    """
    if not ref:
        raise BadInput("no run specified", todo="Specify an id, a name, or a unique prefix. See interlock ps --all.")
    for run in runs:
        if run.run_id == ref:
            return run
    if named := [run for run in runs if run.name == ref]:
        live = [run for run in named if run.owner_pid is not None]
        if len(live) > 1:
            raise _ambiguous(f"{len(live)} live runs are named {ref!r}", live)
        return (live or named)[0]
    begun = [run for run in runs if run.run_id.startswith(ref)] or [run for run in runs if run.name.startswith(ref)]
    if len(begun) > 1:
        raise _ambiguous(f"{len(begun)} runs begin with {ref!r}", begun)
    if begun:
        return begun[0]
    raise NotFound(f"there is no run {ref!r}", todo=_nearest(ref, runs))


def _ambiguous(what: str, runs: Sequence[RunSummary]) -> BadInput:
    shown = ", ".join(f"{run.run_id} ({run.name or run.task[:30] or run.status})" for run in runs[:8])
    return BadInput(f"{what}: {shown}{', ...' if len(runs) > 8 else ''}", todo="Use its id.")


def _nearest(ref: str, runs: Sequence[RunSummary]) -> str:
    from rapidfuzz import process

    known = [name for run in runs for name in (run.name, run.run_id) if name]
    near = list(dict.fromkeys(name for name, _, _ in process.extract(ref, known, limit=3, score_cutoff=NEAR)))
    return f"Did you mean {' or '.join(near)}?" if near else "See interlock ps --all."
