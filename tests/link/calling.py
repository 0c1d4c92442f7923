"""Drivers run in a process of their own, because they fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def run_driver(name: str, *arguments: str, timeout: float) -> dict[str, object]:
    """The report of one driver, in a fresh directory."""
    with tempfile.TemporaryDirectory(prefix="il-") as place:
        done = subprocess.run(
            [sys.executable, "-m", f"tests.link.{name}", place, *arguments],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=timeout,
        )
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, object] = json.loads(done.stdout.decode().splitlines()[-1])
    return report
