"""Emergency stop: first the stop, then everything that is needed to understand it and to go on."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.config.schema import Interventions
from interlock.core import Action, Intervention, Issue, Limits, Notify, RunState, Spend, Stop
from interlock.intervene import Stopped, emergency_stop

from .intervene_builders import FULL, NOW, checkpoint, growing, issue, run

OPTIONS = ["resume_with_limits", "rollback_and_retry", "manual_intervention", "abort"]


def stop(found=None, state=None, config=None) -> Stopped:
    return emergency_stop(found or issue(), state or run(), config or Interventions(), NOW)


def busy(**changes) -> RunState:
    failed = Intervention(
        id="i1",
        type="soft_correction",
        level=0,
        issue_id="x",
        issue_type="loop",
        step=4,
        time=NOW - 50,
        outcome="failure",
    )
    return run(
        **{
            "context": FULL,
            "spend": Spend(input_tokens=1000, cost_usd=1.25, file_operations=17, calls=4),
            "growth": growing(2.5),
            "issues": (issue("goal_drift", step=2), issue()),
            "interventions": (failed,),
            "actions": tuple(Action(n, f"bash: step {n}", n % 2 == 0, NOW - 60 + n) for n in range(60)),
            "started": NOW - 120,
            "throttled": True,
            **changes,
        }
    )


def test_the_stop_is_the_first_directive():
    answer = stop()
    first, second = answer.directives
    assert isinstance(first, Stop) and first.reason == "emergency_stop" and first.incident_id == answer.incident_id
    assert isinstance(second, Notify) and second.level == "critical"
    assert answer.reason == "emergency_stop" and answer.issue == issue()


def test_it_works_from_an_empty_state():
    answer = stop(Issue(id="", type="", step=0, description=""), RunState(run_id=""))
    assert isinstance(answer.directives[0], Stop) and answer.incident_id
    assert answer.report.to_text() and [option.name for option in answer.recovery_options] == OPTIONS


def test_the_incident_holds_what_is_needed_to_understand_it():
    incident = stop(state=busy()).incident
    assert incident.id and incident.time == NOW and incident.issue == issue() and incident.context == FULL
    assert [known.type for known in incident.patterns] == ["goal_drift", "loop"]
    assert incident.usage.cost_usd == 1.25
    assert [action.step for action in incident.actions] == list(range(10, 60)), "the last 50 actions"
    assert incident.state["run_id"] == "run-1" and incident.state["throttled"] is True


@pytest.mark.parametrize(
    "secret",
    [
        "sk-ant-" + "abc123" * 5,
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "xoxb-1234567890-abcdef",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    ],
)
def test_no_secret_is_kept(secret):
    state = busy(
        actions=(Action(1, f"curl -H 'Authorization: Bearer {secret}' https://u:{secret[:9]}@host"),),
        context=msgspec.structs.replace(FULL, original_prompt=f"use {secret}"),
    )
    found = issue(description=f"leaks {secret}", details={"error": secret, "nested": [{"x": secret}]})
    answer = stop(found, state)
    kept = msgspec.json.encode(answer).decode()
    assert secret not in kept and json.dumps(secret)[1:-1] not in kept


def test_values_under_a_secret_name_are_removed_whatever_they_look_like():
    details = {"password": "hunter2", "api_key": "abc", "DB_PASSWORD": "pw", "tokens": 12, "line": "password=hunter2 x"}
    kept = stop(issue(details=details)).incident.issue.details
    assert "hunter2" not in str(kept) and kept["api_key"] == kept["DB_PASSWORD"] == "[removed]"
    assert kept["tokens"] == 12 and kept["line"].endswith(" x")


def test_a_text_without_end_holds_nothing_up():
    details = {"error": "a." * 5_000_000}
    assert len(str(stop(issue(details=details)).incident.issue.details["error"])) < 21_000


def test_the_report_says_what_happened_how_bad_why_and_what_to_do():
    found = issue(severity="critical", started_step=5, details={"path": "src/app/a.py"})
    report = stop(found, busy()).report
    assert "a case of loop" in report.summary and report.severity == "critical"
    assert report.timeline[-1].text == "emergency_stop"
    assert any("began here" in moment.text and moment.step == 5 for moment in report.timeline)
    assert report.impact.files == ("src/app/a.py",) and report.impact.file_operations == 17
    assert report.impact.resources.cost_usd == 1.25 and report.impact.duration_s == 120
    assert report.root_cause.startswith("loop: ")
    factors = " ".join(report.contributing_factors)
    assert "goal_drift" in factors and "1 earlier intervention" in factors and "throttled" in factors
    for kind in ("immediate", "preventive", "configuration"):
        assert getattr(report.recommendations, kind)


def test_a_spiral_of_calls_that_bring_nothing_is_not_called_one_of_resources():
    counted = stop(issue("resource_spiral", details={"count": 17, "tool": "bash"})).report
    assert counted.root_cause == "resource_spiral: Call after call changed nothing and returned nothing new."
    measured = stop(issue("resource_spiral", details={"growth": 2.0})).report
    assert "Resource use kept growing" in measured.root_cause


def test_the_report_is_readable_text():
    text = stop(issue(severity="high"), busy()).report.to_text()
    for heading in ("Summary:", "Severity: high", "Timeline:", "Impact:", "Root cause:", "Contributing factors:"):
        assert heading in text
    for kind in ("immediate", "preventive", "configuration"):
        assert f"Recommendations, {kind}:" in text
    assert "1,000 tokens" in text and "120 s" in text


def test_four_ways_on_each_with_its_command():
    answer = stop(state=busy())
    assert [option.name for option in answer.recovery_options] == OPTIONS
    for option in answer.recovery_options:
        assert option.command == f"interlock incident continue {answer.incident_id} --option {option.name}"
    resume, _, manual, abort = answer.recovery_options
    assert resume.monitoring == "strict" and resume.removed_actions and abort.clean_up
    assert set(manual.needs_approval) == {"write", "delete", "command"}


def test_resuming_is_stricter_than_before():
    limits = Limits(max_tokens=1001, max_cost_usd=4.0, max_memory_mb=1)
    resume = stop(state=run(limits=limits)).recovery_options[0].limits
    assert (resume.max_tokens, resume.max_cost_usd, resume.max_memory_mb) == (500, 2.0, 1)
    assert resume.max_steps is not None, "a run without limits gets some"


def test_a_rate_of_the_old_run_is_no_budget_of_the_new_one():
    state = run(limits=Limits(max_tokens=50), windowed=("max_tokens",))
    assert stop(state=state).recovery_options[0].limits.max_tokens is None


def test_rolling_back_is_open_only_where_a_safe_checkpoint_exists():
    assert not stop().recovery_options[1].applicable and stop().recovery_options[1].reason
    found = issue(started_step=5)
    old = checkpoint("c9", time=NOW - 90_000, step=2)
    option = stop(found, run(checkpoints=(old,), rollbacks=3)).recovery_options[1]
    assert option.applicable and option.checkpoint_id == "c9", "age and depth bind automatic rollback only"
    assert not stop(found, run(checkpoints=(checkpoint(success_rate=0.1),))).recovery_options[1].applicable


def test_the_same_stop_gives_the_same_incident_id_and_another_another():
    assert stop().incident_id == stop().incident_id
    assert stop().incident_id != stop(state=run(run_id="run-2")).incident_id


def test_everything_survives_being_written_and_read():
    answer = stop(issue(severity="high"), busy(checkpoints=(checkpoint(),)))
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Stopped) == answer


def test_values_that_cannot_be_written_never_prevent_the_stop():
    hostile: dict[str, object] = {"thing": object(), "bytes": b"\xff", "set": {1}, 3: "three"}
    hostile["self"] = hostile
    answer = stop(issue(details=hostile), run(issues=(issue("x", details=hostile),)))
    assert isinstance(answer.directives[0], Stop)
    assert msgspec.json.encode(answer)


@given(
    st.builds(
        RunState,
        run_id=st.text(max_size=5),
        step=st.integers(-5, 10**9),
        started=st.none() | st.floats(),
        rollbacks=st.integers(0, 9),
        actions=st.lists(st.builds(Action, st.integers(), st.text()), max_size=3).map(tuple),
    ),
    st.floats(allow_nan=False),
)
def test_any_state_can_be_stopped(state, now):
    answer = emergency_stop(issue(), state, Interventions(), now)
    assert isinstance(answer.directives[0], Stop) and answer.report.to_text()
