"""StepLines: finds step lines in what a command prints, and reports them to the owner of its run.

Imports next to nothing until there is one: each run has a copier, and few commands print steps.
"""

from __future__ import annotations

import contextlib
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import queue
    import socket

MAX_LINE = 1024 * 1024
"""Bytes; a longer line is not a step."""

WAITING = 1000
"""Lines that may wait for the owner; then the command waits for them, for PUT_S at most."""

PUT_S = 1.0
PATIENCE_S = 10.0
"""How long an owner that is being replaced is waited for."""

AUTO = "auto"


class StepLines:
    """`feed` what a command prints; with `auto` only if the first line is a step line, else `wanted` becomes False."""

    def __init__(self, mode: str, path: str) -> None:
        self.wanted = bool(path)
        self._first, self._path = mode == AUTO, path
        self._rest = b""
        self._skips = False
        self._lines: queue.Queue[bytes | None] | None = None
        self._thread: threading.Thread | None = None

    def feed(self, data: bytes) -> None:
        """Find the step lines in what was printed, and queue them."""
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._see(line)
            if not self.wanted:
                return
        self._rest = rest if len(rest) <= MAX_LINE else b""
        self._skips = self._skips or len(rest) > MAX_LINE
        if self._first and len(rest) > MAX_PREFIX and not is_step_line(rest):
            self.wanted = False

    def flush(self) -> None:
        """Wait until the owner knows every line so far."""
        deadline = time.monotonic() + PATIENCE_S
        while self._lines is not None and self._lines.unfinished_tasks and time.monotonic() < deadline:
            time.sleep(0.01)

    def close(self) -> None:
        """Tell the owner what is left."""
        if self.wanted and self._rest:
            self._see(self._rest)
        if self._thread is not None and self._lines is not None:
            self._lines.put(None)
            self._thread.join(PATIENCE_S)

    def _see(self, line: bytes) -> None:
        skipped, self._skips = self._skips, False
        is_step = not skipped and is_step_line(line)
        if self._first and line.strip():
            self._first, self.wanted = False, is_step
        if is_step:
            import queue

            if self._lines is None:
                self._lines = queue.Queue(WAITING)
                self._thread = threading.Thread(target=self._tell, args=(self._lines,), daemon=True)
                self._thread.start()
            with contextlib.suppress(queue.Full):
                self._lines.put(line, timeout=PUT_S)

    def _tell(self, lines: queue.Queue[bytes | None]) -> None:
        import socket

        connection: socket.socket | None = None
        while (line := lines.get()) is not None:
            deadline = time.monotonic() + PATIENCE_S
            while time.monotonic() < deadline:
                try:
                    if connection is None:
                        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                        connection.connect(self._path)
                    connection.sendall(b'{"printed":' + line.strip() + b"}\n")
                    if read_line(connection):
                        break
                except OSError:
                    pass
                if connection is not None:
                    connection.close()
                    connection = None
                time.sleep(0.1)
            lines.task_done()
        if connection is not None:
            connection.close()


SPACE = b" \t\n\r\f\v"

MAX_PREFIX = 64
"""Bytes without a line's end from which the first line is known not to be a step."""


def is_step_line(line: bytes) -> bool:
    """Whether a line begins as one that reports a step does: `{"before":` or `{"after":`."""
    if not line.lstrip(SPACE).startswith(b"{"):
        return False
    key = line.lstrip(SPACE)[1:].lstrip(SPACE)
    return any(
        key.startswith(name) and key[len(name) :].lstrip(SPACE).startswith(b":") for name in (b'"before"', b'"after"')
    )


def read_line(connection: socket.socket) -> bytes:
    """One answer, which says only that the line was heard; empty if the owner is gone."""
    answer = b""
    while not answer.endswith(b"\n"):
        more = connection.recv(65_536)
        if not more:
            return b""
        answer += more
    return answer
