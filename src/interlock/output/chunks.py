"""The data that the processes which copy and keep output exchange, and how they start bare. Imports next to nothing."""

from __future__ import annotations

import os
import sys
import time
from _collections_abc import Callable  # collections.abc takes long

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


START = """\
import sys
sys.path[:] = eval(sys.argv[2])
__import__(sys.argv[1], fromlist=["main"]).main(sys.argv[3:])
"""


def isolated_command(module: str, arguments: list[str]) -> list[str]:
    """The command that calls the module's `main` with these arguments; it finds modules where we do."""
    # As with -P: nothing from the workspace may be imported in place of our own modules.
    folders = sys.path if sys.flags.safe_path else sys.path[1:]
    # Ours last: an installation may find us in another way, which a bare interpreter does not have.
    folders = [*folders, os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]  # noqa: PTH120  no imports
    return [sys.executable or "python3", "-I", "-S", "-c", START, module, ascii(folders), *arguments]
