"""CgroupLimits: the kernel's own limits on memory, processes and CPU of one tree, in cgroup v2 or v1 folders."""

from __future__ import annotations

import os
from pathlib import Path

from ..core import Limits
from .outcome import LimitEvent, LimitHeld, LimitName
from .proc import read_bytes

PERIOD_US = 100_000
MB = 1024 * 1024

CONTROLLER_OF: dict[LimitName, str] = {"max_memory_mb": "memory", "max_processes": "pids", "max_cpu_percent": "cpu"}


class CgroupLimits:
    """Sets limits and reads what they counted. Folders that are gone count nothing."""

    def __init__(self, group: Path | None, v1: dict[str, Path]) -> None:
        present = _words(group / "cgroup.controllers") if group else []
        self._v2 = {name: group for name in CONTROLLER_OF.values() if group and name in present}
        self._v1 = v1

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._v2) | frozenset(self._v1)

    def limit(self, limits: Limits) -> dict[LimitName, LimitHeld | None]:
        """Set each limit, or take it away where it is None; the answer has those that the kernel now holds."""
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
        """Memory in use that cannot simply be dropped (page cache can); None without a memory controller."""
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
        # Where swap is counted with memory it must not be below it: whichever order the kernel takes.
        optional = [(folder / knob, text) for knob, text in others]
        for knob, text in optional:
            _write(knob, text)
        if not _write(folder / file[0], file[1]):
            return None
        for knob, text in optional:
            _write(knob, text)
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
    """The file to write and its text; after the first, files that may be missing."""
    if name == "max_memory_mb":
        # Without swap: a limit that swap stretches would only make the machine slow.
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
    # The kernel takes no quota below one millisecond.
    return max(1000, int(percent / 100 * PERIOD_US))


def _words_of(name: str, value: float, count: int) -> str:
    times = "once" if count == 1 else f"{count} times"
    if name == "max_memory_mb":
        return f"the memory limit of {value:g} MB was reached: the kernel ended a process {times}"
    if name == "max_processes":
        return f"the limit of {value:g} processes was reached: the kernel refused a new one {times}"
    return f"the CPU limit of {value:g} % of a core was reached: the kernel throttled it {times}"


def _table(file: Path) -> dict[str, int]:
    """The numbers of a file with a name and a number on each line."""
    words = [line.split() for line in _text(file).splitlines()]
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _number(file: Path) -> int:
    text = _text(file).strip()
    return int(text) if text.isdigit() else 0


def _words(file: Path) -> list[str]:
    return _text(file).split()


def _text(file: Path) -> str:
    return read_bytes(str(file)).decode()


def _write(file: Path, text: str) -> bool:
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(descriptor, text.encode())
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
