"""JournalMetrics: the metrics of every run of a store, counted from their journals, for whoever serves /metrics."""

from __future__ import annotations

import threading
import time
from collections import Counter

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import InterlockError, Intervention, Issue, Review, Usage
from ..core.typed import json_decoder
from ..journal import JournalReader, RunFolder, Store
from ..runtime.metrics import CONTENT_TYPE, Metrics, process_metrics
from .fleet import SETTLED_NS, Fleet, read_signature

KINDS = frozenset(("step", "issue", "intervention", "effect", "result"))

PATIENCE_S = 3.0
"""Time that one look spends on reading; what is left comes with the next, and no scrape waits for it."""

FOUND = Issue(id="", type="", step=0, description="")
REVIEWED = Review("allow")


class JournalMetrics:
    """Counts what is new in the journals each time it is asked. What was counted stays, also of runs that are removed.

    `render` is all that a web server needs: `Response(metrics.render(), media_type=metrics.content_type)`, called in a
    thread, for it reads files.
    """

    content_type = CONTENT_TYPE

    def __init__(self, store: Store, metrics: Metrics | None = None) -> None:
        self.metrics = metrics or Metrics()
        self._fleet = Fleet(store)
        self._store = store
        self._read: dict[str, tuple[tuple[int, ...], int]] = {}
        self._lock = threading.Lock()

    def render(self) -> bytes:
        """Everything in Prometheus' text format; the time that steps took is known of this process's own runs only."""
        with self._lock:
            self._look()
            self.metrics.time_of(process_metrics())
            return self.metrics.render()

    def _look(self) -> None:
        self.metrics.runs = Counter(row.status for row in self._fleet.rows(sparks=False))
        until = time.monotonic() + PATIENCE_S
        for folder in self._store.folders():
            if time.monotonic() > until:
                return
            signature = read_signature(folder)
            known, seq = self._read.get(folder.run_id, ((), 0))
            if signature != known:
                seq, whole = self._count(folder, seq, until)
                settled = whole and time.time_ns() - max(signature) > SETTLED_NS
                self._read[folder.run_id] = (signature if settled else (), seq)

    def _count(self, folder: RunFolder, seq: int, until: float) -> tuple[int, bool]:
        """Count a journal from a record on; the last one counted, and whether that was all."""
        try:
            with JournalReader.open(folder) as reader:
                for number, (at, kind, body) in enumerate(reader.bodies(seq, KINDS)):
                    self._take(kind, body)
                    seq = at
                    if number % 1000 == 999 and time.monotonic() > until:
                        return seq, False
        except InterlockError:
            return seq, True
        return seq, True

    def _take(self, kind: str, body: str) -> None:
        metrics = self.metrics
        try:
            if kind == "step":
                line = _step.decode(body)
                metrics.stepped(None)
                if line.review is not None:
                    metrics.reviewed(REVIEWED)
                usage = line.step.usage
                if usage is not None:
                    metrics.spent(replace(usage, cost_usd=usage.cost_usd or line.cost_usd))
            elif kind == "issue":
                metrics.issue_found(FOUND)
            elif kind == "intervention":
                made = _made.decode(body)
                metrics.intervened(made.intervention)
                if made.escalated:
                    metrics.escalated()
            elif kind == "effect":
                metrics.judged(_judged.decode(body))
            else:
                result = _result.decode(body)
                metrics.control_requested(result.command or "unknown", result.payload.status)
        except msgspec.DecodeError:
            return


class _Step(Struct):
    usage: Usage | None = None


class _Review(Struct):
    """That there is one is all that counts."""


class _StepLine(Struct):
    step: _Step
    review: _Review | None = None
    cost_usd: float = 0.0


class _Made(Struct):
    intervention: Intervention
    escalated: bool = False


class _Payload(Struct, frozen=True):
    status: str = "unknown"


class _Result(Struct):
    command: str | None = None
    payload: _Payload = _Payload()


_step = json_decoder(_StepLine)
_made = json_decoder(_Made)
_judged = json_decoder(Intervention)
_result = json_decoder(_Result)
