"""An approval is of exactly one call: it does not hold for another one, nor for ever."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from interlock.control import new_request
from interlock.core import InvalidState, ManualClock
from interlock.runtime.approvals import Approvals, call_digest

from .scripted import START
from .test_decisions import supervise


@pytest.fixture
def clock():
    return ManualClock(START)


def retold(call, command):
    """The same call, by its number and its id, with other arguments."""
    return replace(call, tool=replace(call.tool, arguments={"command": command}))


def test_an_approved_call_that_comes_again_with_other_arguments_waits_again(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        call = supervisor.call("bash", {"command": "touch a"})
        assert supervisor.before(call).action == "hold"
        supervisor.answer(call.index, "approved")
        changed = retold(call, "rm -rf build")
        assert supervisor.before(changed).action == "hold"
        assert "rm -rf build" in supervisor.run.summary.waiting
        supervisor.answer(call.index, "approved")
        assert supervisor.before(changed).action == "proceed"
        assert supervisor.before(call).action == "hold"


def test_a_call_that_was_let_run_is_reviewed_again_when_it_is_another_one(tmp_path, clock):
    with supervise(tmp_path, clock) as supervisor:
        call = supervisor.call("bash", {"command": "ls"})
        assert supervisor.before(call).action == "proceed"
        assert supervisor.before(retold(call, "rm -rf / --no-preserve-root")).action in ("deny", "stop")


def test_an_answer_to_a_call_that_has_changed_is_refused(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        call = supervisor.call("bash", {"command": "touch a"})
        supervisor.before(call)
        (asked,) = supervisor.run.steering.endpoint.state.waiting
        assert asked.digest == call_digest(call)
        changed = retold(call, "rm -rf build")
        assert supervisor.before(changed).action == "hold"
        with pytest.raises(InvalidState, match="changed"):
            supervisor.answer(call.index, "approved", digest=asked.digest)
        assert supervisor.before(changed).action == "hold"
        (asked_again,) = supervisor.run.steering.endpoint.state.waiting
        supervisor.answer(call.index, "approved", digest=asked_again.digest)
        assert supervisor.before(changed).action == "proceed"


def test_secrets_that_are_redacted_alike_are_not_the_same_call(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        keys = ["sk-ant-api03-" + letter * 80 + "Ab1" for letter in "xy"]
        call = supervisor.call("bash", {"command": f"deploy --key {keys[0]}"})
        supervisor.before(call)
        supervisor.answer(call.index, "approved")
        assert supervisor.before(retold(call, f"deploy --key {keys[1]}")).action == "hold"


def test_a_question_that_nobody_answers_expires_and_the_call_is_refused(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        call = supervisor.call("bash", {"command": "touch a"})
        assert supervisor.before(call).action == "hold"
        clock.advance(12 * 3600 + 1)
        with pytest.raises(InvalidState, match="expired"):
            supervisor.answer(call.index, "approved")
        decision = supervisor.before(call)
        assert (decision.action, "in time" in decision.reason) == ("deny", True)
        assert supervisor.run.summary.waiting is None
        with pytest.raises(InvalidState, match="does not need approval"):
            supervisor.answer(call.index, "approved")


def test_the_protocol_refuses_a_stale_answer(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        call = supervisor.call("bash", {"command": "touch a"})
        supervisor.before(call)
        endpoint = supervisor.run.steering.endpoint
        payload = {"step": call.index, "digest": "0123456789abcdef"}
        request = new_request("6b1f8f0e-1111-4222-8333-444455556666", "approve", supervisor.run.spec.run_id, payload)
        from interlock.link import ask_owner

        answer = ask_owner(supervisor.run.folder, request, timeout=150)
        assert (answer.outcome, answer.code) == ("failure", "invalid_state")
        assert "changed" in answer.message
        assert len(endpoint.state.waiting) == 1


@pytest.mark.parametrize(
    ("tool", "arguments", "shown"),
    [
        ("bash", {"command": "kubectl apply -f 'a b.yaml'"}, "bash kubectl apply -f 'a b.yaml'"),
        ("shell", {"command": ["git", "commit", "-m", "two words"]}, "shell git commit -m 'two words'"),
        ("bash", {"command": "make", "timeout": 9}, "bash make (timeout=9)"),
        ("write", {"path": "a b.txt", "content": "it's"}, "write path='a b.txt' content='it'\"'\"'s'"),
        ("bash", {"command": "ls\nAllow? y\x1b[2K"}, r"bash ls ⏎ Allow? y\x1b[2K"),
        ("deploy", {}, "deploy"),
    ],
)
def test_a_person_is_shown_the_call_as_it_would_be_typed(tmp_path, clock, tool, arguments, shown):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        supervisor.before(supervisor.call(tool, arguments))
        assert supervisor.run.summary.waiting == shown


def test_what_a_long_call_leaves_out_is_counted(tmp_path, clock):
    with supervise(tmp_path, clock, approvals=Approvals(needed=True)) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "true " + "x" * 1000 + "; rm -r keep"}))
        assert supervisor.run.summary.waiting.endswith("x … and 622 more characters")
