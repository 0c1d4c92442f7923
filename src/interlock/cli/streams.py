"""Standard streams that were closed at the start, or whose reader goes away."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def fill_closed() -> None:
    """Open /dev/null for closed standard streams: otherwise the next opened file would get our output."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
    # Commands that read standard input report that it is closed; output is discarded.
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  it stays open
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  likewise


class _Output(io.FileIO):
    """Standard output; once its reader is gone (| head), the rest is discarded."""

    def write(self, data: ReadableBuffer) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def outlive_reader() -> None:
    """From now on a closed pipe does not end the command: its work and exit status matter more."""
    try:
        raw = _Output(sys.stdout.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return  # It is not a real file.
    sys.stdout.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=sys.stdout.encoding, errors=sys.stdout.errors, line_buffering=raw.isatty()
    )
