"""The cost of idle runs: CPU time and memory of fronts and owners, with and without many foreign processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from startup import environment

NOTES = """This many `interlock run -- sleep` at once, after they have settled. CPU time of all their processes
except the command's own; the goal is 10% of one core for 300 runs. Memory is the PSS of front, owner and copier.
Unrelated processes sleep outside every run."""

SETTLED_S = 20.0
WINDOW_S = 20.0
INTERLOCK = str(Path(sys.executable).with_name("interlock"))
TICKS = os.sysconf("SC_CLK_TCK")


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """Title, header and rows for the table of results."""
    runs, foreign = (6, 200) if quick else (int(os.environ.get("FLEET", "300")), 2000)
    header = ["runs", "unrelated processes", "share of one core", "scaled to 300 runs (goal 10%)", "MB per run"]
    return "Idle runs", header, _measure(quick, runs, foreign)


def _measure(quick: bool, runs: int, foreign: int) -> list[list[str]]:
    rows = []
    with tempfile.TemporaryDirectory(prefix="il-", dir="/tmp") as folder:
        root = Path(folder)
        fleet = [_start(root, number) for number in range(runs)]
        strangers: list[subprocess.Popen[bytes]] = []
        try:
            for one in fleet:
                assert one.stdout is not None
                one.stdout.readline()
            for beside in (0, foreign):
                strangers += [subprocess.Popen(["sleep", "600"]) for _ in range(beside)]
                time.sleep(5.0 if quick else SETTLED_S)
                fronts = [one.pid for one in fleet]
                ours = [pid for front in fronts for pid in (front, *_children(front)) if _name(pid) != "sleep"]
                before, begin = sum(map(_cpu_s, ours)), time.monotonic()
                time.sleep(5.0 if quick else WINDOW_S)
                share = (sum(map(_cpu_s, ours)) - before) / (time.monotonic() - begin)
                memory = sum(map(_pss_mb, ours)) / runs
                figures = [f"{100 * share:.1f}%", f"{100 * share * 300 / runs:.1f}%", f"{memory:.1f}"]
                rows.append([str(runs), f"{beside:,}", *figures])
        finally:
            for process in (*strangers, *fleet):
                process.kill() if process in strangers else process.terminate()
            for process in (*strangers, *fleet):
                process.wait()
    return rows


def _start(root: Path, number: int) -> subprocess.Popen[bytes]:
    workspace = root / f"w{number}"
    workspace.mkdir()
    env = environment(root)
    command = [INTERLOCK, "run", "--", "sh", "-c", "echo up; exec sleep 600"]
    return subprocess.Popen(command, cwd=workspace, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def _children(pid: int) -> list[int]:
    """All that came from a process."""
    found: list[int] = []
    for task in _list(f"/proc/{pid}/task"):
        for child in _text(f"/proc/{pid}/task/{task}/children").split():
            found += [int(child), *_children(int(child))]
    return found


def _cpu_s(pid: int) -> float:
    fields = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS if fields else 0.0


def _pss_mb(pid: int) -> float:
    lines = _text(f"/proc/{pid}/smaps_rollup").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _name(pid: int) -> str:
    return _text(f"/proc/{pid}/comm").strip()


def _list(folder: str) -> list[str]:
    try:
        return [path.name for path in Path(folder).iterdir()]
    except OSError:
        return []


def _text(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""


def main() -> None:
    from table import print_table

    print_table(*measure("--quick" in sys.argv), NOTES)


if __name__ == "__main__":
    main()
