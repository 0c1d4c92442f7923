"""How many steps `interlock scan` looks at in a second on one core, against only reading the same files.

Usage: python bench/scan.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from traces import DEFAULT, ROOT, SOURCES, load

EXTRACT = ROOT / "tests" / "data" / "traces"
ROUNDS = 15
READ = """
import gzip, json, sys
for name in sys.argv[1:]:
    with (gzip.open if name.endswith(".gz") else open)(name, "rb") as lines:
        for line in lines:
            json.loads(line)
"""

NOTES = (
    "Whole processes, start and end of the interpreter included, in turn on one core. The floor is a bare interpreter "
    "that reads, unpacks and decodes the same lines with the standard library. `interlock scan` is to do 8,000 steps a "
    "second in less than 300 MB."
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    folder, sources = (DEFAULT, SOURCES) if DEFAULT.is_dir() else (EXTRACT, ("extract",))
    files = [str(path) for source in sources for path in folder.glob(f"{source}.jsonl*")]
    lengths = [len(trace.steps) for source in sources for trace in load(folder, source)]
    steps = sum(lengths)
    commands = {
        "read, unpack and decode": [sys.executable, "-I", "-c", READ, *files],
        "interlock scan --json": [str(Path(sys.executable).with_name("interlock")), "scan", "--json", *files],
    }
    spent: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(3 if quick else ROUNDS):
        for name, command in commands.items():
            spent[name].append(_run(command))
    floor = statistics.median(spent[next(iter(commands))])
    rows = [_row(name, times, steps, floor) for name, times in spent.items()]
    rows[-1].append(f"{_memory(commands['interlock scan --json']):.0f} MB")
    rows[0].append("")
    what = f"{len(lengths)} traces, {steps:,} steps"
    header = [what, "s (median)", "best", "worst", "steps per second (median)", "ratio to reading", "memory"]
    return "Scan: recorded traces", header, rows


def _run(command: list[str]) -> float:
    """Seconds of a process that has one core."""
    core = {max(os.sched_getaffinity(0))}
    began = time.perf_counter()
    status = subprocess.call(command, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, core))
    if status not in (0, 1):
        raise SystemExit(f"{command[0]} ended with status {status}")
    return time.perf_counter() - began


def _memory(command: list[str]) -> float:
    """Most memory (MB) of a process, asked of a small parent: what is forked off a large one counts as large."""
    ask = (
        "import resource, subprocess, sys; subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    said = subprocess.run([sys.executable, "-I", "-c", ask, *command], check=True, capture_output=True, text=True)
    return int(said.stdout) / 1024


def _row(name: str, times: list[float], steps: int, floor: float) -> list[str]:
    median = statistics.median(times)
    seconds = [f"{value:.2f}" for value in (median, min(times), max(times))]
    return [name, *seconds, f"{steps / median:,.0f}", f"{median / floor:.1f}"]


def main() -> None:
    from table import print_table

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print_table(*measure(parser.parse_args().quick), NOTES)


if __name__ == "__main__":
    main()
