"""Guard: the one place that makes supervision fail open: its failures neither raise into the agent nor delay it."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, TypeVarTuple

from ..core import InvalidState, Issue, Seen, thread_seconds
from ..journal_records import Fault

if TYPE_CHECKING:
    from ..detect import Asked

T = TypeVar("T")
Given = TypeVarTuple("Given")

STRIKES = 3
"""A detector that has failed this many times is no longer called."""

JUDGING = frozenset(("reviewer", "detectors", "controller"))
"""Parts that are required for a judgement: if supervision fails closed, a call is refused without them."""

NEVER_DROPPED = frozenset(("supervisor", "redaction", "journal"))
"""Parts that are always tried again."""

PATIENCE = 20
"""A worker that is stuck for this many timeouts is abandoned; a shorter delay may be due to a busy machine."""


GRACE = 12
"""How many timeouts of wall-clock time a worker may take to use one timeout of CPU time."""

LEAST_PROGRESS = 0.0005
"""CPU seconds per timeout; a worker that uses less is considered hung."""


class PartFailed(Exception):
    """Raised if supervision could not answer in time; `late` provides the answer if it still arrives."""

    def __init__(self, fault: Fault, late: PendingResult | None = None) -> None:
        super().__init__(f"{fault.part}: {fault.why}")
        self.fault = fault
        self.late = late


class PendingResult:
    """An answer that did not arrive in time: it may still arrive, or be given up."""

    def __init__(self, answer: queue.SimpleQueue[tuple[object, BaseException | None]]) -> None:
        self._answer = answer
        self.given_up = False

    def poll(self, wait_s: float = 0.0) -> object | None:
        """The answer if it arrives within this time; None if it has not, or if it was an error."""
        try:
            answer, error = self._answer.get(block=wait_s > 0, timeout=max(wait_s, 0.0))
        except queue.Empty:
            return None
        self.given_up = error is not None
        return answer


class _Abandoned(BaseException):
    """Ends a worker that returns after it was abandoned."""


class _Job(Generic[T]):
    __slots__ = ("answer", "work")

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.answer: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()


class _Parts(dict[str, str]):
    def __missing__(self, detector: str) -> str:
        part = self[detector] = f"detector {detector}"
        return part


_PARTS = _Parts()
"""The part name of each detector for faults, created once."""


class Guard:
    """Runs supervision in a worker thread, and waits at most `timeout` seconds for it; None runs it in place.

    A step continues if supervision is too late. A worker that hangs is abandoned, and the part that it hung in is
    no longer called.
    """

    def __init__(self, timeout: float | None, on_fault: Callable[[Fault], None], *, closed: bool = False) -> None:
        self.timeout = timeout
        self._closed = closed
        self.dropped: set[str] = set()
        self._on_fault = on_fault
        self._strikes: dict[str, int] = {}
        self._part = "supervisor"
        self._generation = 0
        self._jobs: queue.SimpleQueue[_Job[object] | None] | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stuck_since: float | None = None
        self._waited_for: list[PendingResult] = []

    def run(self, work: Callable[[], T]) -> T:
        """The result of `work`; raises PartFailed if there is none in time, and nothing else."""
        if self.timeout is None:
            return self._in_place(work)
        with self._lock:
            job = _Job(work)
            self._worker().put(job)  # type: ignore[arg-type]
            found = self._wait(job)
            if found is None:
                raise self._too_late(job)
            answer, error = found
            self._stuck_since = None
        if isinstance(error, PartFailed):
            raise error
        if error is not None:
            raise PartFailed(self._fault(self._part, f"{type(error).__name__}: {error}")) from None
        return answer  # type: ignore[return-value]

    def _wait(self, job: _Job[T]) -> tuple[T | None, BaseException | None] | None:
        """The answer, for which the worker may use `timeout` seconds of CPU time.

        On a busy machine this takes longer by the clock: wait as long as the worker makes progress, up to a bound.
        """
        assert self.timeout is not None
        begin = used = self._processor_time()
        for _ in range(GRACE):
            try:
                return job.answer.get(timeout=self.timeout)
            except queue.Empty:
                now = self._processor_time()
                if now - used < LEAST_PROGRESS or now - begin >= self.timeout:
                    return None
                used = now
        return None

    def _processor_time(self) -> float:
        """CPU seconds that the worker has used so far; 0 if unknown."""
        if self._thread is None or self._thread.ident is None or not self._thread.is_alive():
            return 0.0
        try:
            return thread_seconds(self._thread.ident)
        except OSError:
            return 0.0

    def part(self, name: str, work: Callable[[*Given], T], otherwise: T, *given: *Given) -> T:
        """The result of one part, or `otherwise` if it raises or is no longer called."""
        if name in self.dropped:
            if self._closed and name in JUDGING:
                raise PartFailed(Fault(name, "it was abandoned", dropped=True))
            return otherwise
        before, self._part = self._part, name
        generation = self._generation
        try:
            return work(*given)
        except PartFailed:
            raise
        except Exception as error:  # noqa: BLE001  fail open: whatever a part raises ends here, counted and said
            if generation != self._generation:
                raise _Abandoned from None
            fault = self._fault(name, f"{type(error).__name__}: {error}")
            if self._closed and name in JUDGING:
                raise PartFailed(fault) from None
            return otherwise
        finally:
            if generation != self._generation:
                raise _Abandoned
            self._part = before

    def detectors(self, asked: Sequence[Asked], seen: Seen) -> list[Issue]:
        """The issues of all detectors. If one raises or returns anything else, that is recorded; the others continue.

        This is the hottest path: one call for all detectors, and no closures.
        """
        found: list[Issue] = []
        before, generation, dropped = self._part, self._generation, self.dropped
        for name, observe in asked:
            self._part = part = _PARTS[name]
            if dropped and part in dropped:
                continue
            try:
                if issues := observe(seen):
                    found += _only_issues(issues)
            except Exception as error:  # noqa: BLE001  fail open, as in `part`
                if generation != self._generation:
                    raise _Abandoned from None
                self._fault(part, f"{type(error).__name__}: {error}")
            if generation != self._generation:
                raise _Abandoned
        self._part = before
        return found

    def close(self) -> None:
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    def _too_late(self, job: _Job[T]) -> PartFailed:
        """There is no answer in time: continue without it, and abandon the worker if it has been stuck for long."""
        assert self.timeout is not None
        now = time.monotonic()
        if self._stuck_since is None:
            self._stuck_since = now - self.timeout
        if now - self._stuck_since < PATIENCE * self.timeout:
            late = PendingResult(job.answer)  # type: ignore[arg-type]
            self._waited_for.append(late)
            why = f"no answer within {self.timeout * 1000:g} ms; the step continues without it"
            return PartFailed(self._fault(self._part, why, counts=False), late)
        self._generation += 1
        self._jobs, self._stuck_since = None, None
        for late in self._waited_for:
            late.given_up = True
        self._waited_for.clear()
        return PartFailed(
            self._fault(self._part, f"stuck for {PATIENCE * self.timeout:g} s, no longer used", hung=True)
        )

    def _in_place(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except PartFailed:
            raise
        except Exception as error:  # noqa: BLE001  fail open, as above
            raise PartFailed(self._fault(self._part, f"{type(error).__name__}: {error}")) from None

    def _worker(self) -> queue.SimpleQueue[_Job[object] | None]:
        jobs = self._jobs
        if jobs is None:
            jobs = self._jobs = queue.SimpleQueue()
            self._thread = threading.Thread(target=_serve, args=(jobs,), name="interlock-supervisor", daemon=True)
            self._thread.start()
        return jobs

    def _fault(self, part: str, why: str, *, hung: bool = False, counts: bool = True) -> Fault:
        if not counts:
            return self._tell(Fault(part, why))
        self._strikes[part] = self._strikes.get(part, 0) + 1
        drop = (hung and part not in NEVER_DROPPED) or (self._strikes[part] >= STRIKES and part.startswith("detector "))
        if drop:
            self.dropped.add(part)
        self._part = "supervisor"
        return self._tell(Fault(part, why, drop))

    def _tell(self, fault: Fault) -> Fault:
        # A closed run accepts no records: then there is nobody left to tell.
        with contextlib.suppress(InvalidState):
            self._on_fault(fault)
        return fault


def _only_issues(found: Iterable[Issue]) -> list[Issue]:
    issues = list(found)
    for issue in issues:
        if not isinstance(issue, Issue):
            raise TypeError(f"a detector must return issues, not {type(issue).__name__}")
    return issues


def _serve(jobs: queue.SimpleQueue[_Job[object] | None]) -> None:
    while (job := jobs.get()) is not None:
        try:
            job.answer.put((job.work(), None))
        except _Abandoned:
            return
        except Exception as error:  # noqa: BLE001  fail open, as above
            job.answer.put((None, error))
