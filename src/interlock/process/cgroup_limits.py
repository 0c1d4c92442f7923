"""CgroupLimits: limits enforced by the kernel; LimitWatcher: enforces limits by polling if the kernel cannot."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ..core import Limits
from . import proc
from .cgroup_hierarchy import read_words, write_control
from .outcome import LimitEvent, LimitHeld, LimitName
from .proc import Process, read_bytes

PERIOD_US = 100_000
MB = 1024 * 1024

CONTROLLER_OF: dict[LimitName, str] = {"max_memory_mb": "memory", "max_processes": "pids", "max_cpu_percent": "cpu"}


class CgroupLimits:
    """Sets limits and reads their counters. A missing folder counts as zero."""

    def __init__(self, group: Path | None, v1: dict[str, Path]) -> None:
        present = read_words(group / "cgroup.controllers") if group else []
        self._v2 = {name: group for name in CONTROLLER_OF.values() if group and name in present}
        self._v1 = v1

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._v2) | frozenset(self._v1)

    def limit(self, limits: Limits) -> dict[LimitName, LimitHeld | None]:
        """Set each limit, or remove it if it is None; returns those that the kernel now enforces."""
        return {name: self._limit(name, getattr(limits, name)) for name in CONTROLLER_OF}

    def events(self, limits: Limits) -> list[LimitEvent]:
        """The limits that were reached so far."""
        found = []
        counts: dict[LimitName, int] = {
            "max_memory_mb": self._out_of_memory(),
            "max_processes": self._refused(),
            "max_cpu_percent": self._throttled(),
        }
        for name, count in counts.items():
            value = getattr(limits, name)
            if count and value is not None:
                found.append(LimitEvent(limit=name, value=value, count=count, words=_words_of(name, value, count)))
        return found

    def memory_bytes(self) -> int | None:
        """Memory in use, excluding page cache; None without a memory controller."""
        if folder := self._v2.get("memory"):
            used, inner = _number(folder / "memory.current"), _table(folder / "memory.stat")
            return max(0, used - inner.get("active_file", 0) - inner.get("inactive_file", 0))
        if folder := self._v1.get("memory"):
            used, inner = _number(folder / "memory.usage_in_bytes"), _table(folder / "memory.stat")
            return max(0, used - inner.get("total_active_file", 0) - inner.get("total_inactive_file", 0))
        return None

    def _limit(self, name: LimitName, value: float | None) -> LimitHeld | None:
        controller = CONTROLLER_OF[name]
        if folder := self._v2.get(controller):
            knobs = _v2_knobs(name, value)
        elif folder := self._v1.get(controller):
            knobs = _v1_knobs(name, value)
        else:
            return None
        file, *others = knobs
        # If swap is counted together with memory, its limit must not be lower than that of memory: try both orders.
        optional = [(folder / knob, text) for knob, text in others]
        for knob, text in optional:
            write_control(knob, text)
        if not write_control(folder / file[0], file[1]):
            return None
        for knob, text in optional:
            write_control(knob, text)
        if value is None:
            return None
        note = "threads count as processes" if name == "max_processes" else ""
        return LimitHeld(limit=name, value=value, by="kernel", note=note)

    def _out_of_memory(self) -> int:
        if folder := self._v2.get("memory"):
            return _table(folder / "memory.events").get("oom_kill", 0)
        folder = self._v1.get("memory")
        return _table(folder / "memory.oom_control").get("oom_kill", 0) if folder else 0

    def _refused(self) -> int:
        folder = self._v2.get("pids") or self._v1.get("pids")
        return _table(folder / "pids.events").get("max", 0) if folder else 0

    def _throttled(self) -> int:
        folder = self._v2.get("cpu") or self._v1.get("cpu")
        return _table(folder / "cpu.stat").get("nr_throttled", 0) if folder else 0


def _v2_knobs(name: LimitName, value: float | None) -> list[tuple[str, str]]:
    """The files to write and their content; all but the first may be missing."""
    if name == "max_memory_mb":
        # No swap: with swap, the limit would only slow down the machine.
        size = "max" if value is None else str(int(value * MB))
        return [("memory.max", size), ("memory.swap.max", "max" if value is None else "0")]
    if name == "max_processes":
        return [("pids.max", "max" if value is None else str(int(value)))]
    return [("cpu.max", f"max {PERIOD_US}" if value is None else f"{_quota(value)} {PERIOD_US}")]


def _v1_knobs(name: LimitName, value: float | None) -> list[tuple[str, str]]:
    if name == "max_memory_mb":
        size = "-1" if value is None else str(int(value * MB))
        return [("memory.limit_in_bytes", size), ("memory.memsw.limit_in_bytes", size)]
    if name == "max_processes":
        return [("pids.max", "max" if value is None else str(int(value)))]
    return [("cpu.cfs_quota_us", "-1" if value is None else str(_quota(value)))]


def _quota(percent: float) -> int:
    # The kernel accepts no quota below one millisecond.
    return max(1000, int(percent / 100 * PERIOD_US))


def _words_of(name: str, value: float, count: int) -> str:
    times = "once" if count == 1 else f"{count} times"
    if name == "max_memory_mb":
        return f"the memory limit of {value:g} MB was reached: the kernel ended a process {times}"
    if name == "max_processes":
        return f"the limit of {value:g} processes was reached: the kernel refused a new one {times}"
    return f"the CPU limit of {value:g} % of a core was reached: the kernel throttled it {times}"


def _table(file: Path) -> dict[str, int]:
    """The numbers in a file with a name and a number on each line."""
    words = [line.split() for line in _text(file).splitlines()]
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _number(file: Path) -> int:
    text = _text(file).strip()
    return int(text) if text.isdigit() else 0


def _text(file: Path) -> str:
    return read_bytes(str(file)).decode()


INTERVAL_S = 0.1
NEAR_S = 0.02
"""The check interval from four fifths of a limit on."""

SHARE = 0.05
"""The largest share of one core that checks may use on a machine with many processes."""


Lister = Callable[[], list[Process]]


class LimitWatcher:
    """A thread that checks the tree and ends processes that exceed a limit: the largest one, or the newest ones."""

    def __init__(self, list_processes: Lister) -> None:
        self._list_processes = list_processes
        self._limits = Limits()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._counts: dict[LimitName, int] = {}

    def hold(self, limits: Limits) -> None:
        """Enforce max_memory_mb and max_processes; None means no limit."""
        self._limits = limits
        wanted = limits.max_memory_mb is not None or limits.max_processes is not None
        if wanted and self._thread is None and not self._over.is_set():
            self._thread = threading.Thread(target=self._run, name="interlock-watch", daemon=True)
            self._thread.start()

    def close(self) -> None:
        self._over.set()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()

    def events(self, limits: Limits) -> list[LimitEvent]:
        return [
            LimitEvent(
                limit=name, value=getattr(limits, name) or 0, count=count, words=_watched_words(name, limits, count)
            )
            for name, count in self._counts.items()
        ]

    def check(self) -> float:
        """Check once, and end processes that exceed a limit; returns how close the closest limit is (1 = reached)."""
        processes = self._list_processes()
        return max(self._check_memory(processes), self._check_count(processes))

    def _run(self) -> None:
        pause = INTERVAL_S
        while not self._over.wait(pause):
            begin = time.thread_time()
            pause = NEAR_S if self.check() > 0.8 else INTERVAL_S
            pause = max(pause, (time.thread_time() - begin) / SHARE)

    def _check_memory(self, processes: list[Process]) -> float:
        limit = self._limits.max_memory_mb
        if limit is None or not processes:
            return 0.0
        # Resident memory is cheap to read but counts shared pages twice; the exact sum is needed only above the limit.
        used = sum(p.resident_bytes for p in processes)
        if used > limit * MB:
            sizes = {p: proc.proportional_bytes(p) for p in processes}
            used = sum(sizes.values())
            if used > limit * MB:
                self._end(max(sizes, key=lambda p: sizes[p]), "max_memory_mb")
        return used / (limit * MB) if limit else 1.0

    def _check_count(self, processes: list[Process]) -> float:
        limit = self._limits.max_processes
        if limit is None:
            return 0.0
        # Count threads, as the kernel's limit does.
        count = sum(p.threads for p in processes)
        left = count
        for process in sorted(processes, key=lambda p: (p.start, p.pid), reverse=True):
            if left <= limit:
                break
            if self._end(process, "max_processes"):
                left -= process.threads
        return count / limit if limit else 1.0

    def _end(self, process: Process, limit: LimitName) -> bool:
        try:
            ended = proc.send(process.pid, process.start, signal.SIGKILL)
        except PermissionError:
            return False
        if ended:
            self._counts[limit] = self._counts.get(limit, 0) + 1
        return ended


def _watched_words(name: LimitName, limits: Limits, count: int) -> str:
    ended = "1 process was killed" if count == 1 else f"{count} processes were killed"
    if name == "max_memory_mb":
        return f"the memory limit of {limits.max_memory_mb} MB was reached: {ended}, each the largest then"
    return f"the limit of {limits.max_processes} processes was reached: {ended}, the newest first"
