"""What containment costs: the start of a run at each level, and a call inside, interleaved in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LEVELS = ("off", "guard", "fence")
NOTES = (
    "A whole `interlock run -- true` at each level, in changing order: the median, and the median difference to "
    "the run at `off` of the same round; the limit for guard is 60 ms. A call starts one `true` inside and waits "
    "for it, 200 times; the fastest run counts, since other work on the machine can only slow it down."
)
ROUNDS = 10
CALLS = """
import subprocess, time
begin = time.perf_counter()
for _ in range(200):
    subprocess.run(["true"])
print((time.perf_counter() - begin) * 1000 / 200)
"""


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    starts: dict[str, list[float]] = {level: [] for level in LEVELS}
    calls: dict[str, list[float]] = {level: [] for level in LEVELS}
    with tempfile.TemporaryDirectory() as root:
        run(Path(root), "off", "true")  # Makes what every first run makes.
        for number in range(3 if quick else ROUNDS):
            for level in LEVELS if number % 2 else reversed(LEVELS):
                begin = time.perf_counter()
                run(Path(root), level, "true")
                starts[level].append((time.perf_counter() - begin) * 1000)
        for _ in range(1 if quick else 3):
            for level in LEVELS:
                said = run(Path(root), level, sys.executable, "-c", CALLS)
                calls[level].append(float(said))
    rows = []
    for level in LEVELS:
        over = statistics.median(took - off for took, off in zip(starts[level], starts["off"], strict=True))
        each = min(calls[level])
        rows.append([level, f"{statistics.median(starts[level]):.0f}", f"{over:+.0f}", f"{each:.2f}",
                     f"{each / min(calls['off']):.2f}"])  # fmt: skip
    return "Containment", ["level", "run (ms)", "over off (ms)", "call (ms)", "ratio of calls"], rows


def run(root: Path, level: str, *command: str) -> str:
    folders = {name: str(root / name) for name in ("state", "config", "run", "work")}
    for folder in folders.values():
        Path(folder).mkdir(exist_ok=True, mode=0o700)
    environment = {
        **os.environ, "XDG_STATE_HOME": folders["state"], "XDG_CONFIG_HOME": folders["config"],
        "XDG_RUNTIME_DIR": folders["run"],
    }  # fmt: skip
    words = [sys.executable, "-m", "interlock", "run", "--contain", level, "--no-checkpoints", "--", *command]
    done = subprocess.run(words, cwd=folders["work"], env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> None:
    from table import print_table

    print_table(*measure(), NOTES)


if __name__ == "__main__":
    main()
