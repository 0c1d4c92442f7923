"""ProcessTree: a command and all its descendants, frozen, thawed, limited and ended as one."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO

import msgspec

from ..core import Limits, open_process
from . import cgroup_hierarchy, proc, signals
from .cgroup import Cgroup, CgroupPulse
from .cgroup_limits import CONTROLLER_OF, INTERVAL_S, CgroupLimits, LimitWatcher
from .handle import TreeHandle
from .init_process import CONTINUE, STOP
from .outcome import EndOutcome, FreezeOutcome, LimitEvent, LimitHeld, LimitName, Mechanism, Use
from .proc import Process
from .process_family import ProcessFamily

FREEZE_S = 5.0
CONFIRM_S = 0.5
"""How long the kernel may take to confirm a freeze before we check what prevents it."""
AGAIN_S = 0.02
"""After this time, processes that are stopped by signals are looked at again: a timer of theirs may continue them."""
STUCK_S = 0.1
KILL_S = 10.0
STOPPING_S = 1.0
"""How long a process may take to stop after the signal."""

WAITING = "waiting in the kernel, and stopped before it runs again"
"""The state of a frozen process whose disk or file system does not respond."""

DESCRIBED = 10
UNKNOWN_STATUS = 256
"""The exit status of a root that is not our child, as only its parent learns it. No process exits with 256."""


class ProcessTree:
    """Created by `spawn` or `attach`. Thread-safe; methods never fail because a process is gone."""

    def __init__(self, handle: TreeHandle, popen: subprocess.Popen[bytes] | None = None, status: int = -1) -> None:
        self._handle = handle
        self._popen = popen
        self._status_pipe = status
        self._status: int | None = None
        self._family = ProcessFamily(handle)
        self._group = Cgroup(Path(handle.group)) if handle.group else None
        v1 = {name: Path(path) for name, path in handle.controllers.items()}
        self._controllers = CgroupLimits(self._group.path if self._group else None, v1)
        self._limits = handle.limits
        self._watch = LimitWatcher(self._sample)
        self._last_use = Use()
        self._last_events: tuple[LimitEvent, ...] = ()
        self._acting = threading.RLock()
        self._asking = threading.Lock()
        self._pulse: CgroupPulse | None = None
        self._gone = self._over = False

    @property
    def mechanism(self) -> Mechanism:
        """How this tree is controlled: a cgroup, or signals to each process."""
        return "cgroup" if self._group else "signals"

    @property
    def pid(self) -> int:
        """The pid of the command itself."""
        return self._handle.root.pid

    @property
    def controllers(self) -> frozenset[str]:
        """The limits that the kernel can enforce for this tree: memory, pids, cpu."""
        return self._controllers.names

    @property
    def stdin(self) -> IO[bytes] | None:
        return self._popen.stdin if self._popen else None

    @property
    def stdout(self) -> IO[bytes] | None:
        return self._popen.stdout if self._popen else None

    @property
    def stderr(self) -> IO[bytes] | None:
        return self._popen.stderr if self._popen else None

    def handle(self) -> TreeHandle:
        """This tree as plain data: store it, and `attach` to it from another process."""
        return msgspec.structs.replace(self._handle, limits=self._limits)

    def freeze(self) -> FreezeOutcome:
        """Stop every process until a thaw, even if we exit."""
        begin = time.monotonic()
        with self._acting:
            if self._group is None:
                self._order(STOP)
                reached = signals.stop(self._family, seconds=FREEZE_S)
                return self._how(begin, reached)
            held = self._group.freeze(CONFIRM_S) or self._wait_until_stuck(self._group, begin + FREEZE_S)
            inside = self._group.pids()
            strays = signals.stop(self._family, outside=inside, seconds=FREEZE_S)
            return self._how(begin, strays, len(inside), held)

    def thaw(self) -> FreezeOutcome:
        """Continue every process."""
        begin = time.monotonic()
        with self._acting:
            if self._group is None:
                resumed = signals.resume(self._family, None)
                self._order(CONTINUE)
                return self._how(begin, resumed)
            inside = self._group.pids()
            strays = signals.resume(self._family, inside)
            held = self._group.thaw(FREEZE_S)
            return self._how(begin, strays, len(inside), held)

    def not_frozen(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """While frozen: the processes that still run, and those that wait in the kernel and stop before they run again.

        A process that waits for a disk or a file system cannot stop until that answers; signals stay pending.
        """
        moving: tuple[int, ...] = ()
        waiting: tuple[int, ...] = ()
        inside: frozenset[int] = frozenset()
        if self._group:
            inside = self._group.pids()
            if not self._group.frozen:
                moving = tuple(sorted(inside))
            elif not self._group.confirmed():
                moving, waiting = self._group.stuck()
        outside: list[Process] = []
        for wait_s in (0.0, AGAIN_S):
            if moving or (wait_s and not outside):
                break
            time.sleep(wait_s)
            found = self._family.sample(inside if self._group else None, strays=True)
            outside = [process for pid, process in found.items() if pid not in inside]
            moving += tuple(p.pid for p in outside if not p.stopped and p.state != "D")
        return moving, waiting + tuple(p.pid for p in outside if p.state == "D")

    def not_stopped(self, seconds: float = STOPPING_S) -> str:
        """While frozen: a description of processes that still run or wait in the kernel; empty if all are stopped.

        A process that was signalled gets this many seconds to stop.
        """
        until = time.monotonic() + seconds
        while (unstopped := self.not_frozen())[0] and time.monotonic() < until:
            # Signalled, but not yet stopped.
            time.sleep(STUCK_S)
        moving, waiting = unstopped
        words = [f"could not be stopped: {self.describe(moving)}"] if moving else []
        words += [f"{WAITING}: {self.describe(waiting)}"] if waiting else []
        return "; ".join(words)

    def frozen(self) -> bool:
        """Whether the tree is stopped now, no matter who froze it."""
        if self._group:
            return self._group.frozen
        members = self._members()
        return bool(members) and all(p.stopped or (p.state == "D" and proc.stop_waits(p.pid)) for p in members)

    def limit(self, limits: Limits) -> tuple[LimitHeld, ...]:
        """Enforce these memory, process and CPU limits from now on; None removes a limit."""
        with self._acting:
            self._limits = limits
            kernel = self._controllers.limit(limits)
            watched = Limits(
                max_memory_mb=None if kernel["max_memory_mb"] else limits.max_memory_mb,
                max_processes=None if kernel["max_processes"] else limits.max_processes,
            )
            self._watch.hold(watched)
            return tuple(
                kernel[name] or _without_kernel(name, getattr(limits, name))
                for name in CONTROLLER_OF
                if getattr(limits, name) is not None
            )

    def events(self) -> tuple[LimitEvent, ...]:
        """The limits that were reached since the start, how often, and the result."""
        by_kernel = self._controllers.events(self._limits)
        events = (*by_kernel, *self._watch.events(self._limits))
        if events:
            self._last_events = events
        return self._last_events

    def usage(self) -> Use:
        """The tree's current usage; the last known CPU time once it is gone."""
        members = [] if self._over else self._sample()
        memory = self._controllers.memory_bytes()
        if memory is None:
            memory = sum(proc.proportional_bytes(p) for p in members)
        if self._group and self._group.path.exists():
            cpu = self._group.cpu_seconds()
        else:
            keeper = proc.read_process(self._family.keeper or -1)
            cpu = sum(p.cpu_s + p.waited_cpu_s for p in members) + (keeper.waited_cpu_s if keeper else 0.0)
        self._last_use = Use(
            memory_mb=memory / 2**20,
            processes=len(members),
            threads=sum(p.threads for p in members),
            cpu_seconds=max(cpu, self._last_use.cpu_seconds),
        )
        return self._last_use

    def pids(self) -> tuple[int, ...]:
        """Every process that is not dead, the oldest first."""
        return tuple(p.pid for p in self._members())

    def has_run(self) -> bool:
        """Whether any of its processes may have run since the last call, according to the cgroup's counters.

        True if unknown: without a cgroup, and while a process is outside it.
        """
        if self._group is None:
            return True
        if self._pulse is None:
            self._pulse = CgroupPulse(self._group)
        return self._pulse.beats() or self._family.has_left(self._pulse.inside)

    def sampled(self) -> tuple[int, ...]:
        """Like `pids`, for monitoring only, at a cost independent of the machine's size."""
        inside = self._group.pids() if self._group else None
        return tuple(self._family.sample(inside, strays=True))

    def alive(self) -> bool:
        """Whether any process of the tree is left, including any that the command left behind."""
        if self._over:
            return False
        if self._group and self._group.populated():
            return True
        pids = self.pids()
        alive = bool(pids) or bool(self._family.unseen(pids))
        self._gone = not alive
        if not alive:
            self.note_gone()
        return alive

    def note_gone(self) -> None:
        """Note that no process is left, as we or another process found: a PID namespace is not searched again."""
        # The first process of a PID namespace ends last, and no process can start in it afterwards.
        self._over = self._handle.enclosed and self._family.keeper is None

    def wait_gone(self, seconds: float) -> bool:
        """Wait until every process has ended, for at most `seconds`; returns whether they have."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if (left := deadline - time.monotonic()) <= 0:
                return False
            self._learn()
            if self._group and self._group.populated():
                self._group.wait_empty(left)
            else:
                time.sleep(min(left, 0.01))
        return True

    def describe(self, pids: tuple[int, ...] | None = None) -> str:
        """The first ten of these processes (default: all of the tree) with their program names, for people."""
        pids = self.pids() if pids is None else pids
        more = f" and {len(pids) - DESCRIBED} more" if len(pids) > DESCRIBED else ""
        return ", ".join(f"{proc.name_of(pid)} ({pid})" for pid in pids[:DESCRIBED]) + more

    def poll(self) -> int | None:
        """The command's exit status (negative for a signal); None while it runs."""
        return self.wait(0)

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the command to end, at most `timeout` seconds; None if it is still running."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._status is None:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if self._status_pipe >= 0:
                _readable(self._status_pipe, left)
            else:
                _wait_for(self.pid, self._handle.root.start, left)
            self._learn()
            if left == 0:
                break
        return self._status

    def end(self, grace_s: float = 5.0) -> EndOutcome:
        """End the tree: SIGTERM to every process, SIGKILL to the rest after `grace_s`, then remove the cgroup."""
        begin = time.monotonic()
        self._watch.close()
        before = self._ask(grace_s) if grace_s > 0 else 0
        with self._acting:
            inside, until = self._inside(), time.monotonic() + KILL_S
            if self._group:
                self._group.kill(KILL_S)
            reached = signals.kill(self._family, seconds=max(STOPPING_S, until - time.monotonic()))
            if reached.left and self._order(signal.SIGKILL):
                # The kernel ends them all together with the first process of their namespace.
                reached = signals.kill(self._family, seconds=STOPPING_S)
        self.close()
        killed = inside + reached.processes
        return EndOutcome(
            how="killed" if killed else "asked" if before else "gone",
            mechanism=self.mechanism,
            processes=max(before, killed),
            killed=killed,
            seconds=time.monotonic() - begin,
            status=self._status,
            left=reached.left,
            left_words=self.describe(reached.left),
        )

    def close(self) -> None:
        """Reap ended processes, and remove the cgroup if it is empty. A live tree can be attached to again."""
        self._watch.close()
        if self._pulse is not None:
            self._pulse.close()
        if self._gone:
            self.note_gone()
        self.usage()
        self.events()
        if self.alive():
            return
        self.wait(KILL_S)
        if self._popen:
            self._popen.wait()
        for folder in self._handle.controllers.values():
            cgroup_hierarchy.remove(Path(folder), seconds=1)
        if self._group:
            cgroup_hierarchy.remove(self._group.path, seconds=1)
            cgroup_hierarchy.unmount_private()

    def __enter__(self) -> ProcessTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _wait_until_stuck(self, group: Cgroup, deadline: float) -> bool:
        """The kernel confirms no freeze while a process waits in the kernel: check that all others are stopped."""
        before: tuple[int, ...] = ()
        while not group.confirmed():
            running, waiting = group.stuck()
            if not running and waiting and waiting == before:
                return True
            if time.monotonic() > deadline:
                return False
            before = waiting
            time.sleep(STUCK_S)
        return True

    def _order(self, number: int) -> bool:
        """Have the first process of an enclosed tree stop, continue or end all processes in it."""
        first = self._handle.keeper
        if not self._handle.enclosed or first is None:
            return False
        try:
            return proc.send(first.pid, first.start, number)
        except PermissionError:
            return False

    def _members(self) -> list[Process]:
        members, _ = self._family.scan(self._group.pids() if self._group else ())
        return list(members.values())

    def _sample(self) -> list[Process]:
        """Like `_members`, for statistics, without scanning the machine."""
        return list(self._family.sample(self._group.pids() if self._group else None).values())

    def _inside(self) -> int:
        """The number of processes in the cgroup, without scanning the machine."""
        return (len(self._group.pids()) or int(self._group.populated())) if self._group else 0

    def _ask(self, grace_s: float) -> int:
        """Send SIGTERM to every process, and wait for them to end; returns how many there were.

        SIGTERM is sent before the thaw, so that it is the first thing that frozen processes see.
        """
        deadline = time.monotonic() + grace_s
        with self._acting:
            seeds = self._group.pids() if self._group else ()
            asked = signals.ask(self._family, signal.SIGTERM, seeds=seeds)
            self.thaw()
            # Processes in the cgroup that were also stopped by a signal would not react.
            signals.ask(self._family, signal.SIGCONT, seeds=seeds)
        self.wait_gone(deadline - time.monotonic())
        return asked.processes

    def _learn(self) -> None:
        """Get the exit status from the process that has it, without waiting."""
        with self._asking:
            if self._status is not None:
                return
            if self._status_pipe >= 0 and _readable(self._status_pipe, 0):
                data = os.read(self._status_pipe, 64)
                self._status = int(data) if data else None
                os.close(self._status_pipe)
                self._status_pipe = -1
            if self._popen and not self._handle.keeper:
                self._status = self._popen.poll()
            elif self._status_pipe < 0 and self._status is None and not self._handle.root.there():
                # We are only attached, or the keeper was killed.
                self._status = UNKNOWN_STATUS

    def _how(self, begin: float, reached: signals.SignalOutcome, inside: int = 0, held: bool = True) -> FreezeOutcome:
        note = reached.note if held else "the kernel did not confirm it in time"
        return FreezeOutcome(
            mechanism=self.mechanism,
            processes=inside + reached.processes,
            seconds=time.monotonic() - begin,
            held=held and not reached.left,
            strays=reached.processes if self._group else 0,
            missed=len(reached.left),
            note=note,
        )


def _without_kernel(name: LimitName, value: float) -> LimitHeld:
    if name == "max_cpu_percent":
        return LimitHeld(limit=name, value=value, by="nobody", note="no usable cpu controller")
    note = f"checked every {INTERVAL_S * 1000:.0f} ms while the process that set the limit lives"
    return LimitHeld(limit=name, value=value, by="watching", note=note)


def _wait_for(pid: int, start: int, timeout: float | None) -> None:
    """Return when this process has ended, or after the timeout."""
    try:
        descriptor = open_process(pid)
    except OSError:
        return
    try:
        if proc.start_of(pid) == start:
            _readable(descriptor, timeout)
    finally:
        os.close(descriptor)


def _readable(descriptor: int, timeout: float | None) -> bool:
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(None if timeout is None else timeout * 1000))
