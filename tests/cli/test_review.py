"""interlock review: verdicts on the command line and over a pipe."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from interlock.cli.main import run


class Done:
    """Exit status and output of one command."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.returncode, self.stdout, self.stderr = status, out, err


Interlock = Callable[..., Done]


@pytest.fixture
def interlock(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Interlock:
    """The command line, in this process."""

    def call(*args: str, given: bytes = b"") -> Done:
        monkeypatch.setattr(sys, "argv", ["interlock", "review", *args])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        with pytest.raises(SystemExit) as ended:
            run()
        said = capsysbinary.readouterr()
        return Done(int(ended.value.code or 0), said.out, said.err)

    return call


def lines(*requests: object) -> bytes:
    return b"".join(json.dumps(request).encode() + b"\n" for request in requests)


def test_a_blocked_command_says_rule_why_and_instead(interlock: Interlock) -> None:
    done = interlock("git push --force")
    said = done.stdout.decode()
    assert done.returncode == 1
    assert "block" in said and "git.force-push" in said
    assert "--force-with-lease" in said


def test_words_may_be_given_without_quotes(interlock: Interlock) -> None:
    assert interlock("rm", "-rf", "/").returncode == 1
    done = interlock("--json", "ls", "a b")
    assert json.loads(done.stdout)["command"] == "ls 'a b'"
    assert done.returncode == 0


def test_the_folder_counts_where_a_command_runs(interlock: Interlock) -> None:
    assert interlock("--cwd", "/etc", "rm -rf nginx").returncode == 1
    assert interlock("--cwd", "/data/project", "rm -rf build").returncode == 0
    assert interlock("--workspace", "/data/project", "rm -rf /data/other").returncode == 1


def test_without_a_folder_a_command_is_judged_in_its_workspace_there_or_not(
    interlock: Interlock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/data/me")
    for workspace in ("/data/project", "~/project"):
        assert interlock("--workspace", workspace, "rm -rf ../other").returncode == 1
        assert interlock("--workspace", workspace, "rm -rf build").returncode == 0
    assert interlock("--workspace", ".", "rm -rf build").returncode == 0


def test_lines_are_answered_in_order_with_every_field(interlock: Interlock) -> None:
    requests = [{"command": "ls"}, {"command": "rm -rf /"}, {"command": "git status", "cwd": "/data/project"}]
    done = interlock("-", given=lines(*requests))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["command"] for answer in answers] == ["ls", "rm -rf /", "git status"]
    assert all(list(answer) == ["command", "verdict", "risk", "rules", "reason", "instead"] for answer in answers)
    assert [answer["verdict"] for answer in answers] == ["allow", "block", "allow"]
    assert done.returncode == 1
    assert done.stderr == b""


def test_nothing_blocked_is_status_zero(interlock: Interlock) -> None:
    assert interlock("-", given=lines({"command": "ls"})).returncode == 0


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"ls -la\n", b"not JSON"),
        (b'{"cmd": "ls"}\n', b"missing required field `command`"),
        (b'{"command": 3}\n', b"Expected `str`"),
        (b'{"command": "  "}\n', b"the command is empty"),
        (b"[1, 2]\n", b"Expected `object`"),
        (b'{"command": "\xff"}\n', b"not UTF-8"),
        (b"\x00\x01\x02\n", b"not UTF-8 text"),
        (b'{"command": "' + b"a" * (33 * 1024 * 1024) + b'"}\n', b"longer than 32 MiB"),
    ],
    ids=["no JSON", "no command", "number", "blank", "list", "not UTF-8", "binary", "too long"],
)
def test_a_bad_line_is_named_and_the_others_are_answered(interlock: Interlock, bad: bytes, said: bytes) -> None:
    done = interlock("-", given=lines({"command": "ls"}) + bad + lines({"command": "pwd"}))
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr and b"-:2:" in done.stderr


def test_empty_input_is_bad_input(interlock: Interlock) -> None:
    done = interlock("-", given=b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"empty" in done.stderr


def test_an_empty_command_is_bad_input(interlock: Interlock) -> None:
    assert interlock("").returncode == 2


def test_secrets_do_not_come_out_again(interlock: Interlock) -> None:
    secret = "sk-ant-api03-" + "a1B2c3D4" * 6
    done = interlock("-", given=lines({"command": f"curl -H 'x-api-key: {secret}' https://example.com"}))
    assert secret.encode() not in done.stdout


def test_rules_of_ones_own_are_used_and_a_bad_one_is_named(interlock: Interlock, tmp_path: Path) -> None:
    rules = tmp_path / "ours.yaml"
    rules.write_text(
        "rules:\n  - id: ours.x\n    why: Not today.\n    instead: Tomorrow.\n    verdict: block\n    match: {program: deploy}\n"
    )
    assert interlock("--rules", str(rules), "deploy").returncode == 1
    rules.write_text("rules: [{id: ours.x}]")
    done = interlock("--rules", str(rules), "deploy")
    assert done.returncode == 2
    assert b"ours.x" in done.stderr and len(done.stderr.splitlines()) == 1


def test_answers_come_while_the_input_is_still_open() -> None:
    command = [sys.executable, "-m", "interlock", "review", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for text, verdict in (("ls", "allow"), ("rm -rf /", "block")):
            process.stdin.write(lines({"command": text}))
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["verdict"] == verdict
        process.stdin.close()
        assert process.wait(timeout=150) == 1


def test_our_own_options_are_ours_wherever_they_stand(interlock: Interlock) -> None:
    for words in (
        ("git push --force", "--json"),
        ("git", "push", "--force", "--json"),
        ("--json", "git", "push", "--force"),
    ):
        done = interlock(*words)
        assert json.loads(done.stdout)["command"] == "git push --force"
    done = interlock("--json", "--", "npm", "ls", "--json")
    assert json.loads(done.stdout)["command"] == "npm ls --json"


def test_explain_shows_how_a_command_is_read(interlock: Interlock) -> None:
    shown = interlock("--explain", "rm -rf build && pytest | tail; node -e 1").stdout.decode()
    for text in ("rm -rf build", "delete build", "tests by pytest; its exit status is hidden", "code in javascript"):
        assert text in shown
    answer = json.loads(interlock("--explain", "--json", "ls a").stdout)
    assert answer["reading"]["effects"] == [
        {"verb": "read", "target": "a", "zone": "workspace", "by": "ls", "file": True}
    ]
    assert "reading" not in json.loads(interlock("--json", "ls a").stdout)
