"""Time-outs: how clients report a call that they ended, and what becomes of many."""

from __future__ import annotations

import pytest
from detecting import Did, steps, watch

from interlock.core import read_time_out

COMMAND = "python reproduce_issue.py && echo done"

FORMS = (
    ("claude code", "Command timed out after 2m 0.0s"),
    ("claude code", "Exit code 143\nCommand timed out after 2m 0s\nstep 1\nstep 2"),
    ("claude code", "Error: Exit code 143\nCommand timed out after 10m 0.0s"),
    ("claude code", "Command timed out after 30s"),
    ("codex", "command timed out after 10018 milliseconds\n"),
    ("codex", "Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out after 10018 milliseconds\nworking"),
    ("codex", "execution error: command timed out after 120000 milliseconds"),
    (
        "gemini",
        "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. "
        "Below is the output before it was cancelled:\nstep 1",
    ),
    (
        "gemini",
        "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output. "
        "There was no output before it was cancelled.",
    ),
    ("gemini", "Command timed out after 300 seconds."),
    (
        "opencode",
        "Blocking waiting for file lock\n\n\n<bash_metadata>\n"
        "bash tool terminated command after exceeding timeout 120000 ms\n</bash_metadata>",
    ),
    (
        "opencode",
        "<bash_metadata>\nbash tool terminated command after exceeding timeout 60000 ms. If this command is expected to "
        "take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.\n"
        "</bash_metadata>",
    ),
    ("opencode", "(Command timed out after 120000 ms)"),
    (
        "openhands",
        "yarn run v1\n[The command has no new output after 30 seconds. You may wait longer to see additional output by "
        "sending empty command '', send other commands to interact with the current process, or send keys to "
        "interrupt/kill the command.]",
    ),
    ("openhands", "[The command timed out after 120.0 seconds. You may wait longer to see additional output.]"),
    ("openhands", "[Command timed out after 600 seconds]"),
    (
        "mini-swe-agent",
        f"The last command <command>{COMMAND}</command> timed out and has been killed.\n"
        "The output of the command was:\n<output>\n",
    ),
    (
        "mini-swe-agent",
        f"<returncode>-1</returncode>\n<exception>Command '{COMMAND}' timed out after 30 seconds</exception>",
    ),
    (
        "mini-swe-agent",
        "An exception occurred while executing the command: Command '['bash', '-c', "
        f"'{COMMAND}']' timed out after 60 seconds",
    ),
    ("swe-agent", "EXECUTION TIMED OUT"),
    (
        "swe-agent",
        "EXECUTION TIMED OUT BECAUSE NO OUTPUT WAS PRODUCED FOR MORE THAN 30 SECONDS.\n"
        "PLEASE REFINE YOUR RUNNING COMMAND SO IT WILL PRODUCE OUTPUT IN THE SPECIFIED TIME FRAME.",
    ),
    (
        "swe-agent",
        f"The command '{COMMAND}' was cancelled because it took more than 30 seconds. "
        "Please try a different command that completes more quickly.",
    ),
    ("swe-agent", f"CommandTimeoutError: Command '{COMMAND}' timed out after 30 seconds"),
    ("claude code", "timed out: bash has not returned in 120.0 seconds and must be restarted"),
)

NOT_OURS = (
    "scp: server-1: Connection timed out",
    "E   TimeoutError: DB connection timed out after 5s",
    "error: timed out waiting for the condition",
    "FAILED test_large_dataset - Timeout: 30s exceeded",
    "  timeout: 30s",
    "plugins: timeout-2.1.0, xdist-3.6.1",
    "curl: (28) Operation timed out after 5001 milliseconds with 0 bytes received",
    "tests/test_x.py::test_command_timeout PASSED",
    "src/shell.py:12:    raise Error(f'command timed out after {n}')",
)


@pytest.mark.parametrize(("client", "text"), FORMS)
def test_every_client_s_form_is_a_time_out(client: str, text: str) -> None:
    assert read_time_out(None, text, COMMAND)


@pytest.mark.parametrize("text", NOT_OURS)
def test_a_program_s_own_time_out_or_a_mention_of_one_is_not(text: str) -> None:
    assert not read_time_out(1, text, COMMAND)


@pytest.mark.parametrize(("code", "ended"), [(124, True), (137, True), (0, False), (1, False)])
def test_the_exit_status_tells_where_there_is_one(code: int, ended: bool) -> None:
    assert read_time_out(code, "step 1", COMMAND) is ended


def ended(number: int) -> Did:
    command = f"python reproduce_issue_{number}.py"
    text = (
        f"The last command <command>{command}</command> timed out and has been killed.\nThe output of the command was:"
    )
    return Did("bash", text, {"command": command}, error=True)


def test_three_in_ten_calls_are_one_issue_whatever_they_ran() -> None:
    looks = [Did("bash", f"line {number} of the file", {"command": f"cat part{number}.py"}) for number in range(9)]
    calls = [ended(1), *looks[:3], ended(2), *looks[3:6], ended(3), *looks[6:]]
    (issue,) = watch(steps(calls))
    assert (issue.type, issue.severity) == ("repetitive_errors", "medium")
    assert issue.description.startswith("3 of the last 9 calls were ended at a time limit")
    assert "in the background" in issue.description and "raise the limit" in issue.description
    assert issue.stuck is not None and issue.stuck.most == 0
    assert watch(steps([ended(1), *looks, ended(2), *looks[:3], ended(3)])) == []


def test_a_call_that_sets_its_own_limit_only_waits() -> None:
    follow = Did("bash", "migrating orders", {"command": "timeout 60 tail -n 2 -f migrate.log"}, exit_code=124)
    assert watch(steps([follow] * 20)) == []
