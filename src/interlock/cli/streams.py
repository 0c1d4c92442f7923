"""Streams that were closed before we began."""

from __future__ import annotations

import os
import sys


def fill_closed() -> None:
    """Put nothing in the place of a closed stream: the next file that is opened would get its number, and our words."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)
    # Who has closed standard input is told so by those who read it; nobody has to hear what we say.
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  it stays open
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  likewise
