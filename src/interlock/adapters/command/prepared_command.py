"""PreparedCommand: a command in its sandbox, set up while its owner starts."""

from __future__ import annotations

import threading
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import ProcessTree


ABANDON_S = 5.0
"""How long its processes may take to end; any that remain end with us."""


class Abandoned(Exception):
    """Raised instead of starting a command that was abandoned."""


class PreparedCommand:
    """Starts a command in a separate thread. Its first instruction waits for `begin`.

    `spawn` gets two functions. It calls the first, which waits for `set_ready`, before it starts a process, and the
    second before the command's first instruction runs.
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
        """Signal that everything the command needs exists."""
        self._ready.set()

    def wait(self, seconds: float) -> bool:
        """Wait at most `seconds` until the command is ready to run or has failed; returns whether it is."""
        return self._held.wait(seconds)

    def begin(self) -> ProcessTree:
        """Let the command run. Raises the error if it could not be started."""
        self._decided.set()
        self._thread.join()
        if self._error is not None:
            raise self._error
        assert self._tree is not None
        return self._tree

    def abandon(self) -> None:
        """Discard the command; returns when none of its processes are left, or after a timeout."""
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
