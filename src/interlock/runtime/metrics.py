"""Metrics: counters of supervision, kept as plain numbers until they are collected."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..control import Result
from ..core import Intervention, Issue, Usage
from ..journal_records import EpisodeRecord, InterventionRecord, StepRecord

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

LAST_JUDGED = 5
"""Effectiveness is the success rate of this many judged interventions, as in the controller."""

STEP_BUCKETS = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""In seconds. A step usually takes far less than a millisecond, and times out after a quarter of a second."""

INTERVENTION_LABELS = ("intervention_type", "issue_type", "outcome")

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The content type of what `render` returns."""


class Metrics:
    """Counters in a registry of their own, separate from the host program's. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._cost_usd = 0.0
        self._interventions: Counter[tuple[str, ...]] = Counter()
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._episodes: Counter[tuple[str, ...]] = Counter()
        self._judged: dict[tuple[str, str], deque[bool]] = {}
        self._timed = [0] * (len(STEP_BUCKETS) + 1)
        self._seconds = 0.0
        self.runs: Mapping[str, int] | None = None
        self.on_step: Callable[[float], None] | None = None

    def intervened(self, made: Intervention) -> None:
        """Count an intervention by its current outcome: pending, held_back or not_applied."""
        with self._lock:
            self._interventions[made.type, made.issue_type, made.outcome] += 1

    def judged(self, made: Intervention) -> None:
        """Count the outcome of an intervention, and the effectiveness of its type for this type of issue."""
        if made.outcome not in ("success", "failure", "not_judged"):
            return
        with self._lock:
            self._interventions[made.type, made.issue_type, made.outcome] += 1
            if made.outcome == "not_judged":
                return
            last = self._judged.setdefault((made.type, made.issue_type), deque(maxlen=LAST_JUDGED))
            last.append(made.outcome == "success")

    def episode_ended(self, issue_type: str, ending: str) -> None:
        """Count an episode by how it ended."""
        with self._lock:
            self._episodes[issue_type, ending] += 1

    def count(self, body: object) -> None:
        """Count what a record of a journal says."""
        match body:
            case StepRecord():
                self._add("steps")
                if body.review is not None:
                    self._add("reviews")
                if (usage := body.step.usage) is not None:
                    self.spent(replace(usage, cost_usd=usage.cost_usd or body.cost_usd))
            case Issue():
                self._add("notes" if body.is_note else "issues")
            case EpisodeRecord(ending=str(ending)):
                self.episode_ended(body.type, ending)
            case InterventionRecord():
                self.intervened(body.intervention)
                if body.escalated:
                    self._add("escalations")
            case Intervention():
                self.judged(body)
            case Result():
                self.control_requested(body.command or "unknown", body.payload.status)

    def spent(self, usage: Usage) -> None:
        """Count tokens and dollars; negative values are ignored."""
        with self._lock:
            self._counts["tokens"] += max(0, usage.tokens)
            self._cost_usd += max(0.0, usage.cost_usd)

    def stepped(self, seconds: float) -> None:
        """Note the time that supervision took for a step."""
        with self._lock:
            self._timed[bisect_left(STEP_BUCKETS, seconds)] += 1
            self._seconds += seconds
        if self.on_step is not None:
            self.on_step(seconds)

    def control_requested(self, command: str, status: str) -> None:
        """Count a control command that has received its RESULT."""
        with self._lock:
            self._requests[command, status] += 1

    def time_of(self, other: Metrics) -> None:
        """Copy the step times of other metrics."""
        with other._lock:
            timed, seconds = list(other._timed), other._seconds
        with self._lock:
            self._timed, self._seconds = timed, seconds

    @cached_property
    def registry(self) -> CollectorRegistry:
        """These metrics as a registry of the Prometheus library."""
        from prometheus_client import CollectorRegistry

        registry = CollectorRegistry()
        registry.register(self)
        return registry

    def render(self) -> bytes:
        """All metrics in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """Every metric with its current value, for a registry."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        with self._lock:
            counts, cost, seconds, timed = dict(self._counts), self._cost_usd, self._seconds, list(self._timed)
            interventions, requests = dict(self._interventions), dict(self._requests)
            episodes = dict(self._episodes)
            shares: dict[tuple[str, ...], float] = {key: sum(last) / len(last) for key, last in self._judged.items()}
        for name, text in COUNTS.items():
            value = cost if name == "cost_usd" else counts.get(name, 0)
            yield CounterMetricFamily(f"interlock_{name}", text, value=value)
        effectiveness = "interlock_intervention_effectiveness"
        yield from (
            _filled(CounterMetricFamily("interlock_interventions", MADE, labels=INTERVENTION_LABELS), interventions),
            _filled(GaugeMetricFamily(effectiveness, WORKED, labels=INTERVENTION_LABELS[:2]), shares),
            _filled(CounterMetricFamily("interlock_episodes", OVER, labels=("issue_type", "ending")), episodes),
            _filled(CounterMetricFamily("interlock_control_requests", ASKED, labels=("command", "status")), requests),
        )
        took = HistogramMetricFamily("interlock_step_seconds", "Time that supervision took for a step")
        took.add_metric((), _cumulative(timed), seconds)
        yield took
        if self.runs is not None:
            runs: dict[tuple[str, ...], float] = {(status,): count for status, count in self.runs.items()}
            yield _filled(GaugeMetricFamily("interlock_runs", "Runs by status", labels=("status",)), runs)

    def _add(self, name: str) -> None:
        with self._lock:
            self._counts[name] += 1


COUNTS = {
    "escalations": "Interventions stronger than the previous one",
    "issues": "Issues found",
    "notes": "Notes: what rests on words alone",
    "reviews": "Steps reviewed before they ran",
    "tokens": "Tokens spent by supervised runs",
    "cost_usd": "US dollars spent by supervised runs",
    "steps": "Steps supervised",
}
MADE = "Interventions by outcome: pending when made, success or failure when judged"
WORKED = f"Share of the last {LAST_JUDGED} judged interventions that worked"
OVER = "Ended episodes, by how they ended"
ASKED = "Control requests by command and status"


@cache
def process_metrics() -> Metrics:
    """The metrics of this process, which count all runs that it supervises."""
    return Metrics()


def _filled(family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[tuple[str, ...], float]) -> Metric:
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def _cumulative(timed: list[int]) -> list[tuple[str, float]]:
    """Cumulative buckets, as in Prometheus."""
    total, buckets = 0, []
    for limit, count in zip((*(f"{each:g}" for each in STEP_BUCKETS), "+Inf"), timed, strict=True):
        total += count
        buckets.append((limit, float(total)))
    return buckets
