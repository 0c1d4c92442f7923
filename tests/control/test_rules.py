"""The rules of the protocol, one by one."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from msgspec.structs import replace

from interlock.control import (
    Actuated,
    ClientRefused,
    Executed,
    Held,
    IterationEnded,
    IterationStarted,
    ModelSeen,
    PersonAnswered,
    Received,
    Released,
    ResultPayload,
    RunEnded,
    Send,
    StackFrame,
    Tick,
    TransportNoted,
    Waiting,
    WaitingForPerson,
    find_request,
    may_start,
    recover,
)
from interlock.control.decoding import NotForUs, decode_request

from .owner import Owner, make


def test_a_copy_older_than_30_s_is_dropped_silently_with_an_audit_row() -> None:
    owner = Owner()
    owner.do(Received(make("pause"), age=30.1))
    assert owner.sent == [] and owner.state.status == "running"
    assert owner.audits()[-1]["what"] == "expired"
    owner.do(Received(make("pause"), age=30.0))
    assert owner.kinds() == ["ACK", "success", "STATE paused"]


def test_an_old_copy_of_an_answered_request_still_gets_the_stored_result() -> None:
    owner = Owner()
    owner.ask("pause")
    stored = owner.raw[1]
    owner.raw.clear()
    owner.do(Received(make("pause"), age=200.0))
    assert owner.raw == [stored]


def test_the_window_is_five_minutes_from_the_result() -> None:
    owner = Owner()
    owner.ask("pause", id="p")
    owner.pass_time(300)
    owner.ask("pause", id="p")
    assert owner.kinds() == ["success"]
    owner.pass_time(0.1)
    owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "invalid_state"]


def test_a_command_in_flight_never_expires_and_its_window_begins_with_its_result() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.pass_time(100_000)
    owner.ask("rollback", id="b")
    assert owner.kinds() == ["duplicate"]
    owner.do(Executed("b", True))
    owner.pass_time(299)
    owner.ask("rollback", id="b")
    assert owner.kinds() == ["success"]


def test_duplicate_is_never_cached() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.ask("rollback", id="b")
    owner.do(Executed("b", True))
    owner.ask("rollback", id="b")
    assert owner.kinds() == ["success"]


def test_a_paused_run_stays_paused_after_a_crash_however_long_ago() -> None:
    owner = Owner()
    owner.ask("pause")
    owner.pass_time(10_000_000)
    owner.crash()
    assert owner.state.status == "paused" and not owner.state.gate_open
    assert owner.told[-1].shut and owner.told[-1].status == "paused"


def test_commands_in_flight_are_executed_to_their_one_result_after_a_crash() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    owner.do(Received(make("escalate", id="e")))
    owner.hold = False
    owner.crash()
    assert owner.kinds() == ["STATE running", "success", "STATE paused", "success", "STATE paused"]
    owner.ask("pause", id="p")
    assert owner.kinds() == ["success"]


def test_the_stored_results_come_back_from_the_log() -> None:
    owner = Owner()
    owner.ask("pause")
    stored = owner.raw[1]
    owner.crash()
    owner.ask("pause")
    assert owner.raw == [stored]


def test_what_is_executed_when_the_owner_dies_is_asked_for_again() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.crash()
    assert [effect.request_id for effect in owner.asked] == ["b", "b"]
    owner.do(Executed("b", False, "the disk is full"))
    assert owner.kinds()[-1] == "failed"


def test_a_run_that_was_cancelled_is_ended_again_after_a_crash() -> None:
    owner = Owner()
    owner.ask("cancel")
    before = owner.told[-1].revision
    owner.crash()
    assert owner.told[-1].status == "aborted" and owner.told[-1].revision > before
    assert owner.kinds() == []


def test_the_gate_is_shut_before_the_result_is_durable_and_opened_after() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    assert owner.told[-1].shut and owner.kinds() == ["ACK"] and not owner.state.gate_open
    owner.hold = False
    owner.do(Actuated(owner.told[-1].revision))
    owner.hold = True
    owner.ask("resume", id="r")
    assert owner.kinds() == ["ACK", "success", "STATE running"] and not owner.state.gate_open
    owner.do(Actuated(owner.told[-1].revision))
    assert owner.state.gate_open


def test_an_answer_to_an_older_revision_opens_nothing() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    owner.do(Actuated(owner.told[-1].revision - 1))
    assert owner.kinds() == ["ACK"]


def test_a_pause_that_cannot_be_carried_out_fails_and_the_run_goes_on() -> None:
    owner = Owner()
    owner.broken = "the gate file cannot be written"
    owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "failed", "STATE running"]
    assert not owner.state.gate_open
    asked, desired = owner.told[-2:]
    assert (asked.shut, desired.shut) == (True, False)
    assert desired.revision > asked.revision, "an actuator ignores what is not newer"
    owner.broken = ""
    owner.do(Tick())
    assert owner.state.gate_open and owner.state.status == "running"


def test_an_iteration_that_the_gate_does_not_allow_is_not_counted() -> None:
    owner = Owner()
    owner.ask("pause")
    owner.do(IterationStarted("i1"))
    assert owner.state.under_way == frozenset() and owner.state.iter == 1


def test_iterations_are_announced_by_the_next_tick_and_once() -> None:
    owner = Owner()
    for number in range(3):
        owner.do(IterationStarted(f"i{number}"))
    assert owner.sent == []
    owner.do(Tick())
    assert owner.sent[0]["stack"][0]["iter"] == 3  # type: ignore[index]
    owner.do(Tick())
    assert len(owner.sent) == 1


def test_a_run_whose_iteration_outlives_its_owner_is_still_pausing() -> None:
    owner = Owner()
    owner.do(IterationStarted("i1"))
    owner.ask("pause")
    owner.crash(under_way=frozenset({"i1"}))
    assert owner.state.status == "pausing"
    owner.do(IterationEnded("i1"))
    assert owner.kinds()[-1] == "STATE paused" and owner.sent[-1]["request_id"] == "r1"


def test_a_run_whose_iteration_ended_with_its_owner_is_paused_at_once() -> None:
    owner = Owner()
    owner.do(IterationStarted("i1"))
    owner.ask("pause")
    owner.crash()
    assert owner.state.status == "paused" and owner.kinds()[-1] == "STATE paused"


def test_the_log_has_the_revision_the_iteration_and_the_stack() -> None:
    owner = Owner()
    for number in range(3):
        owner.do(IterationStarted(f"i{number}"))
        owner.do(IterationEnded(f"i{number}"))
    owner.ask("pause", id="p")
    back = recover(owner.log, owner.fresh, owner.now)
    assert (back.revision, back.iterations, back.stack) == (owner.state.revision, 3, owner.state.stack)
    assert back.stack[-1].iter == 3 and back.revision > owner.fresh.revision


def test_a_cancel_names_what_it_could_not_end() -> None:
    for left, message in (("", "cancelled"), ("process 7 is still there", "cancelled; process 7 is still there")):
        owner = Owner()
        owner.broken = left
        payload = owner.ask("cancel")[1]["payload"]
        assert payload == {"status": "success", "message": message} | ({"details": {"processes": left}} if left else {})
        assert owner.kinds() == ["ACK", "success", "ABORT"]


def test_a_refusal_that_depends_on_the_run_is_remembered() -> None:
    owner = Owner()
    owner.ask("pause", id="p", issue_id="7")
    refused = owner.raw[0]
    frame = StackFrame(id="f", mode="issue", iter=1, max=None, model=None, issue_id="7")
    owner.state = replace(owner.state, stack=(frame,))
    owner.ask("pause", id="p", issue_id="7")
    assert owner.raw == [refused] and owner.state.status == "running"


def test_approve_of_a_step_that_does_not_wait_is_an_invalid_state() -> None:
    owner = Owner()
    owner.ask("approve", {"step": 9}, id="a")
    assert owner.kinds() == ["ACK", "invalid_state"]


def test_a_step_that_waits_is_told_and_gone_when_answered() -> None:
    owner = Owner()
    owner.do(WaitingForPerson(Waiting("approval", 3, "rm -rf build?")))
    assert owner.sent[-1]["waiting"] == {"kind": "approval", "step": 3, "text": "rm -rf build?"}
    owner.do(WaitingForPerson(Waiting("approval", 4, "push?")))
    assert owner.sent[-1]["waiting"]["step"] == 3  # type: ignore[index]
    owner.ask("reject", {"step": 3, "reason": "no"}, id="r")
    owner.do(Executed("r", True, "rejected"))
    assert owner.sent[-1]["waiting"]["step"] == 4  # type: ignore[index]
    owner.do(PersonAnswered(4))
    assert "waiting" not in owner.sent[-1]


def test_after_a_crash_a_step_still_waits_for_approval_and_resume_does_not_answer_it() -> None:
    owner = Owner()
    asked = Waiting("approval", 3, "rm -rf build?")
    owner.do(WaitingForPerson(asked))
    owner.ask("pause", id="p")
    owner.crash()
    assert (owner.state.waiting, owner.state.held) == ((asked,), None)
    owner.ask("resume", id="r")
    assert owner.state.waiting == (asked,)
    owner.ask("approve", {"step": 3}, id="a")
    assert owner.kinds() == ["ACK"] and owner.asked[-1].request_id == "a"


def test_a_rollback_to_an_unknown_checkpoint_is_not_found_after_its_ack() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.do(Executed("b", False, "there is no checkpoint c1", "not_found"))
    assert owner.kinds() == ["ACK", "not_found"]


def test_what_a_command_did_is_in_its_result() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.do(Executed("b", True, "2 files", details={"restored": ["a", "b"]}))
    assert owner.sent[1]["payload"]["details"] == {"restored": ["a", "b"]}  # type: ignore[index]


def test_an_answer_for_a_command_that_is_not_being_executed_is_ignored() -> None:
    owner = Owner()
    owner.ask("rollback", id="b")
    owner.do(Executed("other", True))
    assert owner.kinds() == ["ACK"]
    owner.do(RunEnded("STUCK"))
    owner.do(Executed("b", True))
    assert owner.kinds() == ["ACK", "DONE", "not_found"]


def test_a_run_ends_once() -> None:
    owner = Owner()
    owner.do(RunEnded("COMPLETE"))
    owner.do(RunEnded("ERROR"))
    owner.do(WaitingForPerson(Waiting("approval", 1, "?")))
    assert owner.kinds() == ["DONE"]


def test_endpoints_ignore_ack_and_result() -> None:
    owner = Owner()
    owner.ask("pause")
    ack, result = owner.raw[0], owner.raw[1]
    owner.sent.clear()
    before = len(owner.log)
    owner.do(Received(ack))
    owner.do(Received(result))
    assert owner.sent == [] and len(owner.log) == before


def test_who_asked_is_what_the_transport_says() -> None:
    owner = Owner()
    owner.do(Received(make("pause", id="a"), actor="alice"))
    owner.do(Received(make("resume", id="b", actor="web"), actor="alice"))
    actors = [msgspec.json.decode(record.body)["actor"] for record in owner.log if record.kind == "request"]
    assert actors == ["alice", "alice for web"]


def test_somebody_turned_away_is_told_why_and_leaves_an_audit_row() -> None:
    owner = Owner()
    why = "user 1234 is not allowed to control this run"
    effects = owner.do(ClientRefused(why, "uid 1234", via="me"))
    assert [(effect.via, effect.direct) for effect in effects if isinstance(effect, Send)] == [("me", True)]
    assert owner.audits()[-1]["what"] == "refused"
    assert [message["payload"] for message in owner.sent] == [
        {"status": "failure", "code": "bad_request", "message": why}
    ]


def test_everything_of_one_batch_carries_its_id() -> None:
    owner = Owner()
    answers = owner.ask("pause", batch_id="b7")
    assert answers[0]["batch_id"] == answers[1]["batch_id"] == "b7"


def test_every_change_of_a_run_has_the_next_revision() -> None:
    owner = Owner()
    seen = [owner.state.revision]
    for act in (
        lambda: owner.ask("pause", id="p"),
        lambda: owner.ask("resume", id="r"),
        lambda: owner.do(Held(Waiting(kind="recovery", step=3, text="look at it"))),
        lambda: owner.do(Released()),
        lambda: owner.ask("cancel", id="c"),
    ):
        act()
        seen.append(owner.state.revision)
    assert [after - before for before, after in pairwise(seen)] == [1, 1, 1, 1, 2], "cancel shuts the gate, then ends"


def test_a_pause_waits_for_what_is_under_way_unless_it_is_to_be_at_once() -> None:
    owner = Owner()
    owner.do(IterationStarted("i1"))
    sent = owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "success", "STATE pausing"] and owner.told[-1].status == "pausing"
    assert sent[1]["payload"]["run_status"] == "pausing"  # type: ignore[index]
    owner.ask("pause", {"now": "yes"}, id="q")
    assert owner.state.status == "pausing", "only true is now"
    owner.ask("pause", {"now": True}, id="n")
    assert owner.state.status == "paused" and owner.told[-1].status == "paused"


def test_a_pause_that_waits_no_more_when_it_is_carried_out_has_one_revision_more() -> None:
    owner = Owner()
    owner.do(IterationStarted("i1"))
    owner.hold = True
    owner.ask("pause", id="p")
    asked = owner.told[-1]
    owner.do(IterationEnded("i1"))
    owner.do(Actuated(asked.revision))
    assert (asked.status, owner.told[-1].status) == ("pausing", "paused")
    assert owner.told[-1].revision == asked.revision + 1 == owner.state.revision


@pytest.mark.parametrize(("broken", "said"), [("the gate is stuck", "the gate is stuck"), (" ", " ")])
def test_a_failure_says_what_the_actuator_said(broken: str, said: str) -> None:
    owner = Owner()
    owner.broken = broken
    assert owner.ask("pause", id="p")[1]["payload"]["message"] == said  # type: ignore[index]


def test_a_failure_without_words_names_the_command() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    owner.do(Actuated(owner.told[-1].revision, False, ""))
    result = next(message for message in owner.sent if message.get("type") == "RESULT")
    assert result["payload"]["message"] == "pause could not be carried out"  # type: ignore[index]


def test_a_switch_of_the_model_keeps_the_gate_as_it_is() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("escalate", id="e")
    assert (owner.state.phase, owner.told[-1].shut, owner.told[-1].status) == ("switching", False, "running")
    paused = Owner()
    paused.ask("pause", id="p")
    paused.hold = True
    paused.ask("escalate", id="e")
    assert (paused.state.phase, paused.told[-1].shut, paused.told[-1].status) == ("switching", True, "paused")


def test_the_model_that_the_agent_is_seen_to_use_is_in_its_frame() -> None:
    owner = Owner()
    owner.do(ModelSeen("claude-opus-4-1"))
    assert owner.state.frame is not None and owner.state.frame.model == "claude-opus-4-1"
    assert owner.kinds() == ["STATE running"]
    owner.do(ModelSeen("claude-opus-4-1"))
    assert owner.kinds() == ["STATE running"], "nothing new"
    owner.ask("cancel", id="c")
    owner.sent.clear()
    owner.do(ModelSeen("claude-haiku-4-5"))
    assert owner.sent == []


def test_only_an_open_gate_lets_an_iteration_start() -> None:
    owner = Owner()
    assert may_start(owner.state) is True
    owner.ask("pause", id="p")
    assert may_start(owner.state) is False


def test_iterations_are_counted_from_one_unless_the_agent_says() -> None:
    owner = Owner()
    for number, said in ((1, None), (2, None), (7, 7), (8, None)):
        owner.do(IterationStarted(f"i{number}", iter=said))
        assert owner.state.iter == number
        owner.do(IterationEnded(f"i{number}"))


def test_messages_that_are_not_requests_are_told_by_their_type() -> None:
    owner = Owner()
    owner.ask("pause", id="p")
    kinds = [decode_request(body) for body in owner.raw[:2]]
    assert kinds == [NotForUs("ACK"), NotForUs("RESULT")]


def test_a_result_in_words() -> None:
    done = ResultPayload(status="success", message="paused at iteration 3")
    assert done.says == "paused at iteration 3"
    waits = msgspec.structs.replace(done, run_status="pausing")
    assert waits.says == "pausing at iteration 3: the current step may finish"


def test_what_the_log_knows_of_a_request() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    found = find_request(owner.log, "p")
    assert (found.accepted, found.result, found.run_status) == (True, None, "running")
    owner.hold = False
    owner.do(Actuated(owner.told[-1].revision))
    found = find_request(owner.log, "p")
    assert found.accepted and found.result is not None and found.run_status == "paused"
    assert find_request(owner.log, "other").accepted is False


@pytest.mark.parametrize("command", ["pause", "cancel"])
def test_an_owner_that_takes_over_does_not_open_the_gate_of_a_command_in_flight(command: str) -> None:
    owner = Owner()
    owner.hold = True
    owner.do(IterationStarted("under way"))
    owner.ask(command, id="p")
    owner.told.clear()
    owner.crash(under_way=frozenset({"under way"}))
    assert owner.told and all(desired.shut for desired in owner.told)


@pytest.mark.parametrize("event", [Tick(), Received(make("resume", id="r"))])
def test_a_result_is_forgotten_after_its_window_with_the_next_event(event: Tick | Received) -> None:
    owner = Owner()
    owner.ask("pause", id="p")
    owner.pass_time(300.1)
    owner.do(event)
    assert "p" not in owner.state.answered


def test_a_run_without_a_stack_begins_with_iteration_one() -> None:
    state = replace(Owner().state, stack=())
    assert state.iter == 1
    assert replace(state, iterations=4).iter == 4


def test_what_the_transport_put_aside_is_audited() -> None:
    owner = Owner()
    owner.do(TransportNoted("too_large", "a message of 2 MB", bytes=2_000_000, actor="someone"))
    row = owner.audits()[-1]
    assert (row["what"], row["problem"], row["bytes"], row["actor"]) == (
        "too_large", "a message of 2 MB", 2_000_000, "someone",
    )  # fmt: skip
