"""The ways in which a run hangs, each injected into a real run: which word it gets, and what is done about it."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .running import ON_TERMINAL, Place, fill

TOLD_S = 90.0
"""The promise is 60 s; a busy machine gets a margin."""

START = """
import http.client, json, os, signal, subprocess, sys, threading, time, urllib.parse
from interlock.adapters.command import Steps
steps = Steps()
steps.say("at work")
def ask(stream=False):
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "stream": stream, "tools": [{"name": "Bash", "input_schema": {}}],
            "messages": [{"role": "user", "content": "hi"}]}
    where = urllib.parse.urlsplit(os.environ["ANTHROPIC_BASE_URL"])
    connection = http.client.HTTPConnection(where.hostname, where.port)
    connection.request("POST", where.path + "/v1/messages", json.dumps(body), {"content-type": "application/json"})
    try:
        connection.getresponse().read()
    except Exception as error:
        print("broke:", type(error).__name__, flush=True)
def tool(*command):
    steps.before("bash", {"command": " ".join(command)})
    open("began", "w").close()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    answer = steps.after("ended", exit_code=done.returncode)
    open("heard", "w").write(json.dumps(answer))
def began():
    open("began", "w").close()
"""

AGENTS = {
    "half-open stream": "began(); ask(stream=True)",
    "only pings": "began(); ask(stream=True)",
    "client spins": "began()\nwhile True: pass",
    "client deadlocked": "began(); signal.pause()",
    "tool reads the terminal": "tool(sys.executable, '-c', TERMINAL)",
    "tool never ends": "tool('sleep', '1000'); time.sleep(1000)",
    "pipe held by a child": "tool('sh', '-c', 'sleep 1000 & exit 0'); time.sleep(1000)",
    "owner hung": "began(); time.sleep(1000)",
    "disk full": "began(); time.sleep(1000)",
    "network gone": "began()\nfor _ in range(4): ask()\ntime.sleep(1000)",
    "empty answers": "began()\nfor _ in range(4): ask()\ntime.sleep(1000)",
    "client prompt": "began(); open('/dev/tty').readline()",
}
TERMINAL = "import os, pty; pid, master = pty.fork(); pid or input('Password: '); os.waitpid(pid, 0) if pid else None"

WORK = {
    "long build": "tool('sh', '-c', 'while :; do cc -x c -O2 -o /dev/null main.c; sleep 2; done')",
    "download": "tool(sys.executable, '-c', DOWNLOAD, SERVER)",
    "slow model": "began(); ask(stream=True)",
    "person typing": "began()\nwhile True: print(open('/dev/tty').readline(), flush=True)",
}
"""What takes long, and is no hang."""

DOWNLOAD = "import sys, urllib.request as u; [open('got', 'ab').write(b) for b in iter(lambda r=u.urlopen(sys.argv[1]): r.read(64), b'')]"
ON_A_TERMINAL = ("client prompt", "person typing")
WATCHED_S = 120.0
KEY_S = 10.0
TOKEN_S = 20.0

PAUSED = "paused for a person"
ANSWERS = {
    "half-open stream": ["said", "the connection to the model was closed"],
    "only pings": ["said", "the connection to the model was closed"],
    "client spins": ["said", PAUSED],
    "client deadlocked": ["said", PAUSED],
    "tool reads the terminal": ["said", "the agent was given a hint", "the tool was ended"],
    "tool never ends": ["said", "the agent was given a hint", "the tool was ended"],
    "pipe held by a child": ["said", "the agent was given a hint", "the tool was ended"],
    "owner hung": ["the owner was replaced"],
    "disk full": ["said", "the agent was given a hint", PAUSED],
    "network gone": ["said", PAUSED],
    "empty answers": ["said", "the agent was given a hint", PAUSED],
    "client prompt": ["said", PAUSED],
}
EMPTY = {
    "id": "m", "type": "message", "role": "assistant", "content": [], "model": "claude-sonnet-4-5",
    "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 0},
}  # fmt: skip


def serve(server: socket.socket, kind: str) -> None:
    """A model's API that goes wrong in one way."""
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=go_wrong, args=(client, kind), daemon=True).start()


def go_wrong(client: socket.socket, kind: str) -> None:
    try:
        client.recv(65_536)
        if kind == "empty answers":
            body = json.dumps(EMPTY).encode()
            client.sendall(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: "
            )
            client.sendall(b"%d\r\n\r\n%s" % (len(body), body))
            client.close()
            return
        client.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        if kind == "slow model":
            send(client, event("message_start", message={**EMPTY, "stop_reason": None}))
            send(client, event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
        while True:
            time.sleep(TOKEN_S if kind == "slow model" else 2)
            if kind == "only pings":
                send(client, event("ping"))
            if kind == "slow model":
                send(client, event("content_block_delta", index=0, delta={"type": "text_delta", "text": "a "}))
            if kind == "download":
                send(client, b"x" * 64)
    except OSError:
        return


def event(kind: str, **more: object) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **more})}\n\n".encode()


def send(client: socket.socket, data: bytes) -> None:
    """A chunk of an answer."""
    client.sendall(b"%x\r\n%s\r\n" % (len(data), data))


def read_on(terminal: int) -> None:
    """A person who reads what is on the screen."""
    try:
        while os.read(terminal, 65_536):
            pass
    except OSError:
        return


class Hang:
    """One run that hangs in one way, or works for long."""

    def __init__(self, root: Path, kind: str) -> None:
        self.kind, self.root = kind, root
        root.mkdir()
        self._mounted = kind == "disk full" and self._mount()
        self.place = Place(root, {"unattended": {"tool_minutes": 0.6}})
        self._server = socket.create_server(("127.0.0.1", 0))
        self._terminal: int | None = None

    def _mount(self) -> bool:
        workspace = self.root / "workspace"
        workspace.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", str(workspace)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    @property
    def possible(self) -> bool:
        return self._mounted or self.kind != "disk full"

    def start(self) -> None:
        """Begin the run, and its trouble."""
        script = self.root / "agent.py"
        (self.place.workspace / "main.c").write_text(
            "#include <stdio.h>\nint main(void) { return puts(__DATE__) < 0; }\n"
        )
        what = {**AGENTS, **WORK}[self.kind]
        address = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        names = f"TERMINAL, DOWNLOAD, SERVER = {TERMINAL!r}, {DOWNLOAD!r}, {address!r}"
        script.write_text(f"{START}\n{names}\n{what}\n")
        if self.kind == "network gone":
            self._server.close()
        else:
            threading.Thread(target=serve, args=(self._server, self.kind), daemon=True).start()
        more: dict[str, object] = {"env": {**self.place.environment, "ANTHROPIC_BASE_URL": address}}
        if self.kind in ON_A_TERMINAL:
            # The client has a terminal, as in a multiplexer that is left alone; what it says goes elsewhere.
            self._terminal, slave = pty.openpty()
            more |= {"stdin": slave}
            if self.kind == "person typing":
                more |= {"stdout": slave, "stderr": slave}
                threading.Thread(target=read_on, args=(self._terminal,), daemon=True).start()
        words = self.place.command(sys.executable, str(script), options=("--proxy",))
        self.place.begin([*ON_TERMINAL, *words] if self.kind in ON_A_TERMINAL else words, **more)

    def inject(self) -> None:
        """What is done from outside, once the agent has begun."""
        self.place.wait_for("began")
        if self.kind == "owner hung":
            os.kill(self.place.folder.owner().pid, signal.SIGSTOP)
        if self.kind == "disk full":
            fill(self.place.workspace)

    def type(self) -> None:
        """What a person does who sits at its terminal."""
        if self.kind == "person typing" and self._terminal is not None:
            os.write(self._terminal, b"and then?\n")

    def told(self) -> bool:
        return self.kind in [each.get("wedged") for each in self.place.records("liveness")]

    def answers(self) -> list[str]:
        return [each["answer"] for each in self.place.records("unwedge") if each["wedged"] == self.kind]

    def close(self) -> None:
        self.place.close()
        self._server.close()
        if self._terminal is not None:
            os.close(self._terminal)
        if self._mounted:
            subprocess.run(["umount", "--lazy", str(self.place.workspace)], check=False)


@pytest.fixture
def hangs(tmp_path: Path) -> Iterator[dict[str, Hang]]:
    made = {kind: Hang(tmp_path / kind.replace(" ", "-"), kind) for kind in AGENTS}
    yield made
    for hang in made.values():
        hang.close()


@pytest.mark.torture
def test_every_hang_is_told_with_its_kind_and_answered_in_order(hangs, record_property):
    """All of them at once; each is told within a minute of its beginning."""
    took, answered = {}, {}
    for hang in hangs.values():
        if hang.possible:
            hang.start()
    began = {}
    for kind, hang in hangs.items():
        if hang.possible:
            hang.inject()
            began[kind] = time.monotonic()
    deadline = time.monotonic() + 420
    while time.monotonic() < deadline and len(answered) < len(began):
        for kind in began:
            if kind not in took and hangs[kind].told():
                took[kind] = time.monotonic() - began[kind]
            if kind not in answered and len(given := hangs[kind].answers()) >= len(ANSWERS[kind]):
                answered[kind] = given
        time.sleep(0.5)
    record_property("told after", took)
    print({kind: round(seconds) for kind, seconds in took.items()})
    late = {kind: took.get(kind) for kind in began if took.get(kind, TOLD_S) >= TOLD_S}
    assert late == {}, {kind: hangs[kind].place.records("liveness") for kind in late}
    assert {kind: answers[: len(ANSWERS[kind])] for kind, answers in answered.items()} == {k: ANSWERS[k] for k in began}
    # An agent whose tool was ended hears it with the tool's result.
    for kind in ("tool never ends", "pipe held by a child"):
        hangs[kind].place.wait_for("heard")
        assert "Interlock ended" in (hangs[kind].place.workspace / "heard").read_text()


@pytest.mark.torture
def test_long_builds_downloads_a_slow_model_and_a_person_who_types_never_hang(tmp_path):
    """Three of each for real, at once, watched for twice as long as a hang takes to be told."""
    runs = [Hang(tmp_path / f"{kind.replace(' ', '-')}-{n}", kind) for kind in WORK for n in range(3)]
    try:
        for run in runs:
            run.start()
        for run in runs:
            run.inject()
        deadline = time.monotonic() + WATCHED_S
        while time.monotonic() < deadline:
            for run in runs:
                run.type()
            time.sleep(KEY_S)
        said = {(run.root.name, run.place.store.runs()[0].liveness.word) for run in runs}
        print(sorted(said))
        assert {word for _, word in said} <= {
            "working", "waiting for the model", "waiting for a tool", "waiting for a person"
        }  # fmt: skip
        for run in runs:
            assert [each for each in run.place.records("liveness") if each.get("wedged")] == [], run.kind
            assert run.place.records("unwedge") == [], run.kind
    finally:
        for run in runs:
            run.close()
