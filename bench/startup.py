"""How long `interlock --version` takes, against a plain interpreter in the same run."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

NOTES = (
    "Medians of interleaved runs. `interlock --version` is to take at most 2.5 times the plain interpreter, and "
    "`interlock run -- true` at most 22 times."
)


def environment(base: Path) -> dict[str, str]:
    """A store, a configuration and sockets of its own."""
    sockets = base / "sockets"
    sockets.mkdir(mode=0o700, exist_ok=True)
    mine = {"XDG_STATE_HOME": base / "state", "XDG_CONFIG_HOME": base / "config", "XDG_RUNTIME_DIR": sockets}
    return {**os.environ, **{name: str(folder) for name, folder in mine.items()}}


def took(command: list[str], base: Path) -> float:
    """Milliseconds of one run in an empty folder."""
    workspace = base / "workspace"
    workspace.mkdir(exist_ok=True)
    env = environment(base)
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, cwd=workspace, env=env)
    return (time.perf_counter() - begin) * 1000


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    interlock = str(Path(sys.executable).with_name("interlock"))
    commands = {
        "python -I -c pass": [sys.executable, "-I", "-c", "pass"],
        "interlock --version": [interlock, "--version"],
        "interlock --help": [interlock, "--help"],
        "import interlock": [sys.executable, "-c", "import interlock"],
        "interlock run -- true": [interlock, "run", "--", "true"],
        "interlock run --contain off -- true": [interlock, "run", "--contain", "off", "--", "true"],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="il-", dir="/tmp") as root:
        for _ in range(5 if quick else 40):
            for name, command in commands.items():
                times[name].append(took(command, Path(root)))
    bare = statistics.median(times["python -I -c pass"])
    rows = [
        [name, f"{statistics.median(values):.1f}", f"{statistics.median(values) / bare:.2f}"]
        for name, values in times.items()
    ]
    return "Start-up", ["command", "ms (median)", "ratio to plain Python"], rows


def main() -> None:
    from table import print_table

    print_table(*measure(), NOTES)


if __name__ == "__main__":
    main()
