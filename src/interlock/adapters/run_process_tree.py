"""HeldTree: the run's process tree as the runtime wants it held, limited and ended."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..core import Limits
from ..process import ProcessTree

LONG_S = 20.0
"""A hold that lasts longer is made by freezing, also where a step is held: agents give up waiting for an answer."""

STARTING_S = 5.0
"""How long the start of a command may take until it is reported."""


class HeldTree:
    """Holds a run's processes, known from `attach` on: at the next step if they report steps, else frozen.

    `not_held` has the limits, in words, that this machine cannot enforce.
    If one is `expected`, `attach` is sure to come soon: a restore waits for it.
    `on_frozen` is called while it stands still for a restore: what has no checkpoint after it yet is kept then.
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
        self._limits: Limits | None = None
        self.not_held: tuple[str, ...] = ()
        self.on_frozen: Callable[[], None] = lambda: None

    @property
    def client(self) -> int:
        """The agent client's process: the command's own, or the first one in the sandbox; -1 if there is none."""
        return self.client_among(self.tree.pids() if self.tree is not None else ())

    def client_among(self, pids: tuple[int, ...]) -> int:
        """The same among processes that were just listed."""
        return self.tree.pid if self.tree is not None and self.tree.pid in pids else pids[0] if pids else -1

    def know(self, tree: ProcessTree) -> None:
        """The command runs already, under a predecessor: what is asked of it from now on is done at once."""
        with self._lock:
            self.tree, self._frozen = tree, tree.frozen()
            self._known.set()

    def attach(self, tree: ProcessTree) -> None:
        """The command has started; what was asked of it meanwhile is done now."""
        with self._lock:
            self.tree = tree
            self._known.set()
            if self._limits is not None:
                tree.limit(self._limits)
            # A predecessor may have frozen it, or not lived to thaw it.
            self._frozen = tree.frozen()
            if self._paused:
                self.hold()
            else:
                self.release()

    def hold(self) -> str:
        """The run is paused; returns the processes, in words, that do not stand still."""
        with self._lock:
            self._paused = True
            return self.freeze()

    def release(self) -> None:
        """The run continues."""
        with self._lock:
            self._paused = False
            if self.tree is not None and self._frozen and not self._held_by_person():
                self._frozen = False
                self.tree.thaw()

    def freeze(self) -> str:
        """Stand still until `release`; returns the processes, in words, that do not."""
        with self._lock:
            if self.tree is None:
                return ""
            self._frozen = True
            self.tree.freeze()
            return self.tree.not_stopped()

    def keep_still(self, held_s: float) -> None:
        """Look whether a pause still holds: a shell's `fg` thaws what was stopped by signal, and holds grow long."""
        with self._lock:
            if self.tree is None or not self._paused:
                return
            if (self._frozen and not self.tree.frozen()) or (not self._frozen and held_s > LONG_S):
                self.freeze()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stand still for a while."""
        # The command may be at work already, and its changes are its own.
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
        """Apply memory, process and CPU limits; returns, in words, what enforces each."""
        with self._lock:
            self._limits = limits
            held = self.tree.limit(limits) if self.tree is not None else ()
        self.not_held = tuple(f"{one.limit} {one.value:g} ({one.note})" for one in held if not one.held)
        return ", ".join(f"{one.limit} {one.value:g} by {one.by}" for one in held)

    def end(self, grace_s: float) -> str:
        """End it and everything that came from it."""
        tree = self.tree
        return tree.end(grace_s).words if tree is not None else ""

    def left(self) -> str:
        """After `end`: the processes that nothing could end, in words."""
        pids = self.tree.pids() if self.tree is not None else ()
        return f"could not be ended: {self.tree.describe(pids)}" if self.tree is not None and pids else ""
