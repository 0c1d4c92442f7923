"""BackgroundServer: a dashboard in a thread of the test's own process."""

from __future__ import annotations

import secrets
import socket
import threading
import time

import uvicorn

from interlock.journal import Store
from interlock.link import TIMEOUT_S
from interlock.web.serve import PunctualProtocol, make_app
from interlock.web.source import Source

POLL_S = 0.01
END_S = 10.0


class BackgroundServer:
    """A dashboard on a free port of loopback; use it with `with`."""

    def __init__(self, store: Store, *, control_timeout: float = TIMEOUT_S) -> None:
        self.token = secrets.token_urlsafe(32)
        listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = make_app(Source(store), self.token, control_timeout=control_timeout)
        config = uvicorn.Config(
            app, access_log=False, log_level="warning", timeout_graceful_shutdown=1, ws="none", http=PunctualProtocol
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(POLL_S)

    @property
    def entry(self) -> str:
        """The address with its token."""
        return f"{self.address}/?token={self.token}"

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(END_S)

    def __enter__(self) -> BackgroundServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
