"""The rules of the protocol, one by one."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from interlock.control import (
    Actuated,
    ClientRefused,
    Executed,
    IterationEnded,
    IterationStarted,
    PersonAnswered,
    Received,
    RunEnded,
    StackFrame,
    Tick,
    Waiting,
    WaitingForPerson,
)

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


def test_somebody_turned_away_leaves_an_audit_row() -> None:
    owner = Owner()
    owner.do(ClientRefused("user 1234 is not allowed to control this run", "uid 1234"))
    assert owner.audits()[-1]["what"] == "refused"


def test_everything_of_one_batch_carries_its_id() -> None:
    owner = Owner()
    answers = owner.ask("pause", batch_id="b7")
    assert answers[0]["batch_id"] == answers[1]["batch_id"] == "b7"
