"""Memory of a run's owner under hostile input: bombs, endless answers, ten thousand slow connections.

Example: python bench/hostile.py [--quick]
"""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from interlock.journal import Store
from interlock.link import noted_socket

NOTES = (
    "Each case is a run of its own (`interlock run`, proxy and sockets as they come), whose agent and whose model's "
    "API do their worst. The most memory that the owner had, which is to stay below 200 MB. Slow connections come from "
    "ten processes, send half a request and wait; meanwhile `interlock pause` and `resume` are given."
)

MB = 1_000_000
Answer = Callable[[], Iterator[bytes]]
REQUEST = b'{"model":"m","stream":true,"tools":[{"name":"bash"}],"messages":[{"role":"user","content":"hi"}]}'
AGENT = """
import os, socket, sys, time
from urllib.parse import urlsplit

what, count, done = sys.argv[1], int(sys.argv[2]), sys.argv[3]
base = urlsplit(os.environ["ANTHROPIC_BASE_URL"])


def connect():
    if what == "steps":
        line = socket.socket(socket.AF_UNIX)
        line.connect(os.environ["INTERLOCK_SOCKET"])
        return line, b'{"before": {"tool"'
    if what == "control":
        while not os.path.exists(sys.argv[4]):
            time.sleep(0.05)
        line = socket.socket(socket.AF_UNIX)
        line.connect(sys.argv[4])
        return line, b'{"schema": 0, '
    return socket.create_connection((base.hostname, base.port)), b"POST /x HTTP/1.1\\r\\nhost: x\\r\\nx-slow: "


if what == "ask":
    line = socket.create_connection((base.hostname, base.port))
    head = f"POST {base.path}/v1/messages HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n"
    head += f"content-length: {len(REQUEST)}\\r\\n\\r\\n"
    line.sendall(head.encode() + REQUEST)
    while line.recv(1 << 20):
        pass
else:
    held = []
    for _ in range(10):
        if os.fork() == 0:
            for _ in range(count // 10):
                try:
                    line, said = connect()
                    line.sendall(said)
                    held.append(line)
                except OSError:
                    time.sleep(0.01)
            open(f"{done}-{os.getpid()}", "w").close()
            time.sleep(600)
open(done, "w").close()
time.sleep(600)
"""


MOST_MB = 200
SOCKETS = ("proxy", "steps", "control")


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    size, crowd = (60 * MB, 1000) if quick else (600 * MB, 10_000)
    asked: list[tuple[str, Answer, str]] = [(name, answer, "ask") for name, answer in answers(size).items()]
    asked += [(f"{crowd:,} slow connections, {what} socket", lambda: whole(b"{}"), what) for what in SOCKETS]
    rows = []
    for name, answer, what in asked:
        peak, spent = took(answer, what, crowd)
        rows.append([name, f"{peak:.0f}", str(MOST_MB), f"{spent:.1f}"])
    header = ["measurement", "owner's most memory MB", "target", "pause and resume s"]
    return "Hostile input: memory of the owner", header, rows


def answers(size: int) -> dict[str, Answer]:
    """What a model's API may answer, of about so many bytes."""
    return {
        "nothing but one small answer": lambda: whole(b"{}"),
        f"1 MB of gzip, {size * 2 // MB:,} MB of JSON": lambda: bomb(size * 2),
        f"one answer of {size // MB} MB": lambda: endless(size, b"application/json", b'{"x": "', b"y" * 65_536),
        f"a stream of {size // MB} MB of words": lambda: endless(size, b"text/event-stream", b"", WORDS * 500),
        f"a stream with one event of {size // MB} MB": lambda: endless(
            size, b"text/event-stream", b'data: {"type":"', b"y" * 65_536
        ),
    }


WORDS = b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word after word"}}\n\n'


def whole(body: bytes) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)


def bomb(size: int) -> Iterator[bytes]:
    packed = gzip.compress(b'{"x": "' + b"y" * size + b'"}')
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
    yield head + b"content-length: %d\r\n\r\n%b" % (len(packed), packed)


def endless(size: int, kind: bytes, begin: bytes, piece: bytes) -> Iterator[bytes]:
    yield b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: %b\r\n\r\n%b" % (kind, begin)
    for _ in range(size // len(piece)):
        yield piece


class Api:
    """A model's API that answers every request alike, and hangs up."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Api:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listener.accept()
            except OSError:
                return
            with line, contextlib.suppress(OSError):
                line.recv(65_536)
                for piece in self._answer():
                    line.sendall(piece)


def took(answer: Answer, what: str, count: int) -> tuple[float, float]:
    """The owner's most memory in MB, and how many seconds a pause and a resume took."""
    with tempfile.TemporaryDirectory(prefix="il-") as root, Api(answer) as api:
        env = {**os.environ, "XDG_STATE_HOME": root, "XDG_CONFIG_HOME": root, "XDG_RUNTIME_DIR": root}
        env |= {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none"}
        agent, done, work = Path(root) / "agent.py", Path(root) / "done", Path(root) / "work"
        agent.write_text(f"REQUEST = {REQUEST!r}\n" + AGENT)
        work.mkdir()
        interlock = [sys.executable, "-m", "interlock"]
        given = [sys.executable, str(agent), what, str(count), str(done)]
        command = [*interlock, "run", "--name", "hostile", "--contain", "off", "--", *given]
        if what == "control":
            command.append(str(Path(root) / "control"))
        with (Path(root) / "log").open("wb") as log:
            front = subprocess.Popen(command, env=env, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            store = Store(Path(root) / "interlock" / "runs")
            wait_for(lambda: bool(store.folders()) and store.folders()[0].owner() is not None)
            folder = store.folders()[0]
            if what == "control":
                wait_for(lambda: noted_socket(folder.path) is not None)
                (Path(root) / "control").symlink_to(noted_socket(folder.path) or "")
            wait_for(done.exists)
            if what != "ask":
                wait_for(lambda: len(list(Path(root).glob("done-*"))) == 10)
            begin = time.perf_counter()
            for order in ("pause", "resume"):
                subprocess.run([*interlock, order, "hostile"], env=env, check=True, stdout=subprocess.DEVNULL)
            spent = time.perf_counter() - begin
            owner = folder.owner()
            assert owner is not None
            return most_memory(owner.pid) / 1024, spent
        finally:
            front.send_signal(signal.SIGTERM)
            front.wait(60)


def most_memory(pid: int) -> int:
    """In KB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def wait_for(what: Callable[[], bool], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


if __name__ == "__main__":
    from table import print_measured

    print_measured(measure, __doc__, NOTES)
