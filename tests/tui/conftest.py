"""A stage for every test, a runtime directory of its own, and one time zone for all."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .stage import Stage, staged


@pytest.fixture(scope="session", autouse=True)
def runtime_dir() -> Iterator[None]:
    """Sockets lie under a short name: their paths may not be long."""
    with tempfile.TemporaryDirectory(prefix="il-") as short, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", short)
        yield


@pytest.fixture(autouse=True)
def place_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TZ", "UTC")
    for name in ("NO_COLOR", "COLORFGBG"):
        monkeypatch.delenv(name, raising=False)
    time.tzset()
    yield
    os.environ.pop("TZ", None)
    time.tzset()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with staged(tmp_path) as made:
        yield made
