"""`interlock show` of a run of a million steps: time to the first lines and to the end, and memory.

Example: python bench/long_run.py [--quick]
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from pathlib import Path

from interlock.journal import Store
from story import write_run

NOTES = (
    "A run as supervision writes it: steps, checkpoints, an issue and an intervention every 50 steps. Each command in "
    "a process of its own, its output read through a pipe. The first page (50 lines) is to come in less than 1 s, and "
    "`show --json` to stay below 100 MB."
)

PAGE = 50
FIRST_PAGE = ("show", "long")
"""Ended as soon as its first page is there: nobody reads the rest of a million lines."""


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    steps = 20_000 if quick else 1_000_000
    commands = (
        FIRST_PAGE,
        ("show", "long", "--after", str(steps), "--limit", "50"),
        ("show", "long", "--kind", "issue", "--limit", "50"),
        ("show", "long", "--json"),
        ("verify", "long"),
    )
    with tempfile.TemporaryDirectory(prefix="interlock-bench-") as folder:
        write_run(Store(Path(folder) / "interlock" / "runs"), "long", steps)
        rows = [[f"`{' '.join(words)}`", *took(folder, words)] for words in commands]
        rows += export_rows(folder)
    return (
        "A long run: showing it",
        [f"{steps:,} steps", "first page s", "all of it s", "MB read", "most memory MB"],
        rows,
    )


def export_rows(folder: str) -> list[list[str]]:
    """`export`, and the floor: a copy of what it writes, compressed as it does."""
    plain, packed = Path(folder) / "plain", Path(folder) / "long.tar.gz"
    took(folder, ("export", "long", "-o", str(plain)))
    begin = time.perf_counter()
    shutil.copytree(plain, Path(folder) / "copy")
    with tarfile.open(Path(folder) / "floor.tar.gz", "w:gz", compresslevel=4) as archive:
        archive.add(Path(folder) / "copy", "long")
    floor = time.perf_counter() - begin
    ours = took(folder, ("export", "long", "-o", str(packed)))
    size = f"{packed.stat().st_size / 1e6:.1f}"
    ratio = f"`export long -o long.tar.gz`: {float(ours[1]) / floor:.1f} of the floor, goal 3"
    return [["a copy of it and compression (floor)", "", f"{floor:.1f}", size, ""], [ratio, "", ours[1], size, ours[3]]]


def took(folder: str, words: tuple[str, ...]) -> list[str]:
    """Run a command to its end."""
    env = {**os.environ, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
    begin, lines, size = time.perf_counter(), 0, 0
    first, peak = None, [0]
    command = [sys.executable, "-m", "interlock", *words]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        watch = threading.Thread(target=watch_memory, args=(process, peak))
        watch.start()
        while data := os.read(process.stdout.fileno(), 65536):
            lines, size = lines + data.count(b"\n"), size + len(data)
            if first is None and (lines >= PAGE or "--json" in words):
                first = time.perf_counter() - begin
                if words == FIRST_PAGE:
                    process.terminate()
    watch.join()
    assert process.returncode == 0 or words == FIRST_PAGE, words
    all_of_it = time.perf_counter() - begin
    whole = f"{all_of_it:.1f}" if words != FIRST_PAGE else ""
    return [f"{first or all_of_it:.2f}", whole, f"{size / 1e6:.1f}", f"{peak[0] / 1024:.0f}"]


def watch_memory(process: subprocess.Popen[bytes], peak: list[int]) -> None:
    """Note the most that a process has had in memory, in KB, until it ends."""
    while process.returncode is None:
        with contextlib.suppress(OSError, ValueError, StopIteration):
            status = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            peak[0] = max(peak[0], next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
        time.sleep(0.02)


if __name__ == "__main__":
    from table import print_measured

    print_measured(measure, __doc__, NOTES)
