"""Processes that are hard to tell from stopped ones: without their first thread, or with a timer that continues them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from interlock.core import RunSpec
from interlock.process import ProcessTree, spawn

from ..waiting import until

TICK = "import ctypes, os, platform, threading, time\ndef tick():\n    while True:\n        open('ticks', 'a').write('x')\n        time.sleep(0.002)\n"
LEADERLESS = (
    f"{TICK}threading.Thread(target=tick).start()\n"
    "ctypes.CDLL(None).syscall({'x86_64': 60}.get(platform.machine(), 93), 0)\n"
)


def begin(folder: Path, code: str) -> ProcessTree:
    spec = RunSpec(run_id="r", argv=(sys.executable, "-c", code), cwd=str(folder))
    tree = spawn(spec, mechanism="signals")
    until("it ticks", lambda: (folder / "ticks").exists())
    return tree


def test_a_process_whose_first_thread_has_ended_can_be_paused(tmp_path: Path) -> None:
    tree = begin(tmp_path, LEADERLESS)
    try:
        until("its first thread has ended", lambda: b") Z " in Path(f"/proc/{tree.pid}/stat").read_bytes())
        tree.freeze()
        assert tree.not_stopped() == ""
        assert tree.not_frozen() == ((), ())
        size = os.path.getsize(tmp_path / "ticks")  # noqa: PTH202
        assert tree.frozen()
        assert (tmp_path / "ticks").stat().st_size == size
        tree.thaw()
        until("it ticks again", lambda: (tmp_path / "ticks").stat().st_size > size)
    finally:
        tree.end(0.1)
    assert tree.pids() == ()
