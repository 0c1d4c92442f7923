"""The worked cases of the protocol, and the race list of a workflow engine that has shipped these bugs."""

from __future__ import annotations

from interlock.control import IterationEnded, IterationStarted, Received, RunEnded

from .owner import RUN, Owner, make


def started(iterations: int, ended: int) -> Owner:
    owner = Owner()
    for number in range(1, iterations + 1):
        owner.do(IterationStarted(f"i{number}"))
        if number <= ended:
            owner.do(IterationEnded(f"i{number}"))
    return owner


def test_case_a_pause_at_iteration_4_and_resume() -> None:
    owner = started(4, ended=3)
    answers = owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "success", "STATE pausing"]
    assert answers[1]["payload"] == {
        "status": "success",
        "message": "paused at iteration 4",
        "run_status": "pausing",
    }
    assert answers[2]["request_id"] == "p" and answers[2]["schema"] == 1
    owner.sent.clear()
    owner.do(IterationEnded("i4"))
    assert owner.kinds() == ["STATE paused"]
    assert owner.sent[0]["stack"] == [{"id": RUN, "mode": "loop", "iter": 4, "max": 10, "model": "claude-haiku-4-5"}]
    owner.ask("resume", id="r")
    assert owner.kinds() == ["ACK", "success", "STATE running"]
    assert owner.state.gate_open


def test_case_a_without_an_iteration_under_way_is_paused_at_once() -> None:
    owner = started(4, ended=4)
    owner.ask("pause")
    assert owner.kinds() == ["ACK", "success", "STATE paused"]


def test_case_b_cancel_ends_the_run_with_an_empty_stack() -> None:
    owner = started(2, ended=1)
    answers = owner.ask("cancel", id="c")
    assert owner.kinds() == ["ACK", "success", "ABORT"]
    assert answers[2]["reason"] == "USER_CANCELLED" and answers[2]["stack"] == [] and answers[2]["request_id"] == "c"
    assert owner.told[-1].status == "aborted"


def test_case_c_escalate_tells_both_models_and_the_frame_has_the_reason() -> None:
    owner = Owner()
    answers = owner.ask("escalate", {"model": "claude-opus-4-1", "reason": "stuck"})
    assert owner.kinds() == ["ACK", "success", "STATE running"]
    payload = answers[1]["payload"]
    assert payload["previous_model"] == "claude-haiku-4-5" and payload["new_model"] == "claude-opus-4-1"  # type: ignore[index]
    frame = answers[2]["stack"][0]  # type: ignore[index]
    assert frame["model"] == "claude-opus-4-1" and frame["escalation_reason"] == "stuck"
    assert owner.told[-1].model == "claude-opus-4-1"


def test_case_d_pause_of_a_run_that_has_ended_is_not_found_alone() -> None:
    owner = Owner()
    owner.do(RunEnded("COMPLETE"))
    owner.ask("pause")
    assert owner.kinds() == ["not_found"]


def test_two_transactions_per_command() -> None:
    owner = Owner()
    owner.ask("pause")
    assert owner.transactions == [("request", "ack"), ("result", "state")]


def test_an_iteration_that_ends_after_paused_does_not_flip_the_status_back() -> None:
    owner = started(2, ended=0)
    owner.ask("pause")
    owner.do(IterationEnded("i1"))
    owner.do(IterationEnded("i2"))
    assert owner.state.status == "paused"
    owner.do(IterationEnded("i2"))
    owner.do(IterationEnded("never seen"))
    assert owner.state.status == "paused" and not owner.state.gate_open


def test_resume_opens_the_gate_although_stale_work_is_still_recorded() -> None:
    owner = started(1, ended=0)
    owner.ask("pause", id="p")
    assert owner.state.status == "pausing"
    owner.ask("resume", id="r")
    assert owner.kinds() == ["ACK", "success", "STATE running"] and owner.state.gate_open
    owner.do(IterationEnded("i1"))
    assert owner.state.status == "running" and owner.state.gate_open


def test_cancel_while_paused_and_while_pausing() -> None:
    for ended in (0, 1):
        owner = started(1, ended=ended)
        owner.ask("pause", id="p")
        owner.ask("cancel", id="c")
        assert owner.kinds() == ["ACK", "success", "ABORT"]


def test_a_run_that_times_out_while_paused_is_done_and_takes_no_more_commands() -> None:
    owner = Owner()
    owner.ask("pause", id="p")
    owner.do(RunEnded("MAX_ITERATIONS"))
    owner.ask("resume", id="r")
    assert owner.kinds() == ["not_found"] and not owner.state.gate_open


def test_the_same_request_twice_takes_effect_once_and_is_answered_byte_for_byte() -> None:
    owner = Owner()
    owner.ask("pause", id="p")
    first = owner.raw[1]
    owner.pass_time(299)
    owner.ask("pause", id="p", reason="again")
    assert owner.raw == [first]
    owner.ask("resume", id="r")
    owner.ask("pause", id="p")
    assert owner.raw == [first] and owner.state.status == "running"


def test_the_run_ends_while_a_command_is_in_flight_and_done_wins() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK"]
    owner.do(Received(make("resume", id="q")))
    owner.sent.clear()
    owner.hold = False
    owner.do(RunEnded("COMPLETE"))
    assert owner.kinds() == ["DONE", "not_found", "not_found"]
    assert len(owner.transactions[-1]) == 3


def test_whatever_waits_behind_a_cancel_is_not_found() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("cancel", id="c")
    owner.do(Received(make("pause", id="p")))
    revision = owner.told[-1].revision
    owner.sent.clear()
    owner.hold = False
    from interlock.control import Actuated

    owner.do(Actuated(revision))
    assert owner.kinds() == ["success", "ABORT", "not_found"]
    assert len(owner.transactions[-1]) == 3
