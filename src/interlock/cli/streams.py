"""Streams that were closed before we began, or whose reader goes away."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def fill_closed() -> None:
    """Put nothing in the place of a closed stream: the next file that is opened would get its number, and our words."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
    # Commands that read standard input report that it is closed; output may go unread.
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  it stays open
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  likewise


class _Output(io.FileIO):
    """Standard output; when its reader has gone (| head), the rest goes nowhere."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_reader() -> None:
    """From here on, what is printed never ends the command: its work and its exit status matter more."""
    try:
        raw = _Output(sys.stdout.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return  # Something else stands in for it.
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=sys.stdout.encoding, errors=sys.stdout.errors, line_buffering=raw.isatty()
    )
