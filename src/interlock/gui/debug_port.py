"""DebugPort: a client of Chromium's (or Electron's) debugging port."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from typing import Any

from ..core import InterlockError

TIMEOUT_S = 1.5
"""A page that does not reply within this time is blocked by a native dialog, or has crashed."""


class NoPage(InterlockError):
    """Raised when there is no page behind the port."""


class Blocked(NoPage):
    """Raised when the page exists but does not reply."""


class DebugPort:
    """A debugging port on loopback; thread-safe, reconnects by itself."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._lock = threading.Lock()
        self._socket: Any = None
        self._count = 0

    def evaluate(self, expression: str, timeout_s: float = TIMEOUT_S) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True}, timeout_s)
        return answer.get("result", {}).get("value")

    def call(self, method: str, parameters: dict[str, object], timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
        """One command of the debugging protocol and its result."""
        with self._lock:
            kept = self._socket is not None
            try:
                return self._call(method, parameters, timeout_s)
            except Blocked:
                raise
            except NoPage:
                # The known page may have been replaced by another.
                if not kept:
                    raise
                return self._call(method, parameters, timeout_s)

    def _call(self, method: str, parameters: dict[str, object], timeout_s: float) -> dict[str, Any]:
        import websocket

        self._count += 1
        try:
            if self._socket is None:
                self._socket = websocket.create_connection(self._page(), timeout=timeout_s, suppress_origin=True)
            self._socket.settimeout(timeout_s)
            self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
            while True:
                answer = json.loads(self._socket.recv())
                if answer.get("id") == self._count:
                    return dict(answer.get("result", {}))
        except websocket.WebSocketTimeoutException as error:
            self._forget()
            raise Blocked("the page does not respond", where=f"port {self.port}") from error
        except (websocket.WebSocketException, OSError, ValueError) as error:
            self._forget()
            raise NoPage(f"there is no page ({error})", where=f"port {self.port}") from error

    def close(self) -> None:
        with self._lock:
            self._forget()

    def _page(self) -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list", timeout=TIMEOUT_S) as answer:
                pages = json.load(answer)
        except (urllib.error.URLError, OSError, ValueError) as error:
            raise NoPage(f"nothing listens ({error})", where=f"port {self.port}") from error
        for page in pages:
            if page.get("type") == "page" and "webSocketDebuggerUrl" in page:
                return str(page["webSocketDebuggerUrl"])
        raise NoPage("there is no page", where=f"port {self.port}")

    def _forget(self) -> None:
        kept, self._socket = self._socket, None
        if kept is not None:
            kept.close()
