"""Sockets of tests lie in a directory of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_runtime_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="il-") as short:
        monkeypatch.setenv("XDG_RUNTIME_DIR", short)
        yield Path(short)


@pytest.fixture
def quick_root() -> Iterator[Path]:
    """A store in memory where there is such a file system: for tests that are not about the disk."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="il-", dir=shared if shared.is_dir() else None) as root:
        yield Path(root)
