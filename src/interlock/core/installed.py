"""What other installed packages bring along: their entry points, looked for where there can be any."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OURS = b"[interlock."
"""How a group of ours begins in a package's list."""


def installed(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group. Most machines have none, and to ask the library is a twelfth of a start."""
    if not _may_have_any(tuple(sys.path)):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=group)


@lru_cache(1)
def _may_have_any(path: tuple[str, ...]) -> bool:
    """Whether a package says so, or lies where we cannot look ourselves."""
    if any(finder is not PathFinder and hasattr(finder, "find_distributions") for finder in sys.meta_path):
        return True
    return any(_names_us(place or os.curdir) for place in path)


def _names_us(place: str) -> bool:
    try:
        with os.scandir(place) as entries:
            lists = [f"{entry.path}/entry_points.txt" for entry in entries if entry.name.endswith("-info")]
    except NotADirectoryError:
        # An archive: the library looks into it.
        return True
    except OSError:
        return False
    return any(map(_is_ours, lists))


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return OURS in file.read()
    except OSError:
        return False
