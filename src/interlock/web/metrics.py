"""Metrics of the dashboard: the runs that the store has, in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ..report import RunRow

STATUSES = ("running", "pausing", "paused", "done", "aborted", "lost", "unknown", "unreadable")
LABELS = ("run_id", "name", "model")

EACH: dict[str, tuple[str, Callable[[RunRow], float]]] = {
    "interlock_run_steps": ("Steps of a live run", lambda row: row.steps),
    "interlock_run_issues": ("Issues found in a live run", lambda row: row.issues),
    "interlock_run_interventions": ("Interventions in a live run", lambda row: row.interventions),
    "interlock_run_tokens": ("Tokens of a live run", lambda row: row.tokens),
    "interlock_run_cost_usd": ("US dollars of a live run", lambda row: row.cost),
    "interlock_run_waiting": ("Whether a live run waits for a person", lambda row: int(bool(row.waiting))),
}
"""What is told of each live run; ended ones are only counted, so that the number of series stays small."""


class Runs(Collector):
    """Rows as metrics."""

    def __init__(self, rows: list[RunRow]) -> None:
        self._rows = rows

    def collect(self) -> Iterable[GaugeMetricFamily]:
        counted = Counter(row.status for row in self._rows)
        runs = GaugeMetricFamily("interlock_runs", "Runs in the store by status", labels=("status",))
        for status in sorted({*STATUSES, *counted}):
            runs.add_metric((status,), counted[status])
        yield runs
        live = [row for row in self._rows if row.live]
        for name, (text, value) in EACH.items():
            family = GaugeMetricFamily(name, text, labels=LABELS)
            for row in live:
                family.add_metric((row.run_id, row.name, row.model or ""), value(row))
            yield family


def render(rows: list[RunRow]) -> bytes:
    """Everything in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Runs(rows))
    return generate_latest(registry)
