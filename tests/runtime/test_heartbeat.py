"""The heartbeat: an address is requested while a run is supervised, and a failure is in its journal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.journal import JournalReader, Store
from interlock.journal_records import Fault, read_body
from interlock.runtime import Supervisor
from interlock.runtime.heartbeat import Heartbeat
from tests.waiting import eventually


class Service(ThreadingHTTPServer):
    """Counts the requests."""

    beats = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/run"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.server.beats += 1  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def service() -> Iterator[Service]:
    server = Service()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def beating(url: str) -> Config:
    config = Config()
    return replace(config, notifications=replace(config.notifications, heartbeat=url))


def test_the_address_is_requested_while_a_run_is_supervised(tmp_path: Path, service: Service) -> None:
    with Supervisor.open(task="t", store=Store(tmp_path), config=beating(service.url)):
        eventually(lambda: service.beats > 0)


def test_it_goes_on_until_it_is_closed(service: Service) -> None:
    heart = Heartbeat(service.url, lambda why: None, interval_s=0.01)
    eventually(lambda: service.beats > 3)
    heart.close()
    eventually(lambda: not heart._thread.is_alive())


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/gone", "file:///etc/hostname", "nonsense"])
def test_an_address_that_does_not_answer_is_said_once(tmp_path: Path, url: str) -> None:
    with Supervisor.open(task="t", store=Store(tmp_path), config=beating(url)) as supervisor:
        folder = supervisor.run.folder
        assert folder is not None

        def faults() -> list[str]:
            supervisor.run.journal.flush()
            with JournalReader.open(folder) as reader:
                bodies = [read_body(record) for record in reader.read(kinds=frozenset(("fault",)))]
            return [body.part for body in bodies if isinstance(body, Fault)]

        eventually(lambda: faults() == ["channel heartbeat"])
