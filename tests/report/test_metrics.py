"""Metrics of all runs, counted from their journals."""

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from interlock.control import encode, new_request
from interlock.core import BadInput, Hold, ManualClock, Usage
from interlock.journal import Store
from interlock.report import Story
from interlock.report.metrics import JournalMetrics, serve_metrics
from interlock.runtime import Supervisor
from interlock.runtime.metrics import Metrics
from tests.report.runs import folder_of, scripted_run
from tests.runtime.scripted import START, feed, steps


def read(text: bytes) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def total(found, name):
    return sum(value for (each, _), value in found.items() if each == name)


def test_what_the_journals_say_is_counted_once_however_often_it_is_asked(tmp_path):
    one, two = scripted_run(tmp_path, 60), scripted_run(tmp_path, 80, seed=2)
    metrics = JournalMetrics(Store(tmp_path))
    metrics.render()
    found = read(metrics.render())
    stories = [Story.open(folder_of(each)) for each in (one, two)]
    assert total(found, "interlock_steps_total") == sum(story.counts["step"] for story in stories) > 60
    assert total(found, "interlock_issues_total") == sum(story.sums.issues.total() for story in stories)
    assert total(found, "interlock_tokens_total") == sum(story.summary.tokens for story in stories)
    assert total(found, "interlock_runs") == 2
    ended = [each for story in stories for each in story.episodes if each.ending]
    assert ended and total(found, "interlock_episodes_total") >= len(ended)


def test_journals_and_the_live_process_count_the_same(tmp_path):
    clock, live = ManualClock(START), Metrics()
    with Supervisor.open(task="t", store=Store(tmp_path), clock=clock, metrics=live) as supervisor:
        feed(supervisor, clock, steps(3, 120))
        supervisor.after(supervisor.message("hi", usage=Usage(10, 10, 0.5)))
        supervisor.run.hold(Hold("look"), 3)
        resume = new_request("r1", "resume", supervisor.run.spec.run_id, actor="ann")
        supervisor.run.steering.endpoint.receive(encode(resume), None, actor="ann")
    kept, seen = read(JournalMetrics(Store(tmp_path)).render()), read(live.render())
    for name in ("issues", "interventions", "escalations", "reviews", "tokens", "cost_usd", "control_requests"):
        full = f"interlock_{name}_total"
        assert {k: v for k, v in kept.items() if k[0] == full} == {k: v for k, v in seen.items() if k[0] == full}, name
    assert total(seen, "interlock_control_requests_total") >= 1
    assert total(seen, "interlock_step_seconds_count") > 0


def test_every_run_counts_in_its_process_without_being_asked_to(tmp_path):
    from interlock.runtime.metrics import process_metrics

    before = total(read(process_metrics().render()), "interlock_steps_total")
    scripted_run(tmp_path, 10)
    assert total(read(process_metrics().render()), "interlock_steps_total") >= before + 10


def test_a_live_run_is_counted_on(tmp_path):
    supervisor = scripted_run(tmp_path, 10, close=False)
    metrics = JournalMetrics(Store(tmp_path))
    assert total(read(metrics.render()), "interlock_steps_total") == 10
    supervisor.after(supervisor.message("more"))
    supervisor.run.journal.flush()
    assert total(read(metrics.render()), "interlock_steps_total") == 11
    supervisor.close()


def test_counters_never_go_back_when_a_run_is_removed(tmp_path):
    scripted_run(tmp_path, 10)
    store = Store(tmp_path)
    metrics = JournalMetrics(store)
    metrics.render()
    store.prune(keep_last=0)
    found = read(metrics.render())
    assert total(found, "interlock_steps_total") == 10
    assert total(found, "interlock_runs") == 0


def test_metrics_are_served_on_this_machine_and_to_its_own_name_only(tmp_path):
    scripted_run(tmp_path, 10)
    server = serve_metrics(JournalMetrics(Store(tmp_path)), 0)
    where = f"{server.url}/metrics"
    try:
        found = httpx.get(where)
        assert found.status_code == 200
        assert found.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert total(read(found.content), "interlock_steps_total") == 10
        port = where.rpartition(":")[2]
        assert httpx.get(where, headers={"host": f"evil.example:{port}"}).status_code == 400
        assert httpx.get(where.replace("/metrics", "/api/runs")).status_code == 404
        with pytest.raises(BadInput, match="port"):
            serve_metrics(JournalMetrics(Store(tmp_path)), int(port.partition("/")[0]))
    finally:
        server.close()
