"""The cost of keeping output for a command that prints 20 MB/s, with and without, interleaved; and the bound on disk.

python bench/output.py [ROUNDS] [GIGABYTES]: prints one JSON document.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACED = """
import os, time
line = b"[%06d] compiling src/module.c with -O2 -Wall, 0 warnings, next file in the list follows\\n"
block = b"".join(line % n for n in range(2400))[:200_000]
began, work = time.monotonic(), 0.0
for n in range(400):
    at = time.monotonic()
    view = memoryview(block)
    while view:
        view = view[os.write(1, view):]
    work += time.monotonic() - at
    left = began + (n + 1) * 0.01 - time.monotonic()
    if left > 0:
        time.sleep(left)
os.write(2, b"TOOK %f %f " % (time.monotonic() - began, work))
"""

FLOOD = """
import os
block = b"x" * 119 + b"\\n"
block = block * 8738
for n in range(%d):
    view = memoryview(block)
    while view:
        view = view[os.write(1, view):]
"""


def paced(words: list[str], env: dict[str, str]) -> float:
    """Seconds that the command itself took."""
    with open(os.devnull, "wb") as sink:
        done = subprocess.run(
            [*words, sys.executable, "-c", PACED], stdout=sink, stderr=subprocess.PIPE, env=env, check=True
        )
    return float(done.stderr.partition(b"TOOK ")[2].split()[0])


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    gigabytes = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "run").mkdir(mode=0o700)
        os.chdir(root)
        folders = {"XDG_STATE_HOME": root, "XDG_CONFIG_HOME": root, "XDG_RUNTIME_DIR": f"{root}/run"}
        env = {**os.environ, **folders}
        run = [sys.executable, "-m", "interlock", "run", "--no-checkpoints", "--"]
        plain, kept, off = [], [], []
        for _ in range(rounds):
            plain.append(paced([], env))
            kept.append(paced(run, env))
            off.append(paced(run, {**env, "INTERLOCK_STORE__OUTPUT_BYTES": "0"}))
        began = time.monotonic()
        with open(os.devnull, "wb") as sink:
            blocks = int(gigabytes * 1e9 / (120 * 8738))
            subprocess.run(
                [*run, sys.executable, "-c", FLOOD % blocks],
                stdout=sink,
                stderr=subprocess.DEVNULL,
                env=env,
                check=True,
            )
        took = time.monotonic() - began
        sizes = [
            sum(p.stat().st_size for p in folder.iterdir()) for folder in Path(root).glob("interlock/runs/*/output")
        ]
    middle = rounds // 2
    print(
        json.dumps(
            {
                "load": os.getloadavg()[0],
                "paced_20MBps_s": {"plain": sorted(plain), "kept": sorted(kept), "not_kept": sorted(off)},
                "ratio_of_medians": sorted(kept)[middle] / sorted(plain)[middle],
                "flood_GB": gigabytes,
                "flood_MBps": gigabytes * 1000 / took,
                "most_bytes_kept": max(sizes),
                "bound": 64 * 1024**2,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
