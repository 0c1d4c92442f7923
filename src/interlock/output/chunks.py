"""What the copier hands to the keeper, and that to its process. Imports next to nothing: each run has a copier."""

from __future__ import annotations

import time
from collections.abc import Callable

STDOUT, STDERR, TERMINAL, SCREEN, GAP = "out", "err", "tty", "screen", "gap"
"""Where a piece comes from: a stream, the lines of a terminal, a whole screen that was drawn; or bytes left out."""

GATHER_S = 0.1
"""How long what a command prints is gathered before it is kept."""

Source = tuple[str, Callable[[], tuple[int, int]] | None]
"""The stream that a descriptor is, and for a terminal where its size is found."""

Chunk = tuple[float, Source, bytes]
"""When bytes came, from where, and the bytes."""

Piece = tuple[float, tuple[str, tuple[int, int] | None], bytes]
"""The same with the terminal's size as it was."""


def now() -> float:
    """The time that pieces carry, as the journal's records do."""
    return time.time()
