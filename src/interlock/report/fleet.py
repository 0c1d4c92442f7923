"""Fleet: all runs of a store, and of a hub if there is one; cheap to poll once a second."""

from __future__ import annotations

import os
import socket
import threading
import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ..core import ENDED, InterlockError, Liveness, printable
from ..journal import JournalReader, RunFolder, RunSummary, Store
from ..journal_records import StepRecord, read_body
from .inbox import may_need_a_person

if TYPE_CHECKING:
    from ..link import HubClient


SPARK_STEPS = 240
SPARK_POINTS = 24
"""A sparkline shows the newest steps, some of them in each point."""

SPARK_PATIENCE_S = 0.3
"""Time that one call spends on sparklines at most; the rest follows with the next call."""

SETTLED_NS = 1_000_000_000
"""A file may be written again within the resolution of its time stamp."""


class RunRow(Struct, frozen=True, kw_only=True):
    """A run in one row. `issue` is what it is stuck on now.

    `status` is as shown: also lost (its owner is gone), unknown (its host is), unreadable. `outcome` is the word or two
    that every list shows: the status, or why the run ended.
    """

    run_id: str
    name: str = ""
    status: str = "running"
    adapter: str = ""
    model: str | None = None
    iter: int = 0
    max: int | None = None
    steps: int = 0
    issue: str | None = None
    issues: int = 0
    interventions: int = 0
    cost: float = 0.0
    max_cost: float | None = None
    tokens: int = 0
    unpriced_tokens: int = 0
    started: float = 0.0
    updated: float = 0.0
    ended: float | None = None
    task: str = ""
    host: str = ""
    workspace: str | None = None
    waiting: str | None = None
    liveness: Liveness | None = None
    problem: str | None = None
    owner_pid: int | None = None
    ending: str = ""
    outcome: str = ""
    spark: tuple[float, ...] = ()

    @property
    def live(self) -> bool:
        """Whether it is still live, as far as known."""
        return self.ended is None and self.status not in (*ENDED, "unreadable")

    @property
    def cannot_switch(self) -> str:
        """Why it cannot be escalated; empty if it may be possible."""
        return why_not_switched(self.adapter)


TURNS, MOST = 100, 8
"""Ended runs rarely change: each is checked only every 100 polls, and at most 8 per poll, so that a poll costs the
same however many have ended."""


class _KnownRun(Struct):
    signature: tuple[int, ...]
    summary: RunSummary
    spark: tuple[float, ...] | None = None


class Fleet:
    """All runs, newest first. Thread-safe; remembers what has not changed."""

    def __init__(self, store: Store, hub: HubClient | None = None) -> None:
        self.store, self.hub = store, hub
        self.problem: str | None = None
        self._host = socket.gethostname()
        self._seen: dict[str, _KnownRun] = {}
        self._folders: list[RunFolder] = []
        self._live: list[RunFolder] = []
        self._ended: list[RunFolder] = []
        self._needing: list[RunSummary] = []
        self._rows: list[RunRow] | None = None
        self._turn = 0
        self._sparse = True
        self._lock = threading.Lock()

    def rows(self, *, sparks: bool = True) -> list[RunRow]:
        """All runs as rows; the same list again while nothing has changed, so do not modify it."""
        with self._lock:
            changed = self._poll()
            if sparks and self._sparse:
                changed = self._draw(self._folders) or changed
            if changed or self._rows is None:
                self._rows = [to_row(seen.summary, self._host, seen.spark or ()) for seen in self._seen.values()]
                self._rows.sort(key=_order, reverse=True)
            remote = self._remote(self._seen)
            return sorted([*self._rows, *remote], key=_order, reverse=True) if remote else self._rows

    def needing(self) -> list[RunSummary]:
        """The runs of this machine that may need a person, as of the last poll."""
        with self._lock:
            return self._needing

    def _poll(self) -> bool:
        """Check the live runs, and some ended ones in turn; returns whether anything has changed."""
        folders = self.store.folders()
        due = folders
        if folders is self._folders:
            due = self._live + self._next_ended()
        kept = self._seen if folders is self._folders else {}
        changed = folders is not self._folders
        for folder in due:
            known = self._seen.get(folder.run_id)
            before = known.summary if known is not None else None
            seen = self._check(folder, known)
            if seen is None:
                kept.pop(folder.run_id, None)
                folders = [*self.store.folders()]  # checked in full next time
            else:
                kept[folder.run_id] = seen
            changed = changed or seen is None or seen.summary is not before
        self._seen, self._folders = kept, folders
        self._sparse = self._sparse or changed
        if changed:
            self._divide()
            self.store.save_index()
        return changed

    def _next_ended(self) -> list[RunFolder]:
        """The next few ended runs, in rotation."""
        count = min(MOST, -(-len(self._ended) // TURNS))
        first = self._turn if self._turn < len(self._ended) else 0
        self._turn = first + count
        return self._ended[first : first + count]

    def _divide(self) -> None:
        """Divide the runs into those checked on every poll and those checked in rotation."""
        known = [folder for folder in self._folders if folder.run_id in self._seen]
        self._ended = [folder for folder in known if self._seen[folder.run_id].summary.status in ENDED]
        self._live = [folder for folder in known if self._seen[folder.run_id].summary.status not in ENDED]
        self._needing = [seen.summary for seen in self._seen.values() if may_need_a_person(seen.summary)]

    def _check(self, folder: RunFolder, known: _KnownRun | None) -> _KnownRun | None:
        signature = read_signature(folder)
        if known is not None and signature == known.signature and time.time_ns() - max(signature) > SETTLED_NS:
            if known.summary.status in ENDED or known.summary.status == "unreadable":
                return known
            owner = folder.owner()
            pid = owner.pid if owner is not None else None
            if pid != known.summary.owner_pid:
                known.summary = replace(known.summary, owner_pid=pid)
            return known
        summary = self.store.summary(folder)
        if summary is None:
            return None
        if known is not None and summary.steps == known.summary.steps:
            return _KnownRun(signature, summary, known.spark)
        return _KnownRun(signature, summary)

    def _draw(self, folders: list[RunFolder]) -> bool:
        """Draw missing sparklines, live runs first, while there is time; returns whether any was drawn."""
        missing = [folder for folder in folders if (s := self._seen.get(folder.run_id)) and s.spark is None]
        missing.sort(key=lambda folder: self._seen[folder.run_id].summary.status in ENDED)
        until = time.monotonic() + SPARK_PATIENCE_S
        for folder in missing:
            self._seen[folder.run_id].spark = draw_spark(folder)
            if time.monotonic() > until:
                return True
        self._sparse = False
        return bool(missing)

    def _remote(self, local: dict[str, _KnownRun]) -> list[RunRow]:
        if self.hub is None:
            return []
        try:
            known = self.hub.runs()
        except InterlockError as error:
            self.problem = str(error)
            return []
        self.problem = None
        return [
            replace(to_row(run.summary, run.host, ()), status=run.status, outcome=run.outcome)
            for run in known
            if run.summary.run_id not in local
        ]


def _order(row: RunRow) -> tuple[float, str]:
    return row.started, row.run_id


def to_row(summary: RunSummary, host: str, spark: tuple[float, ...]) -> RunRow:
    """A summary as a row."""
    return RunRow(
        run_id=summary.run_id,
        name=printable(summary.name),
        status=summary.shown,
        adapter=summary.adapter,
        model=summary.model,
        iter=summary.iter,
        max=summary.max,
        steps=summary.steps,
        issue=current_issue(summary),
        issues=summary.issues,
        interventions=summary.interventions,
        cost=summary.cost_usd,
        max_cost=summary.max_cost_usd,
        tokens=summary.tokens,
        unpriced_tokens=summary.unpriced_tokens,
        started=summary.started,
        updated=summary.updated,
        ended=summary.ended,
        task=printable(summary.task),
        host=host,
        workspace=printable(summary.workspace) if summary.workspace is not None else None,
        waiting=printable(summary.waiting) if summary.waiting is not None else None,
        problem=printable(summary.problem or summary.unstopped or "") or None,
        liveness=summary.doing,
        owner_pid=summary.owner_pid,
        ending=summary.ending or "",
        outcome=summary.outcome,
        spark=spark,
    )


def current_issue(summary: RunSummary) -> str | None:
    """What the run is stuck on; the type of its newest issue if issues have no episode."""
    if summary.stuck is not None:
        return summary.stuck or None
    return summary.last_issue.replace("_", " ") if summary.last_issue else None


def draw_spark(folder: RunFolder) -> tuple[float, ...]:
    """Progress over the newest steps: each point is the share of steps that made progress."""
    try:
        with JournalReader.open(folder) as reader:
            records = reader.search(kinds=frozenset(("step",)), limit=SPARK_STEPS, newest=True)
    except InterlockError:
        return ()
    forward = [
        not (line.stalled or line.step.error or line.step.exit_code)
        for record in records
        if isinstance(line := read_body(record), StepRecord)
    ]
    size = max(1, -(-len(forward) // SPARK_POINTS))
    groups = [forward[at : at + size] for at in range(0, len(forward), size)]
    return tuple(sum(group) / len(group) for group in groups)


def read_signature(folder: RunFolder) -> tuple[int, ...]:
    """Changes when the journal is written: the times of its two files."""
    journal = str(folder.journal)
    times = []
    for path in (journal, f"{journal}-wal"):
        try:
            times.append(os.stat(path).st_mtime_ns)  # noqa: PTH116  two plain stats a run, once a second
        except OSError:
            times.append(0)
    return tuple(times)


FIXED = frozenset(("process",))
"""Adapters that never switch models. A client with hooks may use the proxy, which can: only the run knows."""


def why_not_switched(adapter: str) -> str:
    """Why a run cannot be escalated, in the run's own words; empty if it may be possible."""
    return f"the agent's adapter ({adapter}) cannot switch models" if adapter in FIXED else ""
