"""The work that an agent has finished, by its own task lists."""

from __future__ import annotations

import pytest

from interlock.contract import advance, work_items
from interlock.core import Context, Goal, Step, Tool

TODOS = {"todos": [
    {"content": "Read the parser", "status": "completed"}, {"content": "Fix the  rounding error.", "done": True},
    {"content": "Write a test", "status": "pending"}, {"status": "completed"}, "text",
]}  # fmt: skip


def step(**given: object) -> Step:
    return Step(**{"run_id": "r", "index": 1, "role": "assistant", "kind": "message", **given})  # type: ignore[arg-type]


def done_in(said: Step) -> list[tuple[str, bool]]:
    return [(item.text, item.done) for item in work_items(said)]


def test_a_list_of_a_tool_is_read() -> None:
    call = step(kind="tool_call", tool=Tool("TodoWrite", TODOS, "1"))
    assert done_in(call) == [("Read the parser", True), ("Fix the rounding error", True), ("Write a test", False)]


@pytest.mark.parametrize("kind", ["message", "tool_call"])
def test_boxes_are_read_where_one_is_ticked(kind: str) -> None:
    text = "Plan:\n- [x] Read the parser\n2. [ ] Write a test\n* [X] Fix it **all**\n"
    said = step(content=text) if kind == "message" else step(kind=kind, tool=Tool("plan", {"body": text, "n": 3}, "1"))
    assert done_in(said) == [("Read the parser", True), ("Write a test", False), ("Fix it **all", True)]
    assert done_in(step(content="- [ ] Read the parser")) == []


def test_what_others_say_is_no_list_of_the_agent() -> None:
    text = "- [x] Read the parser"
    for given in ({"role": "user"}, {"kind": "tool_result", "role": "tool"}, {"origin": "interlock"}):
        assert done_in(step(content=text, **given)) == []


def test_a_goal_is_complete_when_finished_work_has_most_of_its_words() -> None:
    context = Context(goals=(Goal("Fix the rounding error of invoices"), Goal("Deploy everything"), Goal("?")))
    after = advance(context, ["Fix rounding error in invoices", "", "Read the parser"])
    assert [goal.progress for goal in after.goals] == [1.0, None, None]
    assert after.completed_subtasks == ("Fix rounding error in invoices", "Read the parser")
    assert advance(after, ["Read the parser"]) is after
    assert advance(after, ["Deploy everything"]).goals[1].progress == 1.0
