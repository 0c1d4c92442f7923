"""REQUEST to RESULT: on a unix socket against a raw echo, on the hub against one raw durable publish."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

import apsw

from interlock.config.schema import Hub
from interlock.control import Command, Request, encode, new_request, new_state
from interlock.core import RunSpec
from interlock.journal import Journal, RunFolder, Store
from interlock.link import ControlServer, Endpoint, FileGate, JournalLog, noted_socket
from interlock.link.hub_client import HubClient
from interlock.link.hub_endpoint import HubLink

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.link.gate_actuator import Actuator

NOTES = """Pause and resume in turn; each takes two durable transactions and a gate file; the owner is another
process. The echo is a process that returns each line. The plain commits are a process that inserts two rows per line,
replies, inserts two more, and replies: the cost of two durable transactions behind a socket without our code. The hub's
server syncs every message to disk (sync_interval: always), for the publish and for us alike. First the requests on the
socket, one of each in turn, then those on the hub, with a short pause before each: commands arrive one at a time, at an
idle owner. Limits at the median: socket 15 times the echo, hub 4 times the publish."""

REST_S = 0.02
ECHO, PUBLISH = "unix socket echo (floor)", "one durable publish (floor)"


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Median and 99th percentile in microseconds, and the ratio of the medians to what lies below."""
    rounds = 60 if quick else 300
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="il-")))
        stack.enter_context(_environment(XDG_RUNTIME_DIR=str(root)))
        store = Store(root / "runs")
        spent = _on_the_socket(root, store, rounds) | _on_the_hub(root, store, rounds)
    medians = {name: statistics.median(times) for name, times in spent.items()}
    floors = {name: PUBLISH if "hub" in name else ECHO for name in spent}
    rows = [
        [
            name,
            f"{medians[name]:,.0f}",
            f"{statistics.quantiles(times, n=100)[98]:,.0f}",
            f"{medians[name] / medians[floors[name]]:.1f}" if name != PUBLISH else "1.0",
        ]
        for name, times in spent.items()
    ]
    return "Control: from REQUEST to RESULT", ["request", "p50 us", "p99 us", "times the floor"], rows


def main() -> None:
    title, header, rows = measure("--quick" in sys.argv)
    print(title)
    for row in [header, *rows]:
        print(f"{row[0]:34}" + "".join(f"{cell:>16}" for cell in row[1:]))


def _on_the_socket(root: Path, store: Store, rounds: int) -> dict[str, list[float]]:
    folder = store.create(RunSpec(run_id="local"))
    with _child("owner", str(folder.path)), _child("echo", str(root / "e")), _child("commits", str(root / "c")):
        calls = {
            ECHO: _echo(root / "e"),
            "two plain commits on the socket": _ask(root / "c"),
            "socket, REQUEST to RESULT": _ask(_find_socket(folder)),
        }
        return _interleave(calls, rounds)


def _on_the_hub(root: Path, store: Store, rounds: int) -> dict[str, list[float]]:
    folder = store.create(RunSpec(run_id="remote"))
    with _broker(root / "js") as url, _child("owner", str(folder.path), url):
        settings = Hub(url=url, key_file=str(folder.path.parent / "key"))
        with _publish(settings) as publish, HubClient(settings) as client:
            return _interleave({PUBLISH: publish, "hub, REQUEST to RESULT": _ask_hub(client)}, rounds)


def _interleave(calls: dict[str, Callable[[], Callable[[], object]]], rounds: int) -> dict[str, list[float]]:
    """One of each in turn. The outer call prepares what is sent; only the inner one is timed."""
    for prepare in calls.values():
        for _ in range(4):
            prepare()()
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, prepare in calls.items():
            call = prepare()
            time.sleep(REST_S)
            begin = time.perf_counter()
            call()
            spent[name].append((time.perf_counter() - begin) * 1e6)
    return spent


def _echo(path: Path) -> Callable[[], Callable[[], object]]:
    sock = _connect(path)
    line = encode(new_request("x" * 36, "pause", "bench")) + b"\n"

    def call() -> None:
        sock.sendall(line)
        sock.recv(65_536)

    return lambda: call


def _find_socket(folder: RunFolder) -> Path:
    path = None
    while path is None or not path.exists():
        path = noted_socket(folder.path)
        time.sleep(0.01)
    return path


def _ask(path: Path) -> Callable[[], Callable[[], object]]:
    sock, asked = _connect(path), _requests("local")

    def send(line: bytes) -> None:
        sock.sendall(line)
        while b'"RESULT"' not in (answer := sock.recv(65_536)):
            assert answer
        assert b'"success"' in answer, answer

    return lambda: partial(send, encode(next(asked)) + b"\n")


def _ask_hub(client: HubClient) -> Callable[[], Callable[[], object]]:
    asked = _requests("remote")

    def ask(request: Request) -> None:
        answer = client.ask(request, timeout=30)
        assert answer.outcome == "success", answer

    return lambda: partial(ask, next(asked))


def _requests(run_id: str) -> Iterator[Request]:
    number = 0
    while True:
        number += 1
        command: Command = "pause" if number % 2 else "resume"
        yield new_request(f"{run_id}-{number}", command, run_id)


@contextmanager
def _publish(settings: Hub) -> Iterator[Callable[[], Callable[[], object]]]:
    """One publish that the broker has on its disk, with nothing of ours around it."""
    import nats

    loop = asyncio.new_event_loop()
    client = loop.run_until_complete(nats.connect(str(settings.url)))
    stream = client.jetstream()
    loop.run_until_complete(stream.add_stream(name="RAW", subjects=["raw"]))
    line = encode(new_request("x" * 36, "pause", "bench"))
    yield lambda: lambda: loop.run_until_complete(stream.publish("raw", line))
    loop.run_until_complete(client.close())
    loop.close()


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _broker(store: Path) -> Iterator[str]:
    server = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    if server is None:
        raise SystemExit("nats-server is missing: make setup")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    store.mkdir()
    config = store / "server.conf"
    config.write_text(
        f'listen: "127.0.0.1:{port}"\njetstream {{ store_dir: "{store}", sync_interval: always }}\n',
    )
    with _process([server, "-c", str(config)]):
        _connect(("127.0.0.1", port)).close()
        yield f"nats://127.0.0.1:{port}"


def _child(*role: str) -> AbstractContextManager[None]:
    return _process([sys.executable, __file__, *role])


@contextmanager
def _process(command: list[str]) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def _connect(where: Path | tuple[str, int]) -> socket.socket:
    """Connect as soon as somebody listens."""
    for _ in range(3_000):
        sock = socket.socket(socket.AF_UNIX if isinstance(where, Path) else socket.AF_INET)
        try:
            sock.connect(str(where) if isinstance(where, Path) else where)
            return sock
        except OSError:
            sock.close()
            time.sleep(0.01)
    raise SystemExit(f"nobody listens at {where}")


def _be_owner(path: Path, url: str | None) -> None:
    folder = RunFolder(path)
    journal = Journal.open(folder)
    endpoint = Endpoint(new_state(folder.run_id, model="haiku"), JournalLog(journal), Actuator(FileGate(folder.gate)))
    endpoint.start()
    ControlServer(endpoint, folder.path).open()
    if url is not None:
        HubLink(Hub(url=url, key_file=str(path.parent / "key")), endpoint, journal).start()
    gc.freeze()
    signal.pause()


def _be_echo(path: Path) -> None:
    sock = _accept(path)
    while data := sock.recv(65_536):
        sock.sendall(data)


def _accept(path: Path) -> socket.socket:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        return listener.accept()[0]


def _be_commits(path: Path) -> None:
    connection = apsw.Connection(str(path.with_suffix(".db")))
    connection.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE row(kind, body)").fetchall()
    connection.wal_autocheckpoint(0)
    sock = _accept(path)
    while line := sock.recv(65_536):
        text = line.decode()
        for said in (b"ACK", b"RESULT"):
            connection.execute("INSERT INTO row VALUES (?, ?), (?, ?)", ("request", text, "answer", text))
            sock.sendall(b'{"%b":"success"}\n' % said)


if __name__ == "__main__":
    if sys.argv[1:2] == ["owner"]:
        _be_owner(Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
    elif sys.argv[1:2] == ["echo"]:
        _be_echo(Path(sys.argv[2]))
    elif sys.argv[1:2] == ["commits"]:
        _be_commits(Path(sys.argv[2]))
    else:
        main()
