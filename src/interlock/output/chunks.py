"""Pieces of output, and how the copier is started. Imports almost nothing."""

from __future__ import annotations

import time
from _collections_abc import Callable  # collections.abc imports slowly

STDOUT, STDERR, TERMINAL, SCREEN, GAP = "out", "err", "tty", "screen", "gap"
"""The origin of a piece: a stream, lines of a terminal, a whole screen; or bytes that were left out."""

GATHER_S = 0.1
"""How long output is buffered before it is stored."""

Source = tuple[str, Callable[[], tuple[int, int]] | None]
"""The name of a stream, and for a terminal a function that returns its size."""

Chunk = tuple[float, tuple[str, tuple[int, int] | None], bytes]
"""Time, stream with the terminal's size at that time, and bytes."""


def now() -> float:
    """The time stamp of pieces, the same clock as the journal's."""
    return time.time()
