"""How a test waits for what something else does: until it is so, and not for a time that fits this machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

PATIENCE_S = 150.0
"""Long enough for a machine with a hundred times too much to do; whoever waits for nothing is told so."""


def eventually(is_so: Callable[[], Found], what: str = "it", patience_s: float = PATIENCE_S) -> Found:
    """Wait for something that another thread or process does; gives the first answer that is true."""
    deadline = time.monotonic() + patience_s
    while not (found := is_so()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(0.01)
    return found


def until(what: str, is_so: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """The same, with what is waited for first."""
    eventually(is_so, what, patience_s)
