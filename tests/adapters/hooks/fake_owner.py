"""An owner that answers as a test says: what a hook client meets on its socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from interlock.link import listen

Answers = Callable[[bytes, socket.socket], None]


class FakeOwner:
    """Listens; each connection's line goes to `answers`, which writes what it likes."""

    def __init__(self, path: Path, answers: Answers) -> None:
        self.path = path
        self.lines: list[bytes] = []
        self._answers = answers
        self._listener = listen(path)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FakeOwner:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with sock, sock.makefile("rb") as file:
                line = file.readline()
                self.lines.append(line)
                self._answers(line, sock)


def say(*lines: bytes) -> Answers:
    """Answer with these lines, then hang up."""
    return lambda line, sock: sock.sendall(b"".join(one + b"\n" for one in lines))
