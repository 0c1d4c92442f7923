"""A real NATS server for tests: on loopback, with a store of its own, and killed without ceremony."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

from interlock.config.schema import Hub

from ..waiting import PATIENCE_S


class Broker:
    """Start it with `with`; `kill` and `start` again keep port and store."""

    def __init__(self, store: Path | None, *options: str) -> None:
        self.options = (*options, "-js", "-sd", str(store)) if store is not None else options
        self._kept = keep_port()
        self.port: int = self._kept.getsockname()[1]
        self.url = f"nats://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def without_streams(cls) -> Broker:
        return cls(None)

    @property
    def settings(self) -> Hub:
        return Hub(url=self.url, unsigned=True)

    def start(self) -> Broker:
        command = [find_server(), "-a", "127.0.0.1", "-p", str(self.port), *self.options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.01)
        raise AssertionError("nats-server did not start")

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Broker:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._kept.close()


def find_server() -> str:
    found = shutil.which("nats-server", path=str(Path(sys.executable).parent)) or shutil.which("nats-server")
    assert found, "nats-server is missing: it comes with the development requirements"
    return found


def keep_port() -> socket.socket:
    """A port that nobody else gets while this is open; a server that reuses addresses can listen there, and again."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    return sock
