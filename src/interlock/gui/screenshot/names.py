"""Names of picture files: time-stamped, and never the same twice."""

from __future__ import annotations

import itertools
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

NAME = re.compile(r"screen-\d{8}T\d{12}Z-\d+-[0-9a-f]+\.(jpg|png|webp|bin)")
"""What our own pictures are called; nothing else is ever removed."""

_numbers = itertools.count(1)


def free_path(folder: Path, timestamp: float, suffix: str) -> Path:
    """A name in this folder that no other picture has: time, a number of this process, a random part."""
    stamp = datetime.fromtimestamp(timestamp, UTC).strftime("%Y%m%dT%H%M%S%f")
    return folder / f"screen-{stamp}Z-{os.getpid() % 1000:03d}{next(_numbers):05d}-{secrets.token_hex(2)}{suffix}"
