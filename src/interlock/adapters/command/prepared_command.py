"""PreparedCommand: a command in its sandbox, built while its owner gets ready."""

from __future__ import annotations

import threading
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import ProcessTree


ABANDON_S = 5.0
"""How long its processes may take to end; what is left of them ends with us."""


class Abandoned(Exception):
    """Raised in place of the beginning of a command that is not to begin."""


class PreparedCommand:
    """Starts a command in a thread of its own. Its first instruction waits for `begin`.

    `spawn` gets two functions. It calls one before it starts a process, which waits for `set_ready`, and the other
    before that instruction runs.
    """

    def __init__(self, spawn: Callable[[Callable[[], None], Callable[[], None]], ProcessTree]) -> None:
        self._ready = threading.Event()
        self._spawn = spawn
        self._held, self._decided, self._abandoned = threading.Event(), threading.Event(), False
        self._tree: ProcessTree | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._start, name="interlock-prepare", daemon=True)
        self._thread.start()

    def set_ready(self) -> None:
        """What it needs is there."""
        self._ready.set()

    def wait(self, seconds: float) -> bool:
        """Whether there is nothing left to do but to let it run, or it cannot be started; at most so long."""
        return self._held.wait(seconds)

    def begin(self) -> ProcessTree:
        """Let it run. Raises what kept it from being started."""
        self._decided.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._tree is not None
        return self._tree

    def abandon(self) -> None:
        """It never runs; returns when nothing of it is left, or it takes too long."""
        self._abandoned = True
        self._ready.set()
        self._decided.set()
        self._thread.join(ABANDON_S)

    def _start(self) -> None:
        try:
            self._tree = self._spawn(self._wait_until_ready, self._hold)
        except BaseException as error:  # noqa: BLE001  whoever lets it begin gets it
            self._error = error
            self._held.set()

    def _wait_until_ready(self) -> None:
        self._ready.wait()
        if self._abandoned:
            raise Abandoned

    def _hold(self) -> None:
        self._held.set()
        self._decided.wait()
        if self._abandoned:
            raise Abandoned
