"""kill -9 of owner, controller and both: nothing lost, nothing doubled, no step while paused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest


def drive(kills: int, seed: int, timeout: float) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="il-") as place:
        done = subprocess.run(
            [sys.executable, "-m", "tests.link.crash_driver", place, str(kills), str(seed)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=timeout,
        )
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, object] = json.loads(done.stdout.decode().splitlines()[-1])
    return report


def assert_clean(report: dict[str, object]) -> None:
    print(report)
    for what in ("lost", "doubled", "told failure though it took effect", "order", "steps while paused"):
        assert report[what] == 0, report
    assert report["journal"] == []
    assert report["commands"] and report["steps"], report


def test_sixty_kills_lose_nothing_double_nothing_and_let_no_step_through_while_paused() -> None:
    assert_clean(drive(60, 1, 170))


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(10))
def test_five_hundred_kills_ten_times(seed: int) -> None:
    assert_clean(drive(500, 100 + seed, 3000))
