"""Calls that wait for a person, calls that could not be judged, and what an attempt is called."""

import sys

import pytest

from interlock.core import ManualClock
from interlock.journal import mark_viewed
from tests.runtime.scripted import START
from tests.runtime.test_decisions import kinds, supervise


@pytest.fixture
def clock():
    return ManualClock(START)


def test_a_publish_waits_for_a_person_and_runs_once_approved(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        mark_viewed(supervisor.run.folder.path.parent)
        step = supervisor.call("bash", {"command": "npm publish"})
        decision = supervisor.before(step)
        assert decision.action == "hold"
        assert "cannot be withdrawn" in decision.reason
        supervisor.answer(None, "approved")
        assert supervisor.before(step).action == "proceed"
        assert kinds(supervisor, "issue") == []


def test_a_publish_that_a_person_rejects_is_denied(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        mark_viewed(supervisor.run.folder.path.parent)
        step = supervisor.call("bash", {"command": "npm publish"})
        supervisor.before(step)
        supervisor.answer(None, "rejected", "not yet")
        decision = supervisor.before(step)
        assert decision.action == "deny"
        assert "not yet" in decision.reason


def test_where_no_person_can_be_reached_a_publish_is_denied_instead_of_waiting_all_night(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        decision = supervisor.before(supervisor.call("bash", {"command": "npm publish"}))
        assert decision.action == "deny" and "cannot be withdrawn" in decision.reason


def test_without_a_reviewer_what_acts_is_denied_and_what_reads_goes_on(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.pipeline.parts.reviewer = None
        assert supervisor.before(supervisor.call("bash", {"command": "rm -rf build"})).action == "deny"
        assert supervisor.before(supervisor.call("bash", {"command": "curl https://x.example"})).action == "deny"
        assert supervisor.before(supervisor.call("bash", {"command": "ls -l"})).action == "proceed"


def test_a_reviewer_that_raises_lets_nothing_through_that_acts(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.pipeline.reviewer.review = lambda step: 1 / 0
        assert supervisor.before(supervisor.call("bash", {"command": "rm -rf build"})).action == "deny"
        assert supervisor.before(supervisor.call("bash", {"command": "ls -l"})).action == "proceed"


class HalfWritten:
    def find_spec(self, name, path=None, target=None):
        if name == "interlock.review":
            raise SyntaxError("the file ends here")


def test_where_what_reviews_is_half_written_no_call_is_let_through(tmp_path, clock, monkeypatch):
    with supervise(tmp_path, clock) as supervisor:
        supervisor.pipeline._parts = None
        monkeypatch.setitem(sys.modules, "interlock.runtime.decision_parts", None)
        monkeypatch.delitem(sys.modules, "interlock.review")
        monkeypatch.setattr(sys, "meta_path", [HalfWritten(), *sys.meta_path])
        for _ in range(2):
            decision = supervisor.before(supervisor.call("bash", {"command": "rm -rf build"}))
            assert decision.action == "deny" and "the file ends here" in decision.reason


def test_an_attempt_keeps_its_severity_though_it_was_blocked(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "sudo rm -rf /"})).action == "deny"
        (issue,) = [each for each in kinds(supervisor, "issue") if each["type"] == "destructive_action"]
        assert issue["severity"] == "critical"
        assert not supervisor.run.ended
