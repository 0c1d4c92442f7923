"""Metrics: exact names and labels, for Prometheus, OpenTelemetry and the dashboard that ships."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files

import pytest
from prometheus_client.parser import text_string_to_metric_families

from interlock.core import Intervention, Issue, Review, Step, Usage
from interlock.journal_records import InterventionRecord, StepRecord
from interlock.runtime.metrics import Metrics, process_metrics
from interlock.runtime.opentelemetry import publish

LABELS = {"intervention_type", "issue_type", "outcome"}
NAMES = {
    "interlock_interventions_total": LABELS,
    "interlock_intervention_effectiveness": {"intervention_type", "issue_type"},
    "interlock_episodes_total": {"issue_type", "ending"},
    "interlock_escalations_total": set(),
    "interlock_issues_total": set(),
    "interlock_notes_total": set(),
    "interlock_reviews_total": set(),
    "interlock_tokens_total": set(),
    "interlock_cost_usd_total": set(),
    "interlock_steps_total": set(),
    "interlock_step_seconds": set(),
    "interlock_control_requests_total": {"command", "status"},
}


def made(outcome: str, kind: str = "soft_correction") -> Intervention:
    return Intervention(id="i1", type=kind, level=0, issue_id="x", issue_type="loop", step=1, time=0.0, outcome=outcome)


def busy() -> Metrics:
    metrics = Metrics()
    metrics.count(InterventionRecord(intervention=made("pending"), score=1.0, combined=1.0, escalated=True))
    metrics.count(made("success"))
    metrics.episode_ended("loop", "solved")
    metrics.count(Issue(id="x", type="loop", step=1, description=""))
    step = Step(run_id="r", index=1, role="assistant", content="", kind="message", usage=Usage(100, 20, 0.25))
    metrics.count(StepRecord(step, Review("allow")))
    metrics.stepped(0.0002)
    metrics.control_requested("pause", "ok")
    return metrics


def samples(metrics: Metrics) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return next((got for have, got in samples(metrics).get(name, []) if labels.items() <= have.items()), None)


def test_every_metric_has_its_name_and_labels():
    found = samples(busy())
    for name, labels in NAMES.items():
        sampled = f"{name}_count" if name == "interlock_step_seconds" else name
        assert sampled in found, name
        assert set(found[sampled][0][0]) == labels


def test_what_is_counted():
    metrics = busy()
    assert value(metrics, "interlock_tokens_total") == 120
    assert value(metrics, "interlock_cost_usd_total") == 0.25
    assert value(metrics, "interlock_steps_total") == value(metrics, "interlock_step_seconds_count") == 1
    assert value(metrics, "interlock_control_requests_total", command="pause", status="ok") == 1
    for outcome in ("pending", "success"):
        assert value(metrics, "interlock_interventions_total", outcome=outcome) == 1


def test_effectiveness_is_the_share_among_the_last_five_judged():
    metrics = Metrics()
    for outcome in ("failure", "failure", "success", "success", "success", "failure"):
        metrics.judged(made(outcome))
    assert value(metrics, "interlock_intervention_effectiveness") == pytest.approx(0.6)


def test_an_average_over_all_of_effectiveness_is_the_share_that_worked():
    metrics = Metrics()
    for outcome in ("failure", "success", "success", "success"):
        metrics.judged(made(outcome))
    found = [
        sample.value
        for family in text_string_to_metric_families(metrics.render().decode())
        for sample in family.samples
        if sample.name == "interlock_intervention_effectiveness"
    ]
    assert found == [pytest.approx(0.75)]


@pytest.mark.parametrize("outcome", ["pending", "held_back", "not_applied"])
def test_only_success_and_failure_have_an_effectiveness(outcome):
    metrics = Metrics()
    metrics.intervened(made(outcome))
    metrics.judged(made(outcome))
    assert "interlock_intervention_effectiveness" not in samples(metrics)
    assert value(metrics, "interlock_interventions_total", outcome=outcome) == 1


def test_usage_that_makes_no_sense_does_not_count():
    metrics = Metrics()
    metrics.spent(Usage(-5, 0, -1.0))
    assert value(metrics, "interlock_tokens_total") == value(metrics, "interlock_cost_usd_total") == 0


def test_a_process_has_one_set_and_it_is_not_the_host_programs():
    from prometheus_client import REGISTRY

    assert process_metrics() is process_metrics()
    assert process_metrics().registry is not REGISTRY
    Metrics(), Metrics()


def test_the_library_is_imported_only_when_it_is_used():
    code = "import sys, interlock.runtime.metrics; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_opentelemetry_sees_the_same():
    sdk = pytest.importorskip("opentelemetry.sdk.metrics")
    export = pytest.importorskip("opentelemetry.sdk.metrics.export")
    reader = export.InMemoryMetricReader()
    metrics = busy()
    publish(metrics, sdk.MeterProvider(metric_readers=[reader]).get_meter("interlock"))
    metrics.count(StepRecord(Step(run_id="r", index=2, role="user", content="", kind="message")))
    metrics.stepped(0.5)
    data = reader.get_metrics_data().resource_metrics[0].scope_metrics[0].metrics
    found = {metric.name: list(metric.data.data_points) for metric in data}
    assert set(found) == set(NAMES)
    assert found["interlock_steps_total"][0].value == 2
    assert found["interlock_step_seconds"][0].sum == 0.5
    assert dict(found["interlock_control_requests_total"][0].attributes) == {"command": "pause", "status": "ok"}


def dashboard() -> dict:
    return json.loads(files("interlock.runtime").joinpath("grafana.json").read_text())


def test_the_dashboard_has_its_panels():
    titles = [panel["title"] for panel in dashboard()["panels"]]
    assert titles == [
        "Interventions by type",
        "Effectiveness by type",
        "Escalation rate",
        "Spend",
        "Episodes by ending",
    ]
    by_type = dashboard()["panels"][0]["targets"][0]["expr"]
    assert "rate(" in by_type and "[5m]" in by_type and "intervention_type" in by_type


def test_the_dashboard_names_only_metrics_and_labels_that_exist():
    expressions = [target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]]
    named = {name for text in expressions for name in re.findall(r"\binterlock_\w+", text)}
    assert named and named <= set(NAMES)
    for text in expressions:
        labels = set(re.findall(r"(\w+)=\"", text)) | set(re.findall(r"by \((\w+)\)", text))
        assert labels <= set().union(*(NAMES[name] for name in re.findall(r"\binterlock_\w+", text)))
