"""Steps per second of `interlock scan`, on one core and on all, compared with only reading the same files.

Usage: python bench/scan.py [--quick]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import psutil

from traces import DEFAULT, ROOT, SOURCES, load

EXTRACT = ROOT / "tests" / "data" / "traces"
ROUNDS = 5
READ = """
import gzip, json, sys
for name in sys.argv[1:]:
    with (gzip.open if name.endswith(".gz") else open)(name, "rb") as lines:
        for line in lines:
            json.loads(line)
"""

NOTES = (
    "Whole processes, start and end of the interpreter included, in turn. The floor is a plain interpreter that reads, "
    "unpacks and decodes the same lines with the standard library on one core. Goals: 11,000 steps a second on one, "
    "20,000 on two, for many files and for one large plain file, in less than 300 MB for all processes together."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    folder, sources = (DEFAULT, SOURCES) if DEFAULT.is_dir() else (EXTRACT, ("extract",))
    files = [str(path) for source in sources for path in folder.glob(f"{source}.jsonl*")]
    lengths = [len(trace.steps) for source in sources for trace in load(folder, source)]
    steps = sum(lengths)
    scan = [str(Path(sys.executable).with_name("interlock")), "scan", "--json"]
    all_cores = sorted(os.sched_getaffinity(0))
    one = all_cores[-1:]
    commands = {
        "read, unpack and decode, one core": ([sys.executable, "-I", "-c", READ, *files], one),
        "interlock scan --json, one core": ([*scan, *files], one),
        f"interlock scan --json, {len(all_cores)} cores": ([*scan, *files], all_cores),
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(3 if quick else ROUNDS):
        for name, (command, cores) in commands.items():
            spent[name].append(_run(command, cores))
    floor = statistics.median(spent[next(iter(commands))])
    rows = [_row(name, times, steps, floor) for name, times in spent.items()]
    for row, (command, cores) in zip(rows, commands.values(), strict=True):
        row.append(f"{_memory(command, cores):.0f} MB")
    what = f"{len(lengths)} traces, {steps:,} steps"
    header = [what, "s (median)", "best", "worst", "steps per second (median)", "ratio to reading", "memory (PSS)"]
    return "Scan: recorded traces", header, rows


def _run(command: list[str], cores: list[int]) -> float:
    """Seconds of a process that has these cores."""
    began = time.perf_counter()
    status = subprocess.call(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if status not in (0, 1):
        raise SystemExit(f"{command[0]} ended with status {status}")
    return time.perf_counter() - began


def _memory(command: list[str], cores: list[int]) -> float:
    """Most memory (MB) of a process and its children together, shared pages counted once."""
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    most = 0
    while running.poll() is None:
        try:
            family = psutil.Process(running.pid)
            most = max(most, sum(each.memory_full_info().pss for each in (family, *family.children(recursive=True))))
        except psutil.Error:
            pass
        time.sleep(0.05)
    return most / 1e6


def _row(name: str, times: list[float], steps: int, floor: float) -> list[str]:
    median = statistics.median(times)
    seconds = [f"{value:.2f}" for value in (median, min(times), max(times))]
    return [name, *seconds, f"{steps / median:,.0f}", f"{median / floor:.1f}"]


if __name__ == "__main__":
    from table import print_measured

    print_measured(measure, __doc__, NOTES)
