"""Presence: whether a person has the dashboard open, as far as a file's time tells."""

from __future__ import annotations

import time
from pathlib import Path

FILE = ".viewed"
EVERY_S = 5.0
"""How often an open page says that it is open."""
FRESH_S = 20.0
"""How long that holds: a page that was closed says nothing any more."""


def mark_viewed(store: Path) -> None:
    """Say that someone is looking at the runs of this store now."""
    try:
        (store / FILE).touch(mode=0o600)
    except OSError:
        return  # a store that cannot be written can still be looked at


def is_viewed(store: Path) -> bool:
    """Whether someone looked at them just now."""
    try:
        return time.time() - (store / FILE).stat().st_mtime < FRESH_S
    except OSError:
        return False
