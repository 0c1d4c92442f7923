"""Escalation, frames, and the supervisor's own pause."""

from __future__ import annotations

import pytest

from interlock.config import Config
from interlock.config.llm_models import Models
from interlock.config.schema import ModelInfo
from interlock.control import (
    Actuated,
    ControlRules,
    Held,
    IterationEnded,
    IterationStarted,
    Released,
    StackFrame,
    Waiting,
)

from .owner import RUN, Owner


@pytest.mark.parametrize("status", ["pausing", "paused"])
def test_escalate_while_pausing_or_paused_keeps_the_gate_shut(status: str) -> None:
    owner = Owner()
    if status == "pausing":
        owner.do(IterationStarted("i1"))
    owner.ask("pause", id="p")
    owner.ask("escalate", id="e")
    assert owner.kinds() == ["ACK", "success", f"STATE {status}"]
    assert not owner.state.gate_open and owner.told[-1].shut


@pytest.mark.parametrize(
    ("payload", "has", "answer"),
    [
        ({"model": "claude-haiku-4-5"}, "claude-haiku-4-5", ["ACK", "invalid_state"]),
        ({"model": "claude-haiku-4-5"}, "claude-opus-4-1", ["ACK", "invalid_state"]),
        ({"model": "claude-3-5-haiku"}, "claude-haiku-4-5", ["ACK", "invalid_state"]),
        ({"model": "claude-sonnet-4-5"}, "claude-haiku-4-5", ["ACK", "success", "STATE running"]),
        ({"model": "claude-sonnet-4-5"}, None, ["ACK", "success", "STATE running"]),
        ({"model": "no-such-thing"}, "claude-haiku-4-5", ["bad_request"]),
        ({}, "claude-haiku-4-5", ["bad_request"]),
        ({"model": 7}, "claude-haiku-4-5", ["bad_request"]),
    ],
)
def test_escalate_goes_up_only_and_to_known_models(
    payload: dict[str, object], has: str | None, answer: list[str]
) -> None:
    owner = Owner(model=has)
    owner.ask("escalate", payload)
    assert owner.kinds() == answer


def test_escalate_says_why_where_the_adapter_cannot_switch() -> None:
    owner = Owner(rules=ControlRules(cannot_switch="this agent chooses its model itself"))
    answers = owner.ask("escalate")
    assert answers[1]["payload"] == {
        "status": "failure",
        "code": "invalid_state",
        "message": "this agent chooses its model itself",
        "run_status": "running",
    }


def test_models_of_the_configuration_are_known_too() -> None:
    config = Config(models=(ModelInfo(name="house-large", strength=900), ModelInfo(name="house-small", strength=1)))
    rules = ControlRules(models=Models.from_config(config))
    owner = Owner(model="house-small", rules=rules)
    owner.ask("escalate", {"model": "house-large"}, id="e")
    assert owner.kinds() == ["ACK", "success", "STATE running"]
    assert ControlRules().is_same("haiku", "claude-haiku-5-5") and not ControlRules().is_same("haiku", None)
    assert ControlRules().compare("gpt-5", "claude-haiku-4-5") is None


def test_a_frame_id_names_the_run_and_escalate_goes_to_the_current_frame() -> None:
    frames = (
        StackFrame(id=RUN, mode="loop", iter=2, max=None, model="claude-haiku-4-5"),
        StackFrame(id="f2", mode="issue", iter=1, max=None, model="claude-haiku-4-5", issue_id="7"),
    )
    owner = Owner(stack=frames)
    owner.ask("escalate", {"model": "claude-opus-4-1", "reason": "hard"}, run="f2", id="e")
    stack = owner.sent[2]["stack"]
    assert [frame["model"] for frame in stack] == ["claude-haiku-4-5", "claude-opus-4-1"]  # type: ignore[index,union-attr]
    assert stack[1]["escalation_reason"] == "hard"  # type: ignore[index]
    owner.ask("pause", run=RUN, id="p", issue_id="7")
    assert owner.kinds()[1] == "success"
    owner.ask("resume", id="q", issue_id="8")
    assert owner.kinds() == ["not_found"]
    owner.ask("resume", id="r", run="f3")
    assert owner.kinds() == ["not_found"]


LIMIT = Waiting("limit", 12, "the budget is spent")


def test_a_supervisor_that_holds_the_run_pauses_it_and_a_person_resumes_it() -> None:
    owner = Owner()
    owner.do(IterationStarted("i1"))
    owner.do(Held(LIMIT))
    assert owner.kinds() == ["STATE pausing"] and "request_id" not in owner.sent[0] and not owner.state.gate_open
    owner.do(IterationEnded("i1"))
    assert owner.kinds()[-1] == "STATE paused" and owner.sent[-1]["waiting"]["kind"] == "limit"  # type: ignore[index]
    owner.crash()
    assert owner.state.held == LIMIT and owner.state.status == "paused"
    owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "invalid_state"]
    owner.ask("resume", id="r")
    assert owner.kinds() == ["ACK", "success", "STATE running"] and "waiting" not in owner.sent[-1]


def test_a_parked_run_refuses_pause_wakes_on_resume_and_ends_on_cancel() -> None:
    parked = Waiting("parked", 12, "usage limit reached; resumes at 03:00")
    owner = Owner()
    owner.do(Held(parked))
    assert owner.kinds() == ["STATE paused"] and owner.sent[-1]["waiting"]["kind"] == "parked"  # type: ignore[index]
    owner.ask("pause", id="p")
    assert owner.kinds() == ["ACK", "invalid_state"]
    owner.crash()
    assert owner.state.held == parked
    owner.ask("resume", id="r")
    assert owner.kinds() == ["ACK", "success", "STATE running"] and owner.state.gate_open
    owner.do(Held(parked))
    owner.ask("cancel", id="c")
    assert owner.state.ended
    owner.do(Released())
    assert owner.state.ended and not owner.state.gate_open


def test_a_supervisor_takes_its_own_pause_back_but_not_a_persons() -> None:
    owner = Owner()
    owner.do(Released())
    assert owner.sent == []
    owner.do(Held(LIMIT))
    owner.crash()
    owner.do(Released())
    assert owner.kinds()[-1] == "STATE running" and owner.state.gate_open
    owner.ask("pause")
    owner.do(Held(LIMIT))
    assert owner.sent[-1]["waiting"]["kind"] == "limit"  # type: ignore[index]
    owner.crash()
    owner.do(Released())
    assert owner.kinds()[-1] == "STATE paused" and "waiting" not in owner.sent[-1] and not owner.state.gate_open


def test_the_supervisor_waits_while_the_actuator_has_a_command_to_answer() -> None:
    owner = Owner()
    owner.hold = True
    owner.ask("escalate", id="e")
    owner.do(Held(LIMIT))
    assert owner.kinds() == ["ACK"]
    owner.hold = False
    owner.do(Actuated(owner.told[-1].revision))
    assert owner.kinds() == ["ACK", "success", "STATE running", "STATE paused"]
    assert owner.told[-1].model == "claude-opus-4-1" and owner.told[-1].shut
