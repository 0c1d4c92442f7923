"""Story: one run, read from its journal, live or ended, in bounded memory."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..control import Abort, Done, State, Waiting
from ..core import ENDED, CheckpointInfo, InterlockError, Intervention, Issue, NotFound, Record, RunSpec
from ..journal import SERIES_KINDS, JournalReader, RunFolder, RunSummary, Series, SeriesTally, Sums, load_series
from ..journal_records import EndRecord, EpisodeRecord, InterventionRecord, ProofRecord, StepRecord, read_body
from .episodes import CONTROL_KINDS, ControlCommand, EpisodeLog, Problem, apply_controls
from .proof import last_body, read_proof, sorted_claims
from .timeline_entry import HIDDEN, RECORDS, TimelineMoment, read_moment
from .words import one_line

if TYPE_CHECKING:
    from ..runtime import StoredIncident

KEPT = 500
"""The newest issues, interventions and checkpoints in memory; the journal has them all."""

KEPT_CONTROLS = 200

NEWS = 500
"""Moments that one `update` returns at most; the rest follows with the next."""

VERDICTS = ('"decision":{', '"verdict":"warn"', '"verdict":"modify"', '"verdict":"block"')
"""Texts in the record of a step whose verdict is not `allow`, or that was refused for another reason."""

STEPS = frozenset(("step",))
KEPT_KINDS = frozenset(("issue", "episode", "intervention", "effect", "checkpoint", "state"))


LOADED_KINDS = (
    (("issue",), KEPT),
    (("episode",), 4 * KEPT),
    (("intervention", "effect"), 2 * KEPT),
    (("checkpoint",), KEPT),
)
"""Read when a run is opened: how many of the newest records of each kind."""


class Story:
    """One run, read-only. Thread-safe. `problem` says what cannot be read any more; what was read stays."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.problem: str | None = None
        self.spec: RunSpec
        """The run's description."""
        self.summary: RunSummary
        """The run in one row; `summary.shown` is the status for people."""
        self._lock = threading.RLock()
        self._reader: JournalReader | None = None
        self._inode = 0
        self._reset()

    @classmethod
    def open(cls, folder: RunFolder) -> Story:
        """Open a run's journal; NotFound if there is none, Unreadable if it is damaged."""
        story = cls(folder)
        story._load()
        return story

    def update(self) -> list[TimelineMoment]:
        """What is new since the last call (or since `open`), oldest first; at most NEWS moments at a time."""
        with self._lock:
            try:
                return self._update()
            except InterlockError as error:
                self.problem = str(error)
                self._close()
                return []

    def page(
        self,
        *,
        before: int | None = None,
        after: int | None = None,
        limit: int = 200,
        kinds: frozenset[str] | None = None,
        text: str | None = None,
    ) -> list[TimelineMoment]:
        """Part of the timeline, oldest first: the newest `limit` (before a number), or the first ones after one."""
        with self._lock:
            reader = self._reader
            if reader is None or limit <= 0:
                return []
            newest = after is None
            low, high = after or 0, before
            found: list[TimelineMoment] = []
            ask = self._queries(kinds)
            while len(found) < limit:
                want = max(limit - len(found), 64) if kinds is not None else limit - len(found) + 1
                records = [
                    record
                    for record_kinds, having in ask
                    for record in reader.search(
                        after=low, before=high, kinds=record_kinds, having=having, text=text or "", limit=want,
                        newest=newest,
                    )
                ]  # fmt: skip
                records.sort(key=lambda record: record.seq)
                # Of several queries, only the range that all have covered is complete.
                records = records[-want:] if newest else records[:want]
                moments = [m for record in records if (m := read_moment(record)) and _fits(m, kinds)]
                found = moments + found if newest else found + moments
                if len(records) < want:
                    break
                if newest:
                    high = records[0].seq
                else:
                    low = records[-1].seq
            return found[-limit:] if newest else found[:limit]

    def end_of_step(self, step: int) -> int | None:
        """The sequence number at which the next step begins; None if there is none."""
        with self._lock:
            if self._reader is None:
                return None
            low, high, found = 0, self.last_seq + 1, None
            while high - low > 1:
                middle = (low + high) // 2
                records = self._reader.search(after=middle - 1, before=high, kinds=STEPS, limit=1)
                body = read_body(records[0]) if records else None
                if isinstance(body, StepRecord) and body.step.index <= step:
                    low = records[0].seq
                else:
                    found, high = (records[0].seq, middle) if records else (found, middle)
            return found

    def series(self, max_points: int = 400) -> Series:
        """Usage and progress over the run's steps."""
        with self._lock:
            return self._counted().series(max_points)

    @property
    def sums(self) -> Sums:
        """Totals of the whole run: issues, interventions, usage."""
        with self._lock:
            return self._counted().sums

    @property
    def counts(self) -> dict[str, int]:
        """How many records there are of each kind."""
        with self._lock:
            return dict(self._counts)

    @property
    def issues(self) -> list[Issue]:
        """The newest issues, oldest first."""
        with self._lock:
            return list(self._issues)

    @property
    def interventions(self) -> list[Intervention]:
        """The newest interventions with their outcomes, oldest first."""
        with self._lock:
            return list(self._interventions.values())

    @property
    def episodes(self) -> list[Problem]:
        """What the run got stuck on, with everything that was tried, in order of beginning."""
        with self._lock:
            return self._episodes.problems(self._interventions.values(), ended=self.summary.status in ENDED)

    @property
    def checkpoints(self) -> list[CheckpointInfo]:
        """The newest checkpoints, oldest first."""
        with self._lock:
            return list(self._checkpoints)

    @property
    def controls(self) -> list[ControlCommand]:
        """The newest requests with ACK and RESULT, oldest first."""
        with self._lock:
            return list(self._controls.values())

    @property
    def incidents(self) -> list[StoredIncident]:
        """The run's incidents on disk, newest first."""
        from ..runtime import read_incidents

        return read_incidents(self.folder.incidents)

    @property
    def proof(self) -> ProofRecord | None:
        """The newest verdicts on the run's claims, as recorded."""
        with self._lock:
            if self._reader is None or not self._counts.get("proof"):
                return None
            return last_body(self._reader, "proof", ProofRecord)

    def read_proof(self) -> ProofRecord:
        """The recorded verdicts, else those derived from the run's steps."""
        with self._lock:
            return sorted_claims(read_proof(self._reader)) if self._reader is not None else ProofRecord()

    def close(self) -> None:
        """Close the journal."""
        with self._lock:
            self._close()

    def __enter__(self) -> Story:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _reset(self) -> None:
        self.last_seq = 0
        """The newest record that `update` has read."""
        self._counts: dict[str, int] = {}
        self._tally: SeriesTally | None = None
        self._issues: deque[Issue] = deque(maxlen=KEPT)
        self._interventions: dict[str, Intervention] = {}
        self._episodes = EpisodeLog()
        self._checkpoints: deque[CheckpointInfo] = deque(maxlen=KEPT)
        self._controls: dict[str, ControlCommand] = {}
        self.waiting: Waiting | None = None
        """What the run needs a person for right now."""
        self.ending = ""
        """How the run ended, in words; a command that failed says with which status."""

    def _load(self) -> None:
        """Load the newest records; the rest is read on demand."""
        self._close()
        reader = JournalReader.open(self.folder)
        self._reset()
        self._reader, self._inode = reader, _inode(self.folder)
        self.spec = self.folder.spec()
        last = reader.last()
        self.last_seq = last.seq if last is not None else 0
        self._counts = reader.counts()
        for kinds, keep in LOADED_KINDS:
            self._apply(reader.search(kinds=frozenset(kinds), limit=keep, newest=True, before=self.last_seq + 1))
        records = reader.search(kinds=CONTROL_KINDS, limit=3 * KEPT_CONTROLS, newest=True, before=self.last_seq + 1)
        apply_controls(self._controls, records, KEPT_CONTROLS)
        state = reader.last("state")
        if state is not None:
            self._apply((state,))
        reader.changed()
        self._read_summary(reader)
        self.problem = None

    def _update(self) -> list[TimelineMoment]:
        inode = _inode(self.folder)
        if inode != self._inode or self._reader is None:
            if inode == 0:
                raise NotFound("the run's journal is gone", where=str(self.folder.path))
            self._load()
            return []
        reader = self._reader
        if not reader.changed() and not self._behind:
            self._read_owner()
            return []
        records = reader.search(after=self.last_seq, limit=NEWS)
        self._behind = len(records) == NEWS
        for record in records:
            self.last_seq = record.seq
            self._counts[record.kind] = self._counts.get(record.kind, 0) + 1
        self._apply(records)
        apply_controls(self._controls, (r for r in records if r.kind in CONTROL_KINDS), KEPT_CONTROLS)
        self._read_summary(reader)
        return [moment for record in records if (moment := read_moment(record)) is not None]

    _behind = False

    def _apply(self, records: Iterable[Record]) -> None:
        for record in records:
            if record.kind not in KEPT_KINDS:
                continue
            match read_body(record):
                case Issue(is_note=False) as issue:
                    self._issues.append(issue)
                case EpisodeRecord() as episode:
                    self._episodes.add(episode, record.time)
                case InterventionRecord() as made:
                    self._remember(made.intervention)
                case Intervention() as judged:
                    self._remember(judged)
                case CheckpointInfo() as info:
                    self._checkpoints.append(info)
                case State() as state:
                    self.waiting = state.waiting
                case Abort() | Done():
                    self.waiting = None

    def _remember(self, made: Intervention) -> None:
        self._interventions[made.id] = made
        if len(self._interventions) > KEPT:
            del self._interventions[next(iter(self._interventions))]

    def _read_summary(self, reader: JournalReader) -> None:
        self.summary = reader.summary() or RunSummary.of(self.spec, 0.0)
        self.ending = self.summary.ended_by
        if self.summary.reason == "ERROR" and (record := reader.last("end")) is not None:
            end = read_body(record)
            self.ending = one_line(end.message) if isinstance(end, EndRecord) and end.message else self.ending
        self._read_owner()

    def _read_owner(self) -> None:
        owner = self.folder.owner()
        pid = owner.pid if owner is not None else None
        self.summary = replace(self.summary, run_id=self.folder.run_id, owner_pid=pid)

    def _counted(self) -> SeriesTally:
        tally = self._tally or SeriesTally()
        if self._reader is not None:
            try:
                if self._tally is None:
                    self._tally = tally = load_series(self.folder, self._reader)
                tally.add_records(self._reader.bodies(tally.seq, SERIES_KINDS))
            except InterlockError as error:
                self.problem = str(error)
        return tally

    def _queries(self, kinds: frozenset[str] | None) -> list[tuple[frozenset[str] | None, tuple[str, ...]]]:
        """The journal queries that find moments of these kinds: record kinds, and texts that must be in them."""
        if kinds is None:
            return [(None, ())]
        records = kinds - {"review"}
        wanted = {each for kind, made_of in RECORDS.items() if kind in records for each in made_of}
        if "note" in kinds:
            wanted |= self._counts.keys() - {each for made_of in RECORDS.values() for each in made_of}
        ask: list[tuple[frozenset[str] | None, tuple[str, ...]]] = [(frozenset(wanted - HIDDEN), ())]
        if "review" in kinds and "step" not in kinds:
            ask.append((frozenset(("step",)), VERDICTS))
        return ask

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


def _fits(moment: TimelineMoment, kinds: frozenset[str] | None) -> bool:
    return kinds is None or moment.kind in kinds


def _inode(folder: RunFolder) -> int:
    try:
        return os.stat(folder.journal).st_ino  # noqa: PTH116  a plain stat, once a look
    except OSError:
        return 0
