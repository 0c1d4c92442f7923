"""JournalMetrics: the metrics of every run of a store, counted from their journals, and /metrics over HTTP."""

from __future__ import annotations

import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from msgspec.structs import replace

from ..control import Result
from ..core import BadInput, InterlockError, Intervention, Issue
from ..journal import JournalReader, RunFolder, Store
from ..journal_records import EpisodeRecord, InterventionRecord, RecordBody, StepRecord, decode_body
from ..runtime import CONTENT_TYPE, Metrics, process_metrics
from .fleet import SETTLED_NS, Fleet, read_signature

KINDS = frozenset(("step", "issue", "episode", "intervention", "effect", "result"))

PATIENCE_S = 3.0
"""Time that one look spends on reading; what is left comes with the next, and no scrape waits for it."""


class JournalMetrics:
    """Counts what is new in the journals each time it is asked. What was counted stays, also of runs that are removed.

    `render` is all that a web server needs: `Response(metrics.render(), media_type=metrics.content_type)`, called in a
    thread, for it reads files.
    """

    content_type = CONTENT_TYPE

    def __init__(self, store: Store) -> None:
        self.metrics = Metrics()
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
                    self._record(decode_body(kind, body))
                    seq = at
                    if number % 1000 == 999 and time.monotonic() > until:
                        return seq, False
        except InterlockError:
            return seq, True
        return seq, True

    def _record(self, body: RecordBody | None) -> None:
        metrics = self.metrics
        match body:
            case StepRecord():
                metrics.stepped(None)
                if body.review is not None:
                    metrics.reviewed(body.review)
                usage = body.step.usage
                if usage is not None:
                    metrics.spent(replace(usage, cost_usd=usage.cost_usd or body.cost_usd))
            case Issue():
                metrics.issue_found(body)
            case EpisodeRecord(ending=str(ending)):
                metrics.episode_ended(body.type, ending)
            case InterventionRecord():
                metrics.intervened(body.intervention)
                if body.escalated:
                    metrics.escalated()
            case Intervention():
                metrics.judged(body)
            case Result():
                metrics.control_requested(body.command or "unknown", body.payload.status)


HERE = "127.0.0.1"
NAMES = frozenset((HERE, "localhost"))
"""The hosts that we answer for: a page elsewhere that has its name point here gets nothing."""


class MetricsServer:
    """Answers GET /metrics until it is closed. It tells numbers and names, nothing of any run's content."""

    def __init__(self, metrics: JournalMetrics, port: int) -> None:
        try:
            self._server = ThreadingHTTPServer((HERE, port), _handler(metrics))
        except OSError as error:
            what = f"metrics cannot be served on port {port} ({error.strerror})"
            raise BadInput(what, todo="Choose another port.") from None
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="interlock-metrics", daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self._server.server_port}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(metrics: JournalMetrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        server_version = "interlock"
        sys_version = ""
        timeout = 10

        def do_GET(self) -> None:
            if self.headers.get("host", "").rpartition(":")[0] not in NAMES:
                self._answer(400, "text/plain", b"unknown host\n")
            elif self.path != "/metrics":
                self._answer(404, "text/plain", b"there is only /metrics\n")
            else:
                self._answer(200, metrics.content_type, metrics.render())

        def log_message(self, *_: object) -> None:
            """No one wants a line for every scrape."""

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler
