"""Traffic: what goes over the connections to the model, to find out whether a run hangs there."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator

from .upstream_connection import UpstreamResponse


class OpenRequest:
    """One request and its answer as it comes."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.begun: float | None = None
        self.byte: float | None = None
        self.content: float | None = None
        self._response: UpstreamResponse | None = None

    def begin(self, response: UpstreamResponse) -> None:
        """The answer has begun."""
        self._response, self.begun = response, time.monotonic()

    def note(self, *, content: bool) -> None:
        """Bytes came; `content` where they were more than a ping."""
        self.byte = time.monotonic()
        self.content = self.byte if content else self.content

    def cut(self) -> bool:
        """Close the connection: the client sees that it broke, and asks again."""
        stream = self._response.network if self._response is not None else None
        sock = stream.get_extra_info("socket") if stream is not None else None
        with contextlib.suppress(OSError):
            if sock is not None:
                sock.shutdown(socket.SHUT_RDWR)
                return True
        return False


class Traffic:
    """The open requests of a run, and how the last ones went."""

    def __init__(self) -> None:
        self._open: list[OpenRequest] = []
        self._lock = threading.Lock()
        self.empty = 0
        self.failures = 0
        self.failure = ""

    @contextlib.contextmanager
    def request(self) -> Iterator[OpenRequest]:
        """One request, from asking to the end of its answer."""
        one = OpenRequest()
        with self._lock:
            self._open.append(one)
        try:
            yield one
        finally:
            with self._lock:
                self._open.remove(one)

    @property
    def oldest(self) -> OpenRequest | None:
        with self._lock:
            return self._open[0] if self._open else None

    def arrived(self) -> None:
        """A request reached the model."""
        self.failures = 0

    def failed(self, why: str) -> None:
        """A request did not reach the model."""
        self.failures, self.failure = self.failures + 1, why

    def answered(self, *, empty: bool) -> None:
        """An answer is complete; whether there was nothing in it."""
        self.empty = self.empty + 1 if empty else 0
