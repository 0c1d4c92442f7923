"""Pins all that the detectors tell in the tests of this folder: `told.json` has it, test by test.

A change that is meant: `TOLD=write python -m pytest tests/detect`, and read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import detecting
import pytest

FILE = Path(__file__).with_name("told.json")
PINNED = ("patterns", "quiet", "scenarios", "shapes", "thresholds", "traces", "unseen")
"""The files `test_detect_*.py` whose runs are the same each time."""
_told: dict[str, list[list[str]]] = json.loads(FILE.read_text()) if FILE.exists() else {}
_writing = os.environ.get("TOLD") == "write"


@pytest.fixture(autouse=True)
def pinned(request: pytest.FixtureRequest) -> Iterator[None]:
    detecting.TOLD.clear()
    yield
    name = request.node.name
    if not detecting.TOLD or request.path.stem.removeprefix("test_detect_") not in PINNED:
        return
    if _writing:
        _told[name] = list(detecting.TOLD)
    # A test that is new is pinned with the next writing.
    assert _told.get(name, detecting.TOLD) == detecting.TOLD


def pytest_sessionfinish() -> None:
    if _writing:
        FILE.write_text(json.dumps(_told, indent=0, sort_keys=True, ensure_ascii=False) + "\n")
