"""Containers: whether this process runs in one, so that what it breaks is not the person's machine."""

from __future__ import annotations

import functools
import os

MARKS = ("/.dockerenv", "/run/.containerenv")
"""Files that container engines leave in what they start."""


@functools.cache
def is_contained() -> bool:
    """Whether a container engine started this machine's view of the world."""
    return any(map(os.path.exists, MARKS))
