"""How a test unpacks an archive of our own, also with a Python that has no filters yet (before 3.11.4)."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(source: Path, target: Path) -> None:
    with tarfile.open(source) as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(target, filter="data")
        else:
            archive.extractall(target)
