"""The time until a whole process tree is stopped, compared with killpg(SIGSTOP), which misses other sessions."""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from interlock.core import RunSpec
from interlock.process import ProcessTree, abilities, proc, spawn

NOTES = (
    "Time from the call until every process reached has stopped; our own includes the proof that nobody "
    "was missed. 'still running' counts processes of the tree that continue afterwards."
)

COMMAND = """
import os, signal, sys
plain, detached, busy = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "busy"
def live():
    os.write(1, b"x")
    while True:
        signal.pause() if not busy else None
for _ in range(plain - 1):
    os.fork() or live()
for _ in range(detached):
    if os.fork() == 0:
        os.setsid()
        os.fork() and os._exit(0)
        live()
    os.wait()
live()
"""

TREES = (
    ("2, idle", 2, 0, "idle"),
    ("5 of which 2 detached, busy", 3, 2, "busy"),
    ("40 of which 10 detached, idle", 30, 10, "idle"),
)


def measure(quick: bool = False) -> tuple[str, list[str], list[list[str]]]:
    """(title, header, rows) for the results page."""
    rounds = 5 if quick else 30
    mechanisms = [("signals", "process tree")]
    if abilities()[0].by == "kernel":
        mechanisms.insert(0, ("cgroup", "cgroup v2"))
    rows = []
    for name, plain, detached, kind in TREES:
        floor, missed = _with_group(plain, detached, kind, rounds)
        rows.append([name, "killpg(SIGSTOP)", *_figures(floor), "1.0", str(missed)])
        for mechanism, label in mechanisms:
            times, missed = _with_tree(plain, detached, kind, mechanism, rounds)
            ratio = statistics.median(times) / statistics.median(floor)
            rows.append([name, label, *_figures(times), f"{ratio:.1f}", str(missed)])
    header = ["processes", "by", "median ms", "slowest ms", "times killpg", "still running"]
    return "Freezing a tree of processes", header, rows


def main() -> None:
    title, header, rows = measure("--quick" in sys.argv)
    print(f"{title}\n{NOTES}\n")
    for row in [header, *rows]:
        print("  ".join(cell.ljust(30 if i == 0 else 16) for i, cell in enumerate(row)))


def _with_group(plain: int, detached: int, kind: str, rounds: int) -> tuple[list[float], int]:
    """killpg on a process group, until all that it reaches is stopped."""
    # In a group of its own, or we would stop ourselves.
    argv = ("setsid", *_argv(plain, detached, kind))
    whole = spawn(RunSpec(run_id="bench", argv=argv), stdout=subprocess.PIPE)
    try:
        _hear(whole, plain + detached)
        group = os.getpgid(whole.pid)
        pids = whole.pids()
        reached = [pid for pid in pids if os.getpgid(pid) == group]
        times = []
        for _ in range(rounds):
            times.append(_timed(lambda: os.killpg(group, signal.SIGSTOP), reached))
            missed = len(pids) - sum(_stopped(pid) for pid in pids)
            os.killpg(group, signal.SIGCONT)
        return times, missed
    finally:
        whole.end(0)


def _with_tree(plain: int, detached: int, kind: str, mechanism: str, rounds: int) -> tuple[list[float], int]:
    spec = RunSpec(run_id="bench", argv=_argv(plain, detached, kind))
    tree = spawn(spec, stdout=subprocess.PIPE, mechanism=mechanism)  # type: ignore[arg-type]
    try:
        _hear(tree, plain + detached)
        times, missed = [], 0
        for _ in range(rounds):
            how = tree.freeze()
            times.append(how.seconds)
            missed = max(missed, plain + detached - how.processes, how.missed)
            tree.thaw()
        return times, missed
    finally:
        tree.end(0)


def _argv(plain: int, detached: int, kind: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-c", COMMAND, str(plain), str(detached), kind)


def _hear(tree: ProcessTree, count: int) -> None:
    assert tree.stdout is not None
    tree.stdout.read(count)


def _timed(act: Callable[[], None], pids: list[int]) -> float:
    begin = time.perf_counter()
    act()
    while not all(_stopped(pid) for pid in pids):
        pass
    return time.perf_counter() - begin


def _stopped(pid: int) -> bool:
    process = proc.read_process(pid)
    return process is None or process.stopped


def _figures(times: list[float]) -> list[str]:
    return [f"{statistics.median(times) * 1000:.1f}", f"{max(times) * 1000:.1f}"]


if __name__ == "__main__":
    main()
