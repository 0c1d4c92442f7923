"""The hook client, compiled and in the bare interpreter: the same behaviour."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from pathlib import Path

import pytest

from interlock.adapters.hooks.hookclient_build import client_path, compile_client, hook_command, is_ours, python_command
from tests.gates import write_gate

from .fake_owner import FakeOwner, say

PAYLOAD = b'{"session_id":"s-1",\n "hook_event_name":"PreToolUse"}\n'


@pytest.fixture(params=["compiled", "python"])
def command(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if request.param == "python":
        return python_command()
    compiled = compile_client()
    if compiled is None:
        pytest.skip("there is no C compiler here")
    return (str(compiled),)


def call(command: tuple[str, ...], *words: object, data: bytes = PAYLOAD, **more: str) -> tuple[int, bytes, bytes]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("INTERLOCK")}
    done = subprocess.run(
        [*command, *map(str, words)],
        input=data,
        env={**environment, **more},
        capture_output=True,
        timeout=150,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_payload_goes_as_one_line_and_the_reply_comes_out(command: tuple[str, ...], tmp_path: Path) -> None:
    with FakeOwner(tmp_path / "s", say(b'{"continue":true}')) as owner:
        assert call(command, "--socket", owner.path, "claude-code") == (0, b'{"continue":true}', b"")
    (line,) = owner.lines
    assert json.loads(line) == {"hook": {"client": "claude-code", "payload": json.loads(PAYLOAD)}}


def test_the_environment_names_the_socket(command: tuple[str, ...], tmp_path: Path) -> None:
    with FakeOwner(tmp_path / "s", say(b"{}")) as owner:
        serve = tmp_path / "serve"
        assert call(command, "--serve", serve, "codex", INTERLOCK_SOCKET=str(owner.path))[:2] == (0, b"{}")
    with FakeOwner(tmp_path / "serve", say(b'{"a":1}')) as owner:
        assert call(command, "--serve", owner.path, "codex")[:2] == (0, b'{"a":1}')


def test_a_payload_of_megabytes_arrives_whole(command: tuple[str, ...], tmp_path: Path) -> None:
    data = json.dumps({"tool_input": {"content": "x\n" * 2_000_000}}).encode()
    reply = b'{"x":"' + b"y" * 300_000 + b'"}'
    with FakeOwner(tmp_path / "s", say(reply)) as owner:
        assert call(command, "--socket", owner.path, "codex", data=data)[:2] == (0, reply)
    assert json.loads(owner.lines[0])["hook"]["payload"] == json.loads(data)


def test_empty_lines_keep_it_waiting_beyond_its_deadline(command: tuple[str, ...], tmp_path: Path) -> None:
    spoken = threading.Event()

    def waits_for(path: Path, deadline: float) -> bool:
        def answer(line: bytes, sock: object) -> None:
            for _ in range(8):
                sock.sendall(b"\n")  # type: ignore[attr-defined]
                spoken.wait(deadline / 5)
            sock.sendall(b'{"late":1}\n')  # type: ignore[attr-defined]

        with FakeOwner(path, answer) as owner:
            words = ("--before", "--closed", "--deadline", deadline, "--socket", owner.path, "codex")
            return call(command, *words)[:2] == (0, b'{"late":1}')

    # Where a machine is so busy that a line comes after the deadline, a longer one shows it.
    assert any(waits_for(tmp_path / f"s{deadline}", deadline) for deadline in (0.5, 5, 50))


@pytest.mark.parametrize("before", [True, False], ids=["before a step", "at another event"])
def test_without_an_owner_a_step_is_let_or_refused_as_configured(
    command: tuple[str, ...], tmp_path: Path, before: bool
) -> None:
    words = ("--socket", tmp_path / "nobody", *(("--before",) if before else ()), "claude-code")
    assert call(command, *words) == (0, b"", b"")
    status, out, err = call(command, "--closed", *words)
    assert (status, out) == ((2, b"") if before else (0, b""))
    assert (b"fail closed" in err) is before
    assert call(command, *words, INTERLOCK_FAIL="closed")[0] == (2 if before else 0)


def test_an_owner_that_hangs_is_not_waited_for_longer_than_the_deadline(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    over = threading.Event()
    with FakeOwner(tmp_path / "s", lambda line, sock: over.wait(150) and None) as owner:
        words = ("--before", "--deadline", 0.2, "--socket", owner.path, "codex")
        assert call(command, *words)[0] == 0
        assert call(command, "--closed", *words)[0] == 2
        over.set()


def test_an_owner_that_dies_is_asked_again(command: tuple[str, ...], tmp_path: Path) -> None:
    answers = [say(), say(), say(b'{"third":1}')]
    with FakeOwner(tmp_path / "s", lambda line, sock: answers.pop(0)(line, sock)) as owner:
        assert call(command, "--before", "--closed", "--socket", owner.path, "codex")[:2] == (0, b'{"third":1}')
    assert len(set(owner.lines)) == 1


def test_a_refusal_is_never_passed_on(command: tuple[str, ...], tmp_path: Path) -> None:
    with FakeOwner(tmp_path / "s", say(b'{"error":"what?"}')) as owner:
        assert call(command, "--before", "--socket", owner.path, "codex")[:2] == (0, b"")
        assert call(command, "--before", "--closed", "--socket", owner.path, "codex")[0] == 2


def test_a_shut_gate_holds_the_step_until_it_opens(command: tuple[str, ...], tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    write_gate(gate, "paused", 1)
    words = [*command, "--before", "--socket", str(tmp_path / "nobody"), "--gate", str(gate), "codex"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(PAYLOAD)
    process.stdin.close()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)
    write_gate(gate, "running", 2)
    assert process.wait(150) == 0
    assert process.stdout is not None
    process.stdout.close()


def test_a_gate_that_cannot_be_read_is_shut(command: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    words = [*command, "--before", "--socket", str(tmp_path / "nobody"), "--gate", str(tmp_path / "gate"), "codex"]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.4)
    process.kill()
    process.wait()


def test_an_installed_hook_finds_the_gate_of_its_session(command: tuple[str, ...], tmp_path: Path) -> None:
    write_gate(tmp_path / "s-1", "paused", 1)
    words = [*command, "--before", "--serve", str(tmp_path / "nobody"), "--gates", str(tmp_path), "codex"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("INTERLOCK")}
    held = subprocess.Popen(words, stdin=subprocess.PIPE, env=environment)
    assert held.stdin is not None
    held.stdin.write(PAYLOAD)
    held.stdin.close()
    with pytest.raises(subprocess.TimeoutExpired):
        held.wait(0.4)
    held.kill()
    held.wait()
    assert call(tuple(words), data=PAYLOAD.replace(b"s-1", b"s-2"))[0] == 0


def test_a_run_is_named_by_the_words_before_the_environment(command: tuple[str, ...], tmp_path: Path) -> None:
    with FakeOwner(tmp_path / "s", say(b"{}")) as owner:
        words = ("--before", "--closed", "--socket", owner.path, "codex")
        assert call(command, *words, INTERLOCK_SOCKET=str(tmp_path / "elsewhere"))[0] == 0


def test_the_client_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = compile_client()
    if first is None:
        pytest.skip("there is no C compiler here")
    made = first.stat()
    assert compile_client() == first == client_path()
    assert first.stat().st_mtime_ns == made.st_mtime_ns
    first.chmod(0o777)
    assert not is_ours(first)


def test_without_a_compiler_the_interpreter_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert hook_command() == python_command()
