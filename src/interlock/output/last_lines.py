"""The end of what a command printed, for a page: its last lines, or the screen that it drew last."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from .chunks import GAP
from .kept_files import OutputReader
from .readable_text import readable

LINES = 400
BYTES = 64_000


class LastLines(Struct, frozen=True):
    """Text without control characters; `cut` says that there is more before it."""

    text: str = ""
    cut: bool = False


def read_last_lines(folder: Path) -> LastLines:
    """The last lines of a run's kept output, the unfinished one and a live screen included."""
    reader = OutputReader(folder)
    pieces, cut = reader.newest(BYTES)
    latest = reader.latest()
    printed = "".join("[... output left out ...]\n" if piece.stream == GAP else piece.text for piece in pieces)
    whole = readable(printed + ("\n".join(latest.screen) or latest.line))
    lines = whole[-BYTES:].splitlines()
    if len(whole) > BYTES:
        # The first one may be the end of a line.
        lines = lines[1:] or lines
    return LastLines("\n".join(lines[-LINES:]), cut or len(whole) > BYTES or len(lines) > LINES)
