"""PreparedCommand: a command in its sandbox, built while its owner gets ready."""

from __future__ import annotations

import threading
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import ProcessTree


ABANDON_S = 5.0
"""How long its processes may take to end; the rest ends with us."""


class Abandoned(Exception):
    """Raised instead of starting a command that was abandoned."""


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
        """Everything that it needs exists."""
        self._ready.set()

    def wait(self, seconds: float) -> bool:
        """Wait until it is ready to run, or cannot be started, for at most `seconds`; returns whether it is."""
        return self._held.wait(seconds)

    def begin(self) -> ProcessTree:
        """Let it run. Raises the error if it could not be started."""
        self._decided.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._tree is not None
        return self._tree

    def abandon(self) -> None:
        """Never run it; returns when nothing of it is left, or after a timeout."""
        self._abandoned = True
        self._ready.set()
        self._decided.set()
        self._thread.join(ABANDON_S)

    def _start(self) -> None:
        try:
            self._tree = self._spawn(self._wait_until_ready, self._hold)
        except BaseException as error:  # noqa: BLE001  raised again in `begin`
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
