"""Reading a step: what is taken out, what counts as a failure, what a call is for."""

from __future__ import annotations

import pytest

from interlock.core import Step, Tool
from interlock.detect.effect import read_effect, read_paths, reading_of
from interlock.detect.failure import read_failure
from interlock.detect.fingerprint import alike, bounded, normalise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("done at 2026-11-15T08:01:02.123Z", "done at 2026-11-16T09:11:12.456Z"),
        ("took 0.31s", "took 12.5s"),
        ("took 45 ms", "took 9 ms"),
        ("<Job at 0x7f00aa11>", "<Job at 0x7fffbb22>"),
        ("commit 3f2b9c1a7d", "commit 9a8b7c6d5e"),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174999"),
        ("wrote /tmp/tmpab12cd34/out.txt", "wrote /tmp/tmpzz99yy88/out.txt"),
        ("pid 4211 started", "pid 977 started"),
        ('File "app.py", line 12, in main', 'File "app.py", line 31, in main'),
        ("\x1b[31mred\x1b[0m", "\x1b[32mred\x1b[0m"),
        ("at 1763193600", "at 1763197200"),
    ],
)
def test_what_differs_from_run_to_run_is_taken_out(one: str, other: str) -> None:
    assert normalise(one.encode()) == normalise(other.encode())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 failed, 10 passed", "4 failed, 10 passed"),
        ("progress 10%", "progress 20%"),
        ("copied 1234567 bytes", "copied 2345678 bytes"),
        ("version 1.2.3", "version 1.2.4"),
        ("status: running", "status: done"),
    ],
)
def test_what_says_how_far_it_got_stays(one: str, other: str) -> None:
    assert normalise(one.encode()) != normalise(other.encode())


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        ("done; Next action: {ls}", "done"),
        ("; Next action: {ls}", ""),
        ("the Next action: {ls}", "the Next action: {ls}"),
    ],
)
def test_the_next_call_after_a_result_is_not_part_of_it(result: str, kept: str) -> None:
    assert normalise(result.encode()) == kept.encode()


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [("", "", 1.0), ("a", "", 0.0), ("", "a", 0.0), ("a b", "a b", 1.0), ("a b c", "b c d", 0.5), ("a", "b", 0.0)],
)
def test_how_alike_two_texts_are_is_the_share_of_their_words_that_both_have(one: str, other: str, share: float) -> None:
    assert alike(set(one.encode().split()), set(other.encode().split())) == share


def failure(result: str, asked: str = "bash\0{}", script: bool = False, **how: object) -> str | None:
    step = Step(run_id="r", index=1, role="tool", kind="tool_result", content=result, **how)  # type: ignore[arg-type]
    found = read_failure(step, normalise(result.encode()), asked.encode(), script)
    return None if found is None else found.decode()


@pytest.mark.parametrize(
    "result",
    [
        "Error: cannot open file",
        "ERROR:\nNo replacement was performed",
        "bash: foo: command not found",
        "fatal: not a git repository",
        "Traceback (most recent call last):\n  File 'a.py', line 1\nKeyError: 'x'",
        "collected 3 items\n\n[Command finished with exit code 1]",
        "== 1 FAILED ==",
        "Your fix did not target all the lines.",
    ],
)
def test_a_complaint_is_a_failure(result: str) -> None:
    assert failure(result) is not None


@pytest.mark.parametrize(
    "result",
    [
        "File created successfully at: /srv/reproduce_error.py",
        "The file /srv/error_handler.py has been edited.",
        "Here's the result of running `cat -n`:\n     1\traise ValueError('not found')",
        "ruff: no errors found",
        "0 failed, 12 passed",
        "12 passed\n[Command finished with exit code 0]",
        "",
    ],
)
def test_a_report_that_only_mentions_errors_is_not(result: str) -> None:
    assert failure(result) is None


def test_what_the_source_says_goes_before_what_the_text_looks_like() -> None:
    assert failure("Error: this is only text", error=False) is None
    assert failure("all fine", error=True) is not None
    assert failure("all fine", exit_code=3) is not None
    assert failure("Error: ignored", exit_code=0) is None


def test_what_the_message_repeats_of_the_call_is_masked() -> None:
    one = failure("Error: no such file: '/srv/a.txt'", 'read\0{"path":"/srv/a.txt"}', error=True)
    other = failure("Error: no such file: '/srv/b.txt'", 'read\0{"path":"/srv/b.txt"}', error=True)
    assert one == other


def test_what_the_call_did_not_say_stays() -> None:
    asked = 'bash\0{"command":"python app.py"}'
    one = failure("ModuleNotFoundError: No module named 'numpy'", asked, script=True, error=True)
    other = failure("ModuleNotFoundError: No module named 'scipy'", asked, script=True, error=True)
    assert one != other


@pytest.mark.parametrize(
    ("tool", "effect"),
    [
        (Tool("Read", {"file_path": "a.py"}), "read"),
        (Tool("Grep", {"pattern": "x"}), "read"),
        (Tool("Edit", {"file_path": "a.py"}), "write"),
        (Tool("MultiEdit", {}), "write"),
        (Tool("str_replace_editor", {"command": "str_replace", "path": "a.py"}), "write"),
        (Tool("str_replace_editor", {"command": "view", "path": "a.py"}), "read"),
        (Tool("Bash", {"command": "ls -la"}), "run"),
        (Tool("Bash", {"command": "echo hi > out.txt"}), "write"),
        (Tool("Bash", {"command": "sed -i s/a/b/ x"}), "write"),
        (Tool("Bash", {"command": "pytest 2>&1"}), "run"),
        (Tool("Bash", {"command": "grep x y > /dev/null"}), "run"),
        (Tool("Bash", {"command": "awk '$1>1 {print $2}' data.txt"}), "run"),
        (Tool("Bash", {"command": "git commit -m 'x'"}), "write"),
        (Tool("python", {"code": "if a > b:\n    print(a)"}), "run"),
        (Tool("python", {"code": "open('x', 'w').write('y')"}), "write"),
        (Tool("TodoWrite", {}), "think"),
        (Tool("final_answer", {"answer": 4}), "answer"),
        (Tool("python", {"code": "final_answer(4)"}), "answer"),
        (Tool("web_search", {"query": "x"}), "read"),
        (Tool("update_reservation", {}), "write"),
        (Tool("frobnicate", {}), "run"),
    ],
)
def test_what_a_call_is_for_shows_in_its_name_and_arguments(tool: Tool, effect: str) -> None:
    assert read_effect(tool, reading_of(tool)) == effect


@pytest.mark.parametrize(
    ("tool", "paths"),
    [
        (Tool("Read", {"file_path": "/a/b.py"}), ["/a/b.py"]),
        (Tool("Bash", {"command": "cat src/app.py | head; ls /etc"}), ["src/app.py", "/etc"]),
        (Tool("Bash", {"command": "echo hello > ~/.env"}), ["~/.env"]),
        (Tool("Bash", {"command": "cat .env"}), [".env"]),
        (Tool("Bash", {"command": "cp .env.production x; head .git/config"}), [".env.production", "x", ".git/config"]),
        (Tool("Bash", {"command": "jq .name data.json"}), ["data.json"]),
        (Tool("Bash", {"command": "git status"}), []),
        (Tool("web_search", {"query": "a/b testing"}), []),
    ],
)
def test_the_paths_of_a_call_are_found(tool: Tool, paths: list[str]) -> None:
    step = Step(run_id="r", index=0, role="assistant", kind="tool_call", tool=tool)
    assert read_paths(step, reading_of(tool)) == paths


def test_of_a_long_text_its_head_and_tail_are_read() -> None:
    text = "a" * 50 + "b" * 50 + "c" * 50
    assert bounded(text, 10, 5) == b"a" * 10 + b"\n" + b"c" * 5
    assert bounded(text, 10, 0) == b"a" * 10
    assert bounded(text, 100, 50) == text.encode()
