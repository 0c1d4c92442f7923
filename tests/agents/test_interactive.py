"""The clients' own full-screen interfaces under `interlock run`, with the real client on a terminal."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from interlock.demo.model import ScriptedModel, run, turns

from .clients import AGENT_S, CLIENTS, AgentPlace, Client

pytestmark = pytest.mark.torture

WAYS = {
    "claude-code": (("claude", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"), "❯"),
    "codex": (("codex", "--dangerously-bypass-approvals-and-sandbox"), "Ask Codex"),
    "gemini": (("gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo"), "Type your message"),
    "opencode": (("opencode",), "Ask anything"),
}
"""How a person starts it, and what it shows when it can be typed at."""

REPLIES = {
    b"\x1b[c": b"\x1b[?62;c",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b]10;?": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[?u": b"\x1b[?0u",
}
"""What a terminal answers when it is asked what it is."""

QUIET_S = 1.5
AGAIN_S = 3.0


class Terminal:
    """A terminal of 30 lines with a run on it."""

    def __init__(self, words: list[str], place: AgentPlace) -> None:
        self.pid, self._file = pty.fork()
        if self.pid == 0:
            os.chdir(place.workspace)
            os.execve(words[0], words, {**place.environment, "TERM": "xterm-256color"})
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("4H", 30, 100, 0, 0))
        self.shown = b""
        self.status: int | None = None

    def type(self, keys: str) -> None:
        with contextlib.suppress(OSError):
            os.write(self._file, keys.encode())

    def watch(self, seconds: float, is_over: Callable[[], object]) -> bool:
        """Read what is shown until something is so; False where the time is up before."""
        deadline = time.monotonic() + seconds
        while not is_over():
            if time.monotonic() > deadline:
                return False
            if not select.select([self._file], [], [], 0.1)[0]:
                continue
            with contextlib.suppress(OSError):
                data = os.read(self._file, 65_536)
                self.shown += data
                for asked, reply in REPLIES.items():
                    if asked in data:
                        os.write(self._file, reply)
        return True

    def rest(self) -> None:
        """Wait until it draws no more."""
        before = -1
        while before != len(self.shown):
            before = len(self.shown)
            self.watch(QUIET_S, lambda: False)

    def insist(self, keys: str, every_s: float, is_over: Callable[[], object]) -> None:
        """Type the same again and again until something is so: a key that comes too early is not heard."""
        deadline = time.monotonic() + AGENT_S
        while not is_over():
            assert time.monotonic() < deadline, self.shown[-4000:]
            self.type(keys)
            self.watch(every_s, is_over)

    def has_ended(self) -> bool:
        if self.status is None:
            pid, result = os.waitpid(self.pid, os.WNOHANG)
            self.status = os.waitstatus_to_exitcode(result) if pid else None
        return self.status is not None

    def close(self) -> None:
        if not self.has_ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)


@pytest.fixture(params=CLIENTS, ids=lambda client: client.name)
def place(
    request: pytest.FixtureRequest, agents_folder: Path, tmp_path: Path, record_property: Callable[..., None]
) -> Iterator[AgentPlace]:
    client: Client = request.param
    record_property("agent", f"{client.name} interactive")
    record_property("version", client.version(agents_folder, tmp_path))
    script = turns(run("echo 1 > first"), run("rm -rf ~/precious"), run("echo 1 > last"), "All is finished.")
    with ScriptedModel(script) as model:
        place = AgentPlace(tmp_path, client, model, agents_folder, {})
        (place.home / "precious").mkdir()
        settle_in(place)
        yield place
        place.close()


def settle_in(place: AgentPlace) -> None:
    """What a person was asked at the first start: the key is known, the folder is trusted."""
    if place.client.name == "claude-code":
        trusted = {str(place.workspace): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
        keys = {"approved": ["dummy"], "rejected": []}
        known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": keys, "projects": trusted}
        (place.home / ".claude").mkdir(exist_ok=True)
        (place.home / ".claude" / ".claude.json").write_text(json.dumps(known))
    elif place.client.name == "codex":
        with (place.home / ".codex" / "config.toml").open("a") as file:
            file.write(f'[projects."{place.workspace}"]\ntrust_level = "trusted"\n')


def test_a_person_types_a_task_and_every_call_of_it_is_supervised(place: AgentPlace) -> None:
    words, ready = WAYS[place.client.name]
    terminal = Terminal(place.command(*words), place)
    try:
        assert terminal.watch(AGENT_S, lambda: ready.encode() in terminal.shown), terminal.shown[-4000:]
        terminal.rest()
        terminal.type("do the work")
        terminal.rest()
        terminal.insist("\r", AGAIN_S, (place.workspace / "last").exists)
        terminal.rest()
        # Twice in a row; more would reach us when the client has given the terminal back.
        terminal.type("\x03")
        terminal.watch(0.3, lambda: False)
        terminal.insist("\x03", AGENT_S, terminal.has_ended)
    finally:
        terminal.close()
    assert terminal.status == 0
    assert (place.workspace / "first").exists()
    assert (place.home / "precious").exists()
    assert len(place.steps("tool_call")) == 3
    told = place.told()
    assert told["tokens"] > 0
    assert told["processes_left"] == 0
