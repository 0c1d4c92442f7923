"""Power cuts: how to tell that the machine went down, and how long a disk may lag behind."""

from __future__ import annotations

import time

from ..core import boot_clock

SETTLES_S = 60.0
"""After this long the kernel has written by itself what was moved; a power cut sooner may have lost some of it."""


def started_at() -> float:
    """When the machine was started, in seconds since the epoch."""
    return time.time() - boot_clock()
