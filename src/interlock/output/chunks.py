"""Pieces of output, and how the copier is started. Imports almost nothing."""

from __future__ import annotations

import os
import sys
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


START = """\
import sys
sys.path[:] = eval(sys.argv[2])
__import__(sys.argv[1], fromlist=["main"]).main(sys.argv[3:])
"""


def isolated_command(module: str, arguments: list[str]) -> list[str]:
    """The command that calls the module's `main` with these arguments in an isolated interpreter with our sys.path."""
    # Same as -P: nothing from the workspace may be imported in place of our own modules.
    folders = sys.path if sys.flags.safe_path else sys.path[1:]
    # Our own folder last: an editable installation may use import hooks, which -I -S does not load.
    folders = [*folders, os.path.dirname(os.path.dirname(os.path.dirname(__file__)))]  # noqa: PTH120  no imports
    return [sys.executable or "python3", "-I", "-S", "-c", START, module, ascii(folders), *arguments]
