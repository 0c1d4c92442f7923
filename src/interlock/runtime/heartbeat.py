"""Heartbeat: requests an address once a minute while a run is supervised, for a service that alerts when it stops."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Callable

INTERVAL_S = 60.0
TIMEOUT_S = 10.0


class Heartbeat:
    """A thread of its own, so that a slow address delays nothing. `on_failure` is called for the first failure."""

    def __init__(self, url: str, on_failure: Callable[[str], None], interval_s: float = INTERVAL_S) -> None:
        self._url, self._on_failure, self._interval_s = url, on_failure, interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="interlock-heartbeat", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop, without waiting for a request in progress."""
        self._stop.set()

    def _run(self) -> None:
        failed = False
        while True:
            try:
                if not self._url.startswith(("http://", "https://")):
                    raise ValueError("it needs an address that begins with http:// or https://")
                with urllib.request.urlopen(self._url, timeout=TIMEOUT_S) as answer:
                    answer.read(1)
            except (OSError, ValueError) as error:
                if not failed and not self._stop.is_set():
                    failed = True
                    self._on_failure(f"{type(error).__name__}: {error}")
            if self._stop.wait(self._interval_s):
                return
