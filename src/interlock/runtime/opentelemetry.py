"""Metrics for OpenTelemetry, read from the Prometheus registry so that both always agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .metrics import Metrics

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation


def publish(metrics: Metrics, meter: Meter) -> None:
    """Offer the metrics through an OpenTelemetry meter, under the same names and labels."""
    for family in metrics.registry.collect():
        if family.type == "counter":
            name = f"{family.name}_total"
            meter.create_observable_counter(name, [_reader(metrics, name)], description=family.documentation)
        elif family.type == "gauge":
            meter.create_observable_gauge(
                family.name, [_reader(metrics, family.name)], description=family.documentation
            )
        elif family.type == "histogram":
            metrics.on_step = meter.create_histogram(family.name, unit="s", description=family.documentation).record


def _reader(metrics: Metrics, name: str) -> Callable[[CallbackOptions], Iterable[Observation]]:
    from opentelemetry.metrics import Observation

    def read(_: CallbackOptions) -> Iterable[Observation]:
        for family in metrics.registry.collect():
            for sample in family.samples:
                if sample.name == name:
                    yield Observation(sample.value, sample.labels)

    return read
