"""A watcher's memory stays flat over many looks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.gui.display import VirtualDisplay

from .conftest import Launch, terminal

PROGRAM = """
import json, sys, psutil
from interlock.gui import InterventionConfig, InterventionOrchestrator, LocalAnalyzer, MSSBackend, RecoveryExecutor
from interlock.gui.xtest_input import XTestInput

display, folder, looks = sys.argv[1], sys.argv[2], int(sys.argv[3])
config = InterventionConfig(screenshot_dir=folder, min_cooldown_seconds=0)
watch = InterventionOrchestrator(
    config, MSSBackend(display), LocalAnalyzer(), RecoveryExecutor(XTestInput(display), wait=lambda s: False)
)
watch.observe = True
sizes = []
for number in range(looks):
    watch.check_now()
    if number % 10 == 9:
        sizes.append(psutil.Process().memory_info().rss / 1e6)
print(json.dumps(sizes))
"""


def measure(desktop: VirtualDisplay, launch: Launch, folder: Path, looks: int) -> list[float]:
    """The watcher's size in MB after every ten looks at a screen that changes all the time."""
    terminal(launch, "busy", "sh", "-c", "while :; do date +%N; sleep 0.02; done")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, desktop.name, str(folder), str(looks)],
        capture_output=True,
        text=True,
        check=False,
        # Reading words is another program's work, and takes most of the time.
        env=os.environ | {"PATH": ""},
    )
    assert done.returncode == 0, done.stderr
    return [float(each) for each in json.loads(done.stdout)]


def judge(sizes: list[float]) -> None:
    settled = sizes[len(sizes) // 4 :]
    assert max(sizes) < 200
    assert max(settled) - min(settled) < 12, settled


def test_memory_is_flat_over_forty_looks(desktop: VirtualDisplay, launch: Launch, tmp_path: Path) -> None:
    judge(measure(desktop, launch, tmp_path, 40))


@pytest.mark.torture
def test_memory_is_flat_over_a_thousand_looks(desktop: VirtualDisplay, launch: Launch, tmp_path: Path) -> None:
    judge(measure(desktop, launch, tmp_path, 1000))
