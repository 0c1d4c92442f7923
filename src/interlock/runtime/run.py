"""Run: one supervised execution, owned by this process, with its journal, gate and summary."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from ..control import Abort, Done, State
from ..core import ENDED, Clock, Hold, InterlockError, RunSpec, Status, Step, SystemClock
from ..journal import Journal, JournalEntry, JournalReading, JournalWriting, RunFolder, RunSummary, Store
from ..journal_records import EndRecord, RecordBody, kind_of, read_body
from .ending import LEDGER_KINDS, RunLedger
from .metrics import process_metrics
from .pause_gate import Gate

log = logging.getLogger("interlock")


class ControlPort(Protocol):
    """The control protocol as used by the run itself."""

    def pause(self, hold: Hold, step: int) -> str: ...

    def resume(self) -> bool: ...

    def wait(self, step: int, what: str, digest: str, until: float) -> None: ...

    def stop_waiting(self, step: int) -> None: ...

    def see_model(self, step: Step) -> None: ...

    def end(self, reason: str) -> None: ...

    def settle(self) -> None: ...


class Run:
    """The state of one run that supervision, control and GUI sessions share. Thread-safe."""

    def __init__(self, spec: RunSpec, journal: JournalWriting, folder: RunFolder | None, clock: Clock) -> None:
        self.spec = spec
        self.journal = journal
        self.folder = folder
        self.clock = clock
        self.gate = Gate(clock)
        self._lock = threading.RLock()
        known = journal.reader().summary() if folder is not None else None
        self._summary = known or RunSummary.of(spec, clock.time())
        self.steady = SteadyClock(clock)
        self._series = SeriesKeeper(folder) if folder is not None else None
        self._closers: list[Callable[[], None]] = []
        self._why_ended = ""
        self._stuck: str | None = None
        self._ledger: RunLedger | None = RunLedger()
        self.reason: str | None = None
        self.steering: ControlPort | None = None
        self.metrics = process_metrics()
        self.on_waiting: Callable[[int, str], None] = lambda step, what: None
        self.on_ended: Callable[[EndRecord], None] = lambda record: None

    @classmethod
    def create(cls, spec: RunSpec, store: Store, clock: Clock | None = None) -> Run:
        """A new run in its own folder."""
        clock = clock or SystemClock()
        folder = store.create(spec, to_write=True)
        run = cls(spec, Journal.open(folder, clock), folder, clock)
        run.record(spec, durable=True)
        log.info("run started", extra={"run_id": spec.run_id, "run": spec.name, "adapter": spec.adapter})
        return run

    @classmethod
    def reopen(cls, folder: RunFolder, clock: Clock | None = None) -> Run:
        """Take over a run whose owner is gone."""
        clock = clock or SystemClock()
        run = cls(folder.spec(), Journal.open(folder, clock), folder, clock)
        run.reason = _reason_in(run.journal.reader())
        run.gate.rested_before(paused_seconds(run.journal.reader(), clock.time()))
        # Read from the journal when the run ends: a successor has more urgent work now.
        run._ledger = None
        return run

    @property
    def summary(self) -> RunSummary:
        return self._summary

    @property
    def status(self) -> Status:
        return self.gate.status

    @property
    def ended(self) -> bool:
        return self._summary.status in ENDED

    def record(self, body: RecordBody, *, durable: bool = False, time: float | None = None) -> int:
        """Add one record to the journal."""
        if self._ledger is not None:
            self._ledger.note(body)
        return self._noted(self.journal.append([JournalEntry(kind_of(body), body, time)], durable=durable))

    def append(
        self,
        bodies: Sequence[RecordBody],
        *,
        time: float | None = None,
        durable: bool = False,
        changes: Mapping[str, object] | None = None,
    ) -> int:
        """Add several records to the journal, all or none, with changes to the summary."""
        for body in bodies:
            self.metrics.count(body)
            if self._ledger is not None:
                self._ledger.note(body)
        return self.append_entries([JournalEntry(kind_of(body), body, time) for body in bodies], durable, changes)

    def append_entries(
        self, entries: Sequence[JournalEntry], durable: bool = False, changes: Mapping[str, object] | None = None
    ) -> int:
        """`append` for encoded entries, such as messages of the control protocol."""
        # Under one lock, so that no summary overwrites a newer one.
        with self._lock:
            self._summary = replace(self._summary, updated=self.clock.time(), **(changes or {}))
            return self._noted(self.journal.append(entries, durable=durable, summary=self._summary))

    def update(self, **changes: object) -> None:
        """Change the run's summary, which lists show."""
        self.append([], changes=changes)

    def on_close(self, closer: Callable[[], None]) -> None:
        """Call this when the run is closed; the newest is called first."""
        self._closers.append(closer)

    @property
    def why_ended(self) -> str:
        """Why the run has ended, in one line."""
        return self._why_ended or "the run has ended"

    def hold(self, hold: Hold, step: int) -> str:
        """Pause the run until a person resumes it."""
        self._stuck = hold.reason if hold.kind in ("pause", "recovery") else None
        try:
            if self.steering is not None:
                return self.steering.pause(hold, step)
            self.gate.set_status("paused", self.gate.revision + 1)
            self.append([hold], durable=True, changes={"status": "paused", "waiting": hold.reason})
            return f"paused: {hold.reason}"
        finally:
            self.on_waiting(step, hold.reason)

    def wait_for_person(self, step: int, what: str, digest: str = "", until: float = 0.0) -> None:
        """Record, then announce, that a step waits for an approval.

        An answer applies to the call with this `digest`, and is valid until `until`.
        """
        try:
            if self.steering is not None:
                self.steering.wait(step, what, digest, until)
            else:
                self.append([], durable=True, changes={"waiting": what})
        finally:
            self.on_waiting(step, what)

    def stop_waiting(self, step: int, next_waiting: str | None) -> None:
        """A step no longer waits for a person; `next_waiting` is what still waits."""
        if self.steering is not None:
            self.steering.stop_waiting(step)
        else:
            self.append([], durable=True, changes={"waiting": next_waiting})

    def resume(self) -> bool:
        """End a hold; False if the run has ended, or a person paused it."""
        if self.steering is not None:
            return self.steering.resume()
        if not self.gate.set_status("running", self.gate.revision + 1):
            return False
        self.append([], durable=True, changes={"status": "running", "waiting": None})
        return True

    def stop(self, reason: str) -> str:
        """Shut the gate permanently, in memory only; `end` records it afterwards."""
        self.gate.close("aborted")
        self._why_ended = self._why_ended or reason
        return "the gate is shut for good"

    def end(self, status: Status, reason: str, message: str = "", undo: str = "") -> None:
        """End the run with a reason of the control protocol; a second call has no effect.

        `undo` says why the latest changes cannot be undone.
        """
        with self._lock:
            if self.ended:
                return
            if reason == "COMPLETE" and self._stuck is not None and self._stuck == self._summary.waiting:
                # The agent exited while the run was held because no intervention had worked: its work is not complete.
                reason = "STUCK"
            self._why_ended = message or reason
            self.reason = self.reason or reason
            self.gate.close(status)
            ledger, waiting = self._ledger or self._read_ledger(), self._summary.waiting
            ending = ledger.ending(self.reason, waiting)
            changes = {
                "status": status, "ended": self.clock.time(), "waiting": None, "reason": self.reason, "ending": ending,
            }  # fmt: skip
            record = EndRecord(status, reason, message, ending, ledger.not_done(waiting, undo))
            try:
                self.append([record], durable=True, changes=changes)
            finally:
                self.on_ended(record)
            log.info("run ended", extra={"run_id": self.spec.run_id, "status": status, "reason": reason})
        if self.steering is not None:
            self.steering.end(reason)

    def _read_ledger(self) -> RunLedger:
        """The ledger of a run that this process took over."""
        ledger = RunLedger()
        for record in self.journal.reader().read(kinds=LEDGER_KINDS):
            if (body := read_body(record)) is not None:
                ledger.note(body)
        return ledger

    def close(self) -> None:
        """Close the run; its records stay."""
        while self._closers:
            self._closers.pop()()
        if self._series is not None:
            self._series.close()
        self.journal.close()

    def _noted(self, seq: int) -> int:
        if self._series is not None and seq > 0:
            self._series.note(seq)
        return seq

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def paused_seconds(journal: JournalReading, now: float) -> float:
    """How long a run was paused, according to its journal; a pause in progress counts up to now."""
    rested, since = 0.0, None
    for record in journal.read(kinds=frozenset(("state",))):
        state = read_body(record)
        paused = isinstance(state, State) and state.status == "paused"
        if paused and since is None:
            since = record.time
        elif not paused and since is not None:
            rested, since = rested + record.time - since, None
    return rested + (now - since if since is not None else 0.0)


def _reason_in(journal: JournalReading) -> str | None:
    """Why a run has ended, according to its journal; None if it has not."""
    for kind in ("end", "state"):
        record = journal.last(kind)
        said = read_body(record) if record is not None else None
        if isinstance(said, EndRecord | Abort | Done):
            return said.reason
    return None


class SteadyClock:
    """Seconds since the epoch: the initial wall time plus the monotonic clock; never decreases."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = clock.time() - clock.monotonic()

    def time(self) -> float:
        return self._ahead + self._clock.monotonic()

    def continue_from(self, last: float) -> None:
        """Continue from the last time of a predecessor."""
        self._ahead += max(0.0, last - self.time())


EVERY = 10_000
"""Records between two updates: a reader aggregates at most about this many itself."""

BATCH = 128
PAUSE_S = 0.001
"""How long the thread pauses after a batch of records, so that it does not delay the judging of calls."""


class SeriesKeeper:
    """Aggregates the journal, in a thread for each update. If one fails, the next one catches up."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._checks: int | None = None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def note(self, seq: int) -> None:
        """Note the number of the newest record in the journal."""
        checks = seq // EVERY
        if self._checks is not None and checks <= self._checks:
            return
        with self._lock:
            # A successor has more urgent work when it starts.
            first, self._checks = self._checks is None, checks
            if first or self._stop.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(target=self._sum_up, name=f"series {self._folder.run_id}", daemon=True)
            self._thread.start()

    def close(self) -> None:
        with self._lock:
            self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _sum_up(self) -> None:
        # Imported here because most runs are too short to need it.
        from ..journal import SERIES_KINDS, JournalReader, load_series, store_series

        try:
            with JournalReader.open(self._folder) as reader:
                tally = load_series(self._folder, reader)
                for number, record in enumerate(reader.bodies(tally.seq, SERIES_KINDS)):
                    tally.add_records((record,))
                    if number % BATCH == 0 and self._stop.wait(PAUSE_S):
                        break
                store_series(self._folder, reader, tally)
        except (InterlockError, OSError):
            return
