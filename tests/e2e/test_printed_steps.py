"""A plain command that prints its steps: they are recorded and judged, and cannot be blocked."""

from __future__ import annotations

import json
import sys

import pytest

from .running import Place

CALL = {"before": {"tool": {"name": "bash", "arguments": {"command": "make test"}}}}
RESULT = {"after": {"content": "2 failed", "exit_code": 1}}


def printing(*lines: object, stays: bool = False) -> tuple[str, ...]:
    """A command that prints these lines, and then ends or stays."""
    code = "import sys, time\nfor line in sys.argv[1:]:\n    print(line, flush=True)" + "\ntime.sleep(600)" * stays
    return (sys.executable, "-c", code, *(line if isinstance(line, str) else json.dumps(line) for line in lines))


@pytest.fixture
def place(tmp_path):
    made = Place(tmp_path)
    yield made
    made.close()


def kinds(place: Place) -> list[str]:
    return [each["step"].get("kind", "message") for each in place.records("step")]


def test_a_first_line_that_is_a_step_is_found_and_the_output_stays_as_it_was(place):
    said = (CALL, "compiling", RESULT, {"after": "not a step"}, {"after": {"role": "assistant", "content": "done"}})
    status, out, err = place.run(*printing(*said))
    assert status == 0, err
    assert out.decode().splitlines() == [line if isinstance(line, str) else json.dumps(line) for line in said]
    assert kinds(place) == ["tool_call", "tool_result", "message"]
    assert b"not blocked" in err


@pytest.mark.parametrize(("mode", "found"), [("auto", 0), ("stdout", 2)])
def test_behind_another_line_steps_are_read_only_with_the_option(place, mode, found):
    assert place.run(*printing("hello", CALL, RESULT), options=("--steps", mode))[0] == 0
    assert len(kinds(place)) == found


def test_printed_steps_count_against_limits_and_nothing_claims_to_have_been_said(place):
    again = [each for _ in range(6) for each in (CALL, RESULT)]
    assert place.run(*printing(*again, stays=True), options=("--max-steps", "5", "--steps", "stdout"))[0] == 124
    assert place.told()["calls"] >= 5
    assert place.records("issue")
    assert not [each for each in place.records("applied") if "inject" in str(each) and each["applied"]["ok"]]
