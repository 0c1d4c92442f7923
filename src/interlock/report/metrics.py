"""JournalMetrics: the metrics of every run of a store, from their journals; serve_metrics: /metrics over HTTP."""

from __future__ import annotations

import threading
import time
from collections import Counter

from ..core import BadInput, InterlockError
from ..journal import JournalReader, RunFolder, Store
from ..journal_records import decode_body
from ..link import LocalHandler, LocalHttpServer
from ..runtime import CONTENT_TYPE, Metrics, process_metrics
from .fleet import SETTLED_NS, Fleet, read_signature

KINDS = frozenset(("step", "issue", "episode", "intervention", "effect", "result"))

PATIENCE_S = 3.0
"""Time that one scrape spends on reading; the rest follows with the next."""


class JournalMetrics:
    """Counts what is new in the journals on each scrape. Counts include runs that were removed since.

    A web server needs only `Response(metrics.render(), media_type=metrics.content_type)`, in a thread: it reads files.
    """

    content_type = CONTENT_TYPE

    def __init__(self, store: Store) -> None:
        self.metrics = Metrics()
        self._fleet = Fleet(store)
        self._store = store
        self._read: dict[str, tuple[tuple[int, ...], int]] = {}
        self._lock = threading.Lock()

    def render(self) -> bytes:
        """All metrics in Prometheus' text format; step durations only for this process's own runs."""
        with self._lock:
            self._poll()
            self.metrics.time_of(process_metrics())
            return self.metrics.render()

    def _poll(self) -> None:
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
        """Count a journal from a record on; returns the last one counted, and whether that was all."""
        try:
            with JournalReader.open(folder) as reader:
                for number, (at, kind, body) in enumerate(reader.bodies(seq, KINDS)):
                    self.metrics.count(decode_body(kind, body))
                    seq = at
                    if number % 1000 == 999 and time.monotonic() > until:
                        return seq, False
        except InterlockError:
            return seq, True
        return seq, True


def serve_metrics(metrics: JournalMetrics, port: int) -> LocalHttpServer:
    """Serve GET /metrics until it is closed: numbers and names, no content of runs."""

    class Handler(LocalHandler):
        def answer(self) -> None:
            if self.path != "/metrics":
                self.reply(404, "text/plain", b"there is only /metrics\n")
            else:
                self.reply(200, metrics.content_type, metrics.render())

    try:
        return LocalHttpServer(Handler, port, "interlock-metrics")
    except OSError as error:
        what = f"metrics cannot be served on port {port} ({error.strerror})"
        raise BadInput(what, todo="Choose another port.") from None
