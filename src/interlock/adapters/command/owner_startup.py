"""OwnerStartup: the front's periodic checks while the first owner starts, before there is a command."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Set

from ...core import RunSpec

SLOW_S = 2.0
"""After this many seconds, the first checkpoint of a large workspace is the likely cause, and a message says so."""


class OwnerStartup:
    """Checks for signals, and reports once why the start takes long."""

    def __init__(self, spec: RunSpec, pending: Callable[[], Set[int]]) -> None:
        self._pending = pending
        self._workspace = spec.workspace
        self._slow_at = time.monotonic() + SLOW_S

    def look(self) -> None:
        """Raise for a pending signal, as there is no command yet to handle it."""
        pending = self._pending()
        if signal.SIGINT in pending:
            raise KeyboardInterrupt
        for number in (signal.SIGTERM, signal.SIGHUP):
            if number in pending:
                raise SystemExit(128 + number)
        if self._workspace is not None and time.monotonic() >= self._slow_at:
            if sys.stderr is not None and sys.stderr.isatty():
                sys.stderr.write(f"interlock: saving the workspace {self._workspace}, which takes a while\n")
            self._workspace = None
