"""RunProcessTree: holds, limits and ends a run's process tree for the runtime."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..core import Limits
from ..process import ProcessTree

LONG_S = 20.0
"""A longer hold also freezes the processes, even if a step is held: agents give up waiting for an answer."""

AGAIN = 3
"""How often processes must have continued during one pause to be named."""

STARTING_S = 5.0
"""How long the start of a command may take."""


class RunProcessTree:
    """Holds a run's processes after `attach`: at the next step if they report steps, otherwise by freezing.

    `not_held` describes the limits that this machine cannot enforce.
    With `expected`, `attach` will follow soon: a restore waits for it.
    `on_frozen` is called while the tree is frozen for a restore, to checkpoint the latest changes.
    """

    def __init__(self, *, expected: bool = False, held_by_person: Callable[[], bool] = lambda: False) -> None:
        self._held_by_person = held_by_person
        self.tree: ProcessTree | None = None
        self._known = threading.Event()
        if not expected:
            self._known.set()
        self._lock = threading.RLock()
        self._paused = False
        self._frozen = False
        self._again = 0
        self._limits: Limits | None = None
        self.not_held: tuple[str, ...] = ()
        self.on_frozen: Callable[[], None] = lambda: None

    @property
    def client(self) -> int:
        """The pid of the agent client: the command, or the first process in the sandbox; -1 if there is none."""
        return self.client_among(self.tree.pids() if self.tree is not None else ())

    def client_among(self, pids: tuple[int, ...]) -> int:
        """The same, from a list of pids."""
        return self.tree.pid if self.tree is not None and self.tree.pid in pids else pids[0] if pids else -1

    def attach_running(self, tree: ProcessTree) -> None:
        """The command is already running, under a predecessor: carry out orders immediately from now on."""
        with self._lock:
            self.tree, self._frozen = tree, tree.frozen()
            self._known.set()

    def attach(self, tree: ProcessTree) -> None:
        """The command has started: carry out earlier orders now."""
        with self._lock:
            self.tree = tree
            self._known.set()
            if self._limits is not None:
                tree.limit(self._limits)
            # A predecessor may have frozen the tree, or died before it could thaw it.
            self._frozen = tree.frozen()
            if self._paused:
                self.hold()
            else:
                self.release()

    def hold(self) -> str:
        """Pause; returns a description of processes that are still running."""
        with self._lock:
            self._paused = True
            return self.freeze()

    def release(self) -> None:
        """Continue the run."""
        with self._lock:
            self._paused = False
            if self.tree is not None and self._frozen and not self._held_by_person():
                self._frozen = False
                self.tree.thaw()

    def freeze(self) -> str:
        """Freeze until `release`; returns a description of processes that are still running."""
        with self._lock:
            if self.tree is None:
                return ""
            self._frozen = True
            self.tree.freeze()
            return self.tree.not_stopped()

    def keep_still(self, held_s: float) -> str:
        """Enforce a pause: refreeze processes that a shell's `fg` continued, and freeze them during a long hold.

        Returns a description of those that continue again and again.
        """
        with self._lock:
            if self.tree is None or not self._paused:
                self._again = 0
                return ""
            moved = self._frozen and not self.tree.frozen()
            self._again += moved
            if moved and self._again >= AGAIN:
                moving = self.tree.not_frozen()[0]
                return self.freeze() or f"they continue themselves while paused: {self.tree.describe(moving)}"
            if moved or (not self._frozen and held_s > LONG_S):
                return self.freeze()
            return ""

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Freeze the processes during the block."""
        # The command may already be running, and its changes are its own.
        self._known.wait(STARTING_S)
        with self._lock:
            if self.tree is None:
                self.on_frozen()
                yield
                return
            self.tree.freeze()
            try:
                self.on_frozen()
                yield
            finally:
                if not self._frozen:
                    self.tree.thaw()

    def limit(self, limits: Limits) -> str:
        """Apply memory, process and CPU limits; returns a description of what enforces each."""
        with self._lock:
            self._limits = limits
            held = self.tree.limit(limits) if self.tree is not None else ()
        self.not_held = tuple(f"{one.limit} {one.value:g} ({one.note})" for one in held if not one.held)
        return ", ".join(f"{one.limit} {one.value:g} by {one.by}" for one in held)

    def end(self, grace_s: float) -> str:
        """End the command and all its descendants."""
        tree = self.tree
        return tree.end(grace_s).words if tree is not None else ""

    def left(self) -> str:
        """After `end`: a description of the processes that could not be ended."""
        pids = self.tree.pids() if self.tree is not None else ()
        return f"could not be ended: {self.tree.describe(pids)}" if self.tree is not None and pids else ""
