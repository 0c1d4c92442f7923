"""Reads /proc. A process that is gone yields None, never an error."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

from ..core import LINUX, open_process, signal_process

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


class Process(NamedTuple):
    """One process at one moment. `start` (ticks since boot) distinguishes it from a later one with the same pid."""

    pid: int
    start: int
    state: str
    parent: int
    group: int
    session: int
    threads: int
    cpu_s: float
    waited_cpu_s: float
    resident_bytes: int

    @property
    def dead(self) -> bool:
        """Whether it is dead or a zombie; a zombie with other running threads is not dead."""
        return self.state == "X" or (self.state == "Z" and self.threads <= 1)

    @property
    def stopped(self) -> bool:
        return self.state in "Tt"


def read_process(pid: int) -> Process | None:
    """The process with this pid, zombies included."""
    if not LINUX:
        return _read_with_psutil(pid)
    line = read_bytes(f"/proc/{pid}/stat")
    if not line:
        return None
    # The name is in parentheses, and may itself contain spaces and parentheses.
    fields = line[line.rindex(b")") + 2 :].split()
    # Positional, for speed: a scan of the machine creates one for each process.
    return Process(
        pid,
        int(fields[19]),
        fields[0].decode() if fields[0] != b"Z" or fields[17] == b"1" else _state_without_leader(pid),
        int(fields[1]),
        int(fields[2]),
        int(fields[3]),
        int(fields[17]),
        (int(fields[11]) + int(fields[12])) / TICKS,
        (int(fields[13]) + int(fields[14])) / TICKS,
        int(fields[21]) * PAGE,
    )


def _state_without_leader(pid: int) -> str:
    """The state of a process whose first thread has ended: that of a thread that still runs, if there is one."""
    states = set(thread_states(pid)) - set("ZX")
    return next(iter(states - set("Tt")), "T") if states else "Z"


def _read_with_psutil(pid: int) -> Process | None:
    """The same from psutil, on other systems, in hundredths of seconds and without the time of children."""
    import psutil

    try:
        process = psutil.Process(pid)
        with process.oneshot():
            used, status = process.cpu_times(), process.status()
            return Process(
                pid=pid,
                start=int(process.create_time() * 100),
                state={psutil.STATUS_ZOMBIE: "Z", psutil.STATUS_DEAD: "X", psutil.STATUS_STOPPED: "T"}.get(status, "S"),
                parent=process.ppid(),
                group=os.getpgid(pid),
                session=os.getsid(pid),
                threads=process.num_threads(),
                cpu_s=used.user + used.system,
                waited_cpu_s=0.0,
                resident_bytes=process.memory_info().rss,
            )
    except (psutil.Error, OSError):
        return None


def read_processes(known: dict[int, Process] | None = None) -> dict[int, Process]:
    """Every process on the machine that is not dead, by pid; `known` ones are not read again."""
    if LINUX:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    else:
        import psutil

        pids = psutil.pids()
    table: dict[int, Process] = {}
    known = known or {}
    for pid in pids:
        process = known.get(pid)
        if process is not None or ((process := read_process(pid)) is not None and not process.dead):
            table[pid] = process
    return table


def start_of(pid: int) -> int | None:
    process = read_process(pid)
    return process.start if process else None


def children_of(pid: int) -> tuple[int, ...]:
    """The children of a single-threaded process except ourselves, in one read; empty if unsupported."""
    children = (int(child) for child in read_bytes(f"/proc/{pid}/task/{pid}/children").split())
    return tuple(child for child in children if child != os.getpid())


TELLS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()
"""Whether this kernel lists the children of a process."""


def all_children_of(pid: int) -> list[int]:
    """The children of every thread of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return []
    return [int(child) for thread in threads for child in read_bytes(f"/proc/{pid}/task/{thread}/children").split()]


def thread_states(pid: int) -> str:
    """The state letter of each thread of a process."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208
    except OSError:
        return ""
    lines = (read_bytes(f"/proc/{pid}/task/{thread}/stat") for thread in threads)
    return "".join(chr(line[line.rindex(b")") + 2]) for line in lines if line)


def stop_waits(pid: int) -> bool:
    """Whether a process that waits in the kernel has a pending stop; one that merely reads a disk has none."""
    waiting = (line for line in read_bytes(f"/proc/{pid}/status").splitlines() if line[:7] in (b"SigPnd:", b"ShdPnd:"))
    # If one of its threads has received the signal, the others stop as well.
    return any(int(line[7:], 16) >> (signal.SIGSTOP - 1) & 1 for line in waiting) or "T" in thread_states(pid)


def name_of(pid: int) -> str:
    """The name of a process's program, at most 15 characters; a question mark if it is gone."""
    return read_bytes(f"/proc/{pid}/comm").decode("utf-8", "replace").strip() or "?"


def environment_of(pid: int) -> bytes:
    """The environment that the process started with, NUL after each variable; empty if we may not read it."""
    return read_bytes(f"/proc/{pid}/environ")


def proportional_bytes(process: Process) -> int:
    """Memory of a process, with shared pages divided among their users; resident memory if unavailable."""
    for line in read_bytes(f"/proc/{process.pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    return process.resident_bytes


def send(pid: int, start: int, number: int) -> bool:
    """Signal exactly this process; False if it is gone. PermissionError if we are not allowed to."""
    try:
        handle = open_process(pid)
    except ProcessLookupError:
        return False
    except OSError:
        # No pidfd support, or no descriptor left for one.
        return start_of(pid) == start and _kill(pid, number)
    try:
        # The pidfd pins the process, so that the comparison is still valid when the signal is sent.
        if start_of(pid) != start:
            return False
        signal_process(handle, number)
    except ProcessLookupError:
        return False
    finally:
        os.close(handle)
    return True


def send_group(group: int, number: int) -> None:
    """Signal a whole process group in one call, so that no fork inside it escapes."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def send_now(pid: int, number: int) -> None:
    """Signal a pid that has just been read."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


def waited_s(task: str) -> float:
    """How long a thread, given by its folder in /proc, was ready to run but had no CPU."""
    words = read_bytes(f"{task}/schedstat").split()
    return int(words[1]) / 1e9 if len(words) > 1 and words[1].isdigit() else 0.0


SHORT = 1024
"""The kernel returns at least a page per read if it can, so a shorter read is complete."""


def read_bytes(path: str) -> bytes:
    """The whole file; empty if it is gone or we are not allowed to read it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
            if len(part) < SHORT:
                break
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
