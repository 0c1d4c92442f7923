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
    "A whole `interlock run -- true` at each level, interleaved (medians). Guard may take 60 ms more than off. "
    "A call is one `true`, started and waited for inside, of 200."
)
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
        for _ in range(3 if quick else 20):
            for level in LEVELS:
                begin = time.perf_counter()
                run(Path(root), level, "true")
                starts[level].append((time.perf_counter() - begin) * 1000)
        for _ in range(1 if quick else 5):
            for level in LEVELS:
                said = run(Path(root), level, sys.executable, "-c", CALLS)
                calls[level].append(float(said))
    off, call = statistics.median(starts["off"]), statistics.median(calls["off"])
    rows = []
    for level in LEVELS:
        took, each = statistics.median(starts[level]), statistics.median(calls[level])
        rows.append(
            [level, f"{took:.0f}", f"{took - off:+.0f}", f"{took / off:.2f}", f"{each:.2f}", f"{each / call:.2f}"]
        )
    return "Containment", ["level", "run (ms)", "over off (ms)", "ratio", "call (ms)", "ratio of calls"], rows


def run(root: Path, level: str, *command: str) -> str:
    places = {name: str(root / name) for name in ("state", "config", "run", "work")}
    for place in places.values():
        Path(place).mkdir(exist_ok=True, mode=0o700)
    environment = {
        **os.environ, "XDG_STATE_HOME": places["state"], "XDG_CONFIG_HOME": places["config"],
        "XDG_RUNTIME_DIR": places["run"],
    }  # fmt: skip
    words = [sys.executable, "-m", "interlock", "run", "--contain", level, "--no-checkpoints", "--", *command]
    done = subprocess.run(words, cwd=places["work"], env=environment, check=True, capture_output=True, text=True)
    return done.stdout


def main() -> None:
    from table import print_table

    print_table(*measure(), NOTES)


if __name__ == "__main__":
    main()
