"""The controller's side: send, wait, retry with the same id, and one clear answer."""

from __future__ import annotations

import msgspec
import pytest

from interlock.control import ClockReading, LookUp, Received, RequestClient, RequestRecord, Transmit, new_request

from .owner import RUN, Owner, make


def at(seconds: float) -> ClockReading:
    return ClockReading(1_700_000_000.0 + seconds, seconds)


def controller(timeout: float = 1_000.0, command: str = "pause") -> RequestClient:
    return RequestClient(new_request("r1", command, RUN), timeout=timeout)  # type: ignore[arg-type]


def replies(owner: Owner, request_id: str = "r1") -> list[bytes]:
    owner.raw.clear()
    owner.do(Received(make("pause", id=request_id)))
    return list(owner.raw)


def test_a_copy_every_30_s_with_the_same_id_and_a_fresh_timestamp_until_270_s() -> None:
    it = controller()
    copies = it.start(at(0))
    times = [0.0]
    while (wake := it.wake_at()) is not None and wake < 900:
        actions = it.tick(at(wake))
        copies += actions
        times += [wake] * len(actions)
    messages = [msgspec.json.decode(copy.data) for copy in copies if isinstance(copy, Transmit)]
    assert times == [30.0 * number for number in range(10)]
    assert {message["request_id"] for message in messages} == {"r1"}
    assert [message["attempt"] for message in messages] == list(range(1, 11))
    assert len({message["timestamp"] for message in messages}) == 10
    assert len({str(message["payload"]) + str(message["target"]) for message in messages}) == 1


def test_success_ends_it() -> None:
    it = controller()
    it.start(at(0))
    for reply in replies(Owner()):
        it.receive(reply)
    assert it.answer is not None and it.answer.outcome == "success" and it.answer.accepted
    assert it.tick(at(500)) == [] and it.wake_at() is None


def test_duplicate_is_advisory_and_counts_as_an_ack() -> None:
    owner = Owner()
    owner.hold = True
    it = controller()
    it.start(at(0))
    owner.do(Received(make("pause")))
    owner.raw.clear()
    owner.do(Received(make("pause")))
    it.receive(owner.raw[0])
    assert it.answer is None and it.accepted


def test_after_the_time_out_it_looks_up_the_record_and_never_says_failed() -> None:
    it = controller(timeout=20)
    it.start(at(0))
    assert it.wake_at() == 20
    assert it.tick(at(20)) == [LookUp()]
    it.found(RequestRecord(run_status="running"))
    assert it.answer is not None and it.answer.outcome == "unknown" and it.answer.code is None


def test_the_stored_record_is_the_last_word() -> None:
    result = replies(Owner())[1]
    it = controller(timeout=20)
    it.start(at(0))
    it.tick(at(20))
    it.found(RequestRecord(result=result, accepted=True, run_status="aborted"))
    assert it.answer is not None and it.answer.outcome == "success"


@pytest.mark.parametrize(
    ("found", "outcome", "code", "accepted", "message"),
    [
        (RequestRecord(accepted=True, run_status="paused"), "unknown", None, True, "accepted, not finished yet"),
        (RequestRecord(run_status="unknown"), "unknown", None, False, "no reply; the run is unknown"),
        (RequestRecord(run_status="done"), "failure", "not_found", False, "the run has ended"),
    ],
)
def test_what_the_log_says_when_there_is_no_result(
    found: RequestRecord, outcome: str, code: str | None, accepted: bool, message: str
) -> None:
    it = controller(timeout=1)
    it.start(at(0))
    it.tick(at(1))
    it.found(found)
    assert it.answer is not None
    assert (it.answer.outcome, it.answer.code, it.answer.accepted) == (outcome, code, accepted)
    assert it.answer.message == message


@pytest.mark.parametrize(
    ("command", "payload", "code", "accepted"),
    [
        ("pause", {}, None, True),
        ("resume", {}, "invalid_state", True),
        ("pause", {"issue_id": "7"}, "not_found", False),
        ("escalate", {"model": "no-such-thing"}, "bad_request", False),
    ],
)
def test_a_result_shows_whether_the_request_was_accepted_also_if_the_ack_was_lost(
    command: str, payload: dict[str, object], code: str | None, accepted: bool
) -> None:
    owner, issue = Owner(), payload.pop("issue_id", None)
    request = new_request("r1", command, RUN, payload, issue_id=issue)  # type: ignore[arg-type]
    it = RequestClient(request)
    owner.do(Received(it.start(at(0))[0].data))  # type: ignore[union-attr]
    (result,) = (body for body in owner.raw if b'"RESULT"' in body)
    it.receive(result)
    assert it.answer is not None and (it.answer.code, it.answer.accepted) == (code, accepted)


def test_messages_for_others_are_ignored() -> None:
    it = controller(command="resume")
    it.start(at(0))
    for reply in [*replies(Owner(), "other"), *replies(Owner()), b"noise", b'{"type":"RESULT"}']:
        it.receive(reply)
    assert it.answer is None and not it.accepted


def test_a_bad_request_after_the_ack_was_meant_for_somebody_else() -> None:
    owner = Owner()
    it = controller()
    it.start(at(0))
    ack, result, _ = replies(owner)
    it.receive(ack)
    owner.raw.clear()
    owner.do(Received(make("pause", {"other": 1})))
    it.receive(owner.raw[0])
    assert it.answer is None
    it.receive(result)
    assert it.answer is not None and it.answer.outcome == "success"


def test_an_error_without_an_id_counts_on_a_connection_of_our_own_only() -> None:
    owner = Owner()
    owner.do(Received(b"garbage", via="me"))
    it = controller()
    it.start(at(0))
    it.receive(owner.raw[0])
    assert it.answer is None
    it.receive(owner.raw[0], direct=True)
    assert it.answer is not None and it.answer.code == "bad_request"


def test_a_broken_connection_is_retried_at_once_but_not_after_270_s() -> None:
    it = controller()
    it.start(at(0))
    assert [action.attempt for action in it.retry(at(1)) if isinstance(action, Transmit)] == [2]
    assert it.wake_at() == 31
    assert it.retry(at(271)) == []


def test_another_runs_answer_under_the_same_id_is_ignored() -> None:
    owner, it = Owner(), RequestClient(new_request("r1", "pause", "run-2"))
    it.start(at(0))
    for body in replies(owner):
        it.receive(body)
    assert it.answer is None and not it.accepted
