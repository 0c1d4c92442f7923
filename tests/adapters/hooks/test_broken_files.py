"""Forged and broken events: whatever file or words an event names, calls are judged, and none that is refused runs."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import MakeSupervised, SupervisedRun, Waiting

DESTROY = "rm -rf ~/precious"
HANGING = Path(__file__).parents[2] / "e2e" / "hanging_fs.py"
ENTRY = json.dumps({"type": "assistant", "sessionId": "s", "message": {"id": "m", "content": []}}).encode() + b"\n"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def fifo_with_a_writer(path: Path) -> None:
    os.mkfifo(path)
    os.set_blocking(os.open(path, os.O_RDWR), True)


def bound_socket(path: Path) -> None:
    sock = socket.socket(socket.AF_UNIX)
    here = os.open(path.parent, os.O_RDONLY)
    sock.bind(f"/proc/self/fd/{here}/{path.name}")


def link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def content(data: bytes) -> Callable[[Path], None]:
    return lambda path: void(path.write_bytes(data))


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def without_rights(path: Path) -> None:
    path.write_bytes(ENTRY)
    path.chmod(0)


def below_a_file(path: Path) -> None:
    path.parent.joinpath("file").write_bytes(ENTRY)


def void(_: object) -> None:
    """For lambdas."""


FILES: dict[str, Callable[[Path], None]] = {
    "fifo": fifo,
    "fifo with a writer": fifo_with_a_writer,
    "socket": bound_socket,
    "folder": lambda path: path.mkdir(),
    "missing": lambda path: None,
    "no rights": without_rights,
    "sparse terabyte": sparse,
    "link to itself": lambda path: path.symlink_to(path),
    "link to nothing": link("nothing"),
    "link to zeroes": link("/dev/zero"),
    "link to the terminal": link("/dev/tty"),
    "link to stdin": link("/dev/stdin"),
    "link to memory": link("/proc/self/mem"),
    "link to the kernel's log": link("/proc/kmsg"),
    "link to a fifo": lambda path: (os.mkfifo(f"{path}.fifo"), path.symlink_to(f"{path}.fifo"))[1],
    "empty": content(b""),
    "no line end": content(b"{" * 100_000),
    "a long line": content(b'{"type":"' + b"x" * 20_000_000 + b'"}\n' + ENTRY),
    "not text": content(os.urandom(100_000) + b"\n"),
    "zeroes": content(bytes(100_000) + b"\n"),
    "deep": content(b"[" * 50_000 + b"]" * 50_000 + b"\n"),
    "lists": content(b"[1]\n" * 1000),
    "numbers": content(b'{"message": {"usage": {"input_tokens": -1e308, "output_tokens": 99999999999999999999}}}\n'),
    "surrogates": content(rb'{"type":"assistant","message":{"content":[{"type":"text","text":"\ud800"}]}}' + b"\n"),
    "many lines": content(ENTRY * 10_000),
}
PATHS: dict[str, object] = {
    "a zero byte": "/tmp/a\0b",
    "relative": "../../x",
    "too long": "/tmp/" + "x" * 5000,
    "empty": "",
    "a number": 7,
    "a list": ["/tmp/x"],
    "nothing": None,
    "/dev/zero": "/dev/zero",
    "/dev/random": "/dev/random",
    "/proc/kmsg": "/proc/kmsg",
    "/proc/self/mem": "/proc/self/mem",
    "/proc/self/environ": "/proc/self/environ",
    "below a file": "/etc/passwd/x",
    "a descriptor": "/proc/self/fd/0",
    "the root": "/",
}
LINES: dict[str, bytes] = {
    "no JSON": b'{"hook":',
    "a list": b"[]",
    "a deep list": b'{"hook":{"client":"claude-code","payload":' + b"[" * 50_000 + b"}}",
    "no client": b'{"hook":{"payload":{}}}',
    "another client": b'{"hook":{"client":"nobody","payload":{}}}',
    "an empty payload": b'{"hook":{"client":"claude-code","payload":{}}}',
    "a number as event": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":7}}}',
    "not text": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":"\xff"}}}',
    "a tool that is a list": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":"PreToolUse","tool_name":[]}}}',
    "input that is text": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":"x"}}}',
    "a surrogate": rb'{"hook":{"client":"claude-code","payload":{"hook_event_name":"Stop","transcript_path":"\udc80"}}}',
    "a result of nothing": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":"PostToolUse"}}}',
    "a batch of numbers": b'{"hook":{"client":"claude-code","payload":{"hook_event_name":"PostToolBatch","tool_calls":[1,2]}}}',
}


def within(work: Callable[[], Any], seconds: float = 20.0) -> Any:
    """The result of work that must not hang: a hook's client waits for ten seconds of silence."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    return found[0]


def is_judged(supervised: SupervisedRun, name: str, **more: Any) -> None:
    """A call that destroys is refused, and one that does not may run."""
    reply = within(lambda: supervised.call(f"{name}-1", DESTROY, **more))
    assert reply["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert within(lambda: supervised.call(f"{name}-2", "ls", **more)) == {}
    assert supervised.book.has_refused(None, f"{name}-1")


@pytest.mark.parametrize("kind", FILES)
def test_a_transcript_that_is_no_transcript(supervised: SupervisedRun, kind: str) -> None:
    path = supervised.root / "odd"
    FILES[kind](path)
    is_judged(supervised, kind, transcript_path=str(path))
    is_judged(supervised, "after", transcript_path=str(supervised.transcript))
    within(supervised.exchange.read_transcripts)


@pytest.mark.parametrize("kind", PATHS)
def test_a_transcript_at_an_odd_path(supervised: SupervisedRun, kind: str) -> None:
    is_judged(supervised, kind, transcript_path=PATHS[kind])


@pytest.mark.parametrize("kind", FILES)
def test_settings_that_are_no_settings(supervised: SupervisedRun, kind: str) -> None:
    path = supervised.root / "odd"
    FILES[kind](path)
    within(lambda: supervised.hook("ConfigChange", source="user_settings", file_path=str(path)))
    is_judged(supervised, kind)


@pytest.mark.parametrize("kind", LINES)
def test_a_broken_line(supervised: SupervisedRun, kind: str) -> None:
    within(lambda: supervised.exchange.answer(LINES[kind], Waiting()))
    is_judged(supervised, kind)


def test_a_transcript_that_comes_and_goes(supervised: SupervisedRun) -> None:
    """As a file, a FIFO and nothing, while it is read."""
    path, over = supervised.root / "odd", threading.Event()

    def change() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                path.write_bytes(ENTRY)
                path.unlink()
                os.mkfifo(path)
                path.unlink()

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for number in range(100):
            assert within(lambda: supervised.call(f"c{number}", "ls", transcript_path=str(path))) == {}  # noqa: B023
        is_judged(supervised, "last", transcript_path=str(path))
    finally:
        over.set()
        thread.join()


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0 or not Path("/dev/fuse").exists():
        pytest.skip("only root can mount a file system that hangs")
    folder = tmp_path / "hanging"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(HANGING), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    if process.stdout.readline() != b"mounted\n":
        pytest.skip("no FUSE here")
    yield folder
    process.stdin.close()
    process.wait()
    subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def test_a_transcript_on_a_file_system_that_hangs(supervised: SupervisedRun, hanging: Path) -> None:
    is_judged(supervised, "slow", transcript_path=str(hanging / "x"))
    is_judged(supervised, "after", transcript_path=str(supervised.transcript))


def test_text_that_is_read_late_still_becomes_a_step(
    supervised: SupervisedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interlock.adapters.hooks.exchange.PATIENCE_S", 0.0)
    message = {"id": "m", "role": "assistant", "content": [{"type": "text", "text": "late words"}]}
    supervised.transcript.write_text(json.dumps({"type": "assistant", "sessionId": "s", "message": message}) + "\n")
    assert supervised.call("c1", "ls") == {}
    for thread in threading.enumerate():
        if thread.name == "interlock-transcript":
            thread.join()
    assert "late words" in [step.get("content") for step in supervised.steps()]


def test_a_refusal_that_nobody_waited_for_pauses_the_run(
    supervised_with: MakeSupervised, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where hooks fail open, its client takes silence for leave to run the call."""
    monkeypatch.setattr("interlock.adapters.hooks.exchange.DEADLINE_S", -1)
    supervised = supervised_with({"runtime": {"fail": "open"}})

    class Leaves(Waiting):
        def __init__(self) -> None:
            super().__init__()
            self.asked = 0

        def waits(self) -> bool:
            return False

    from interlock.core import Decision

    monkeypatch.setattr(supervised.exchange, "_decide", lambda event, client: Decision("deny", reason="no"))
    supervised.call("c1", DESTROY, client=Leaves())
    assert supervised.supervisor.run.gate.status in ("pausing", "paused")
    assert "a refused call may have run: its client no longer waited" in supervised.guardian.noticed
