"""The twelve shapes that tell a detector that looks at outcomes from one that does not."""

from __future__ import annotations

import pytest
from detecting import Did, first_alarm

LAPS = 30

THOUGHTS = ("I will look again.", "Perhaps it has changed by now?", "Once more, to be sure.", "Let me check the state.")


def again(tool: str, result: str, **rest: object) -> list[Did]:
    return [Did(tool, result, {"path": "src/app.py"}, **rest) for _ in range(LAPS)]  # type: ignore[arg-type]


def test_the_same_call_with_the_same_result_is_told_by_the_third() -> None:
    assert first_alarm(again("read_file", "def main(): ...")) == 3


def test_thoughts_that_vary_do_not_hide_it() -> None:
    calls = [
        Did("read_file", "def main(): ...", {"path": "src/app.py"}, thought=f"{THOUGHTS[n % 4]} Attempt {n}.")
        for n in range(LAPS)
    ]
    assert first_alarm(calls) == 3


@pytest.mark.parametrize(
    "answer",
    ["progress: {n}%", "build step {n} of 40 is running", '{{"status": "running", "done": {n}}}', "{n} rows copied"],
)
def test_polling_whose_result_changes_is_never_told(answer: str) -> None:
    calls = [Did("job_status", answer.format(n=n), {"id": "7"}) for n in range(1, LAPS)]
    assert first_alarm(calls) is None


@pytest.mark.parametrize("how", [{"error": True}, {"exit_code": 1}, {}])
def test_the_same_error_is_told_by_the_third(how: dict[str, object]) -> None:
    assert first_alarm(again("bash", "Error: connection refused", **how)) == 3


@pytest.mark.parametrize(
    "error",
    [
        "Error: permission denied",
        "Error: cannot open /srv/data/part-{n}.csv",
        "FileNotFoundError: [Errno 2] No such file or directory: '/srv/data/part-{n}.csv'",
        "Traceback (most recent call last):\n  File 'x.py', line {n}, in main\nValueError: bad magic number",
        "Killed",
    ],
)
def test_arguments_that_vary_do_not_hide_the_same_error(error: str) -> None:
    calls = [Did("read_file", error.format(n=n), {"path": f"/srv/data/part-{n}.csv"}, error=True) for n in range(LAPS)]
    alarm = first_alarm(calls)
    assert alarm is not None
    assert alarm <= 4


def test_a_refused_request_is_an_error_where_the_source_does_not_say_so() -> None:
    calls = [Did("fetch", "500 Internal Server Error", {"url": f"/api/items/{n}"}) for n in range(LAPS)]
    assert first_alarm(calls, "repetitive_errors") == 4


def test_numbers_that_several_failing_commands_print_are_no_message() -> None:
    calls = [Did("bash", "0", {"command": f"grep -c TODO src/module_{n}.py"}, exit_code=1) for n in range(LAPS)]
    assert first_alarm(calls, "repetitive_errors") is None


def cycle(*names: str) -> list[Did]:
    return [Did(name, f"result of {name}", {"path": f"{name}.py"}) for name in names] * 8


def test_two_calls_in_turn_are_told_by_the_sixth() -> None:
    alarm = first_alarm(cycle("view", "list"))
    assert alarm is not None
    assert alarm <= 6


def test_three_calls_in_turn_are_told_by_the_ninth() -> None:
    alarm = first_alarm(cycle("view", "list", "grep"))
    assert alarm is not None
    assert alarm <= 9


@pytest.mark.parametrize("length", [4, 5])
def test_longer_cycles_are_told_in_their_third_lap(length: int) -> None:
    alarm = first_alarm(cycle(*("view", "list", "grep", "find", "read")[:length]))
    assert alarm is not None
    assert alarm <= 3 * length


def rounds(results: list[str], error: bool | None = None) -> list[Did]:
    calls = []
    for n, result in enumerate(results):
        calls.append(Did("edit_file", "edited", {"path": "src/app.py", "text": f"version {n} = {n * 7}"}))
        calls.append(Did("bash", result, {"command": "pytest -q"}, error=error, exit_code=1))
    return calls


@pytest.mark.parametrize(
    "result",
    ["{n} failed, 12 passed in 0.{n}1s", "FAILED (failures={n})", "Tests: {n} failed, 40 total", "{n} errors found"],
)
def test_rounds_of_edit_and_test_whose_failures_shrink_are_never_told(result: str) -> None:
    assert first_alarm(rounds([result.format(n=n) for n in range(15, 0, -1)])) is None


@pytest.mark.parametrize(
    "result",
    [
        "FAILED tests/test_app.py::test_sum - assert 3 == 4\n1 failed, 12 passed in 0.{n}3s",
        "AssertionError: expected 4, got 3",
        "src/app.py:{n}: error: incompatible types\nFound 1 error in 1 file",
    ],
)
def test_rounds_of_edit_and_test_with_the_same_failure_are_told_by_the_fourth(result: str) -> None:
    alarm = first_alarm(rounds([result.format(n=n) for n in range(10, 25)]))
    assert alarm is not None
    assert alarm <= 8  # four rounds of two calls


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("format_file", "ok"),
        ("format_file", "formatted {path}"),
        ("lint", "no issues found"),
        ("read_file", "contents of {path}"),
        ("edit_file", "The file {path} has been edited."),
        ("bash", ""),
    ],
)
def test_a_batch_over_forty_files_is_never_told(tool: str, result: str) -> None:
    paths = [f"src/module_{n}.py" for n in range(40)]
    calls = [Did(tool, result.format(path=path), {"path": path}) for path in paths]
    assert first_alarm(calls) is None


@pytest.mark.parametrize(
    "result",
    [
        "2026-11-15T08:00:{n:02}Z nothing to do",
        "[08:00:{n:02}] nothing to do",
        "nothing to do (took 0.{n:02}s)",
        "nothing to do, request 3f2b9c{n:02}-6a1e-4c2b-9d3e-0a1b2c3d4e5f",
        "<Job object at 0x7f3a{n:02}ffe0>",
        "15/Nov/2026:08:00:{n:02} +0000 nothing to do",
    ],
)
def test_a_timestamp_in_the_result_does_not_hide_the_same_call(result: str) -> None:
    calls = [Did("check", result.format(n=n), {"what": "queue"}) for n in range(10, LAPS)]
    alarm = first_alarm(calls)
    assert alarm is not None
    assert alarm <= 4


def interleaved(found: str) -> list[Did]:
    calls = []
    for n in range(LAPS):
        calls.append(Did("read_file", "def main(): ...", {"path": "src/app.py"}))
        calls.append(Did("grep", found.format(n=n), {"pattern": f"token{n}"}))
    return calls


def test_noise_between_does_not_hide_the_same_call() -> None:
    alarm = first_alarm(interleaved("no matches found"))
    assert alarm is not None
    assert alarm <= 10


def test_the_same_call_between_others_that_bring_something_is_no_loop() -> None:
    assert first_alarm(interleaved("match number {n} in module{n}.py: token{n}")) is None
