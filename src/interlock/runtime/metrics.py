"""Metrics: what supervision did, counted for Prometheus under the published names."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from ..core import Intervention, Issue, Review, Usage

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

LAST_JUDGED = 5
"""The effectiveness shown is the share among so many judged interventions, as in the controller."""

STEP_BUCKETS = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0)
"""Seconds; a step's budget lies far below a millisecond, its time-out at a quarter of a second."""

INTERVENTION_LABELS = ("intervention_type", "issue_type", "outcome")


class Metrics:
    """The counters of one process, in a registry of their own so that they never meet the host program's."""

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry: CollectorRegistry = CollectorRegistry()

        def counter(name: str, text: str, labels: tuple[str, ...] = ()) -> Counter:
            return Counter(name, text, labels, registry=self.registry)

        self._interventions = counter(
            "interlock_interventions_total",
            "Interventions by outcome: pending when made, success or failure when judged",
            INTERVENTION_LABELS,
        )
        self._effectiveness = Gauge(
            "interlock_intervention_effectiveness",
            f"Share of the last {LAST_JUDGED} judged interventions that had this outcome",
            INTERVENTION_LABELS,
            registry=self.registry,
        )
        self._escalations = counter("interlock_escalations_total", "Answers stronger than the one before")
        self._issues = counter("interlock_issues_total", "Issues found")
        self._reviews = counter("interlock_reviews_total", "Steps reviewed before they ran")
        self._tokens = counter("interlock_tokens_total", "Tokens spent by supervised runs")
        self._cost = counter("interlock_cost_usd_total", "US dollars spent by supervised runs")
        self._steps = counter("interlock_steps_total", "Steps supervised")
        self._step_seconds = Histogram(
            "interlock_step_seconds",
            "Time that supervision took for a step",
            buckets=STEP_BUCKETS,
            registry=self.registry,
        )
        self._requests = counter(
            "interlock_control_requests_total", "Control requests by command and status", ("command", "status")
        )
        self._judged: dict[tuple[str, str], deque[bool]] = {}
        self.on_step: Callable[[float], None] | None = None

    def intervened(self, made: Intervention) -> None:
        """Count an intervention with the outcome that it has now: pending, held_back or not_applied."""
        self._interventions.labels(made.type, made.issue_type, made.outcome).inc()

    def judged(self, made: Intervention) -> None:
        """Count the outcome of an intervention, and what its kind achieves on this kind of issue."""
        if made.outcome not in ("success", "failure"):
            return
        self._interventions.labels(made.type, made.issue_type, made.outcome).inc()
        last = self._judged.setdefault((made.type, made.issue_type), deque(maxlen=LAST_JUDGED))
        last.append(made.outcome == "success")
        share = sum(last) / len(last)
        self._effectiveness.labels(made.type, made.issue_type, "success").set(share)
        self._effectiveness.labels(made.type, made.issue_type, "failure").set(1 - share)

    def escalated(self) -> None:
        self._escalations.inc()

    def issue_found(self, issue: Issue) -> None:
        self._issues.inc()

    def reviewed(self, review: Review) -> None:
        self._reviews.inc()

    def spent(self, usage: Usage) -> None:
        """Count tokens and dollars; what makes no sense (below zero) is left out."""
        self._tokens.inc(max(0, usage.tokens))
        self._cost.inc(max(0.0, usage.cost_usd))

    def stepped(self, seconds: float) -> None:
        """Count a step and the time that supervision took for it."""
        self._steps.inc()
        self._step_seconds.observe(seconds)
        if self.on_step is not None:
            self.on_step(seconds)

    def control_requested(self, command: str, status: str) -> None:
        self._requests.labels(command, status).inc()

    def render(self) -> bytes:
        """Everything in Prometheus' text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)


@cache
def process_metrics() -> Metrics:
    """The metrics of this process."""
    return Metrics()
