"""Power cuts: how to tell that the machine went down, and how long a disk may lag behind."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

SETTLES_S = 60.0
"""After this long the kernel has written by itself what was moved; a power cut sooner may have lost some of it."""


@cache
def boot_id() -> str:
    """What tells this run of the machine from the one before; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def started_at() -> float:
    """When the machine was started, in seconds since the epoch."""
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
