"""Monitor: the owner's periodic work: resource samples, limits, long holds, checkpoints of a process without steps."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ...core import Limits
from ...journal_records import LimitRecord
from ...process import Use
from ...runtime import MEANWHILE, Supervisor
from ..run_process_tree import RunProcessTree
from ..steps.server import StepServer

log = logging.getLogger("interlock")

INTERVAL_S = 0.5
MOST_S = 5.0
STILL_S = 30.0
"""While the command is idle, the interval grows up to MOST_S, and up to STILL_S if the kernel reports that none of its
processes ran at all. A process that starts to run is noticed within STILL_TAMPER_S."""

TAMPER_S = 0.5
STILL_TAMPER_S = 0.9
"""How often to check for tampering if a process of the run has run since the last check: an idle process may have
tampered just before. We also check with every sample, and when a socket, the gate or the journal changed. The
longer interval is for a command that has not run for more than MOST_S: we notice within a second that it
wakes up."""

IDLE = 0.01
"""Share of one core. A command that uses less, and neither starts nor ends a process, is idle."""

CHECKPOINT_S = 30.0
"""Checkpoint interval for a process without visible steps; otherwise checkpoints are made around steps."""


class Monitor:
    """A thread that checks twice a second while the command works, and less often while it is idle."""

    def __init__(
        self,
        supervisor: Supervisor,
        held: RunProcessTree,
        steps: StepServer,
        started: float,
        more_checks: Callable[[], None] = lambda: None,
        check_tampering: Callable[[], None] = lambda: None,
        is_touched: Callable[[], bool] = lambda: False,
    ) -> None:
        self._supervisor, self._held, self._steps, self._started = supervisor, held, steps, started
        self._more_checks, self._check_tampering, self._is_touched = more_checks, check_tampering, is_touched
        self.due_s: Callable[[], float] = lambda: STILL_S
        self._clock = supervisor.run.clock
        # Held until the end. An event would also work, but costs three times as much per check.
        self._going = threading.Lock()
        self._going.acquire()
        self._thread = threading.Thread(target=self._run, name="interlock-monitor", daemon=True)
        self._limits = supervisor.pipeline.meter.limits
        self._recorded: dict[str, int] = {}
        self._paused_since: float | None = None
        self._last_error = ""
        self._checkpoint_at = self._clock.monotonic() + CHECKPOINT_S
        self._interval = INTERVAL_S
        self._still, self._has_changes = False, True
        self._before = (Use(), -1, 0.0)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Check one last time, and stop."""
        if self._going.locked():
            self._going.release()
        if self._thread.ident is not None:
            self._thread.join()
            # Also check what the command did just before it ended.
            self._attempt(self._check_tampering)
        self.note_events()

    def note_events(self) -> None:
        """Record limits that the process tree reached, once for each count."""
        tree = self._held.tree
        for event in tree.events() if tree is not None else ():
            if event.count > self._recorded.get(event.limit, 0):
                self._recorded[event.limit] = event.count
                self._supervisor.run.record(LimitRecord(event.words, limit=event.limit))

    def _run(self) -> None:
        due = self._clock.monotonic() + self._pause()
        while not self._going.acquire(timeout=max(0.0, min(self._tamper_s, due - self._clock.monotonic()))):
            tree = self._held.tree
            ran = tree is None or tree.has_run()
            self._still, self._has_changes = self._still and not ran, self._has_changes or ran
            is_due = self._clock.monotonic() >= due or (ran and self._interval > MOST_S)
            if ran or is_due or self._is_touched():
                self._attempt(self._check_tampering)
            if is_due:
                self._attempt(self._sample)
                self._still = True
                due = self._clock.monotonic() + self._pause()

    @property
    def _tamper_s(self) -> float:
        return STILL_TAMPER_S if self._still and self._interval > MOST_S else TAMPER_S

    def _attempt(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:
            # Continue whatever happens: the next check enforces time and memory limits.
            if str(error) != self._last_error:
                self._last_error = str(error)
                log.exception("run %s: a check of the processes failed", self._supervisor.run.spec.run_id)

    def _pause(self) -> float:
        """Seconds until the next check: no later than the time limit, or than an idle run counts as hung."""
        interval = min(self._interval, self.due_s())
        limits: Limits = self._supervisor.pipeline.meter.limits
        if limits.max_execution_time is None:
            return interval
        rested = self._supervisor.run.gate.rested_s
        left = self._started + limits.max_execution_time + rested - self._supervisor.run.steady.time()
        return min(interval, max(0.01, left))

    def _sample(self) -> None:
        tree = self._held.tree
        if tree is None:
            self._more_checks()
            return
        use = tree.usage()
        self._interval = self._next_interval(use)
        self._supervisor.check_usage(use.memory_mb, self._supervisor.run.steady.time() - self._started)
        self.note_events()
        self._follow_limits()
        moving, run = self._held.keep_still(self._paused_s()), self._supervisor.run
        if moving and moving != run.summary.unstopped:
            self._supervisor.executor.on_not_stopped(moving)
        self._more_checks()
        now = self._clock.monotonic()
        due = self._has_changes and not self._steps.spoken and now >= self._checkpoint_at
        if due and self._supervisor.run.gate.status == "running":
            self._has_changes = False
            self.checkpoint()
            self._checkpoint_at = self._clock.monotonic() + CHECKPOINT_S

    def _next_interval(self, use: Use) -> float:
        """The next interval: short while anything happens and during a pause, longer while the command is idle."""
        (was, step, at), now = self._before, self._clock.monotonic()
        self._before = (use, self._supervisor.next_index, now)
        idle = (
            use.cpu_seconds - was.cpu_seconds <= IDLE * (now - at)
            and use.processes == was.processes
            and self._supervisor.next_index == step
            and self._supervisor.run.gate.status == "running"
        )
        return min(STILL_S if self._still else MOST_S, self._interval * 2) if idle else INTERVAL_S

    def _follow_limits(self) -> None:
        """Apply the run's limits to the processes when they changed, for example when a throttle was lifted."""
        limits = self._supervisor.pipeline.meter.limits
        if limits != self._limits:
            self._limits = limits
            self._held.limit(self._supervisor.process_limits)

    def checkpoint(self) -> None:
        """Make a checkpoint of the work of a process without visible steps."""
        self._supervisor.checkpoint(cause=MEANWHILE, step=self._supervisor.next_index)

    def _paused_s(self) -> float:
        if self._supervisor.run.gate.status != "paused":
            self._paused_since = None
            return 0.0
        now = self._clock.monotonic()
        self._paused_since = self._paused_since or now
        return now - self._paused_since
