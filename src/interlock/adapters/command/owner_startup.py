"""OwnerStartup: what the front does while the first owner gets ready and there is no command yet."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Set

from ...core import RunSpec

SLOW_S = 2.0
"""After this long it is the first checkpoint of a large workspace that takes its time, and the run says so."""


class OwnerStartup:
    """Looks for signals, and says once why it takes long."""

    def __init__(self, spec: RunSpec, pending: Callable[[], Set[int]]) -> None:
        self._pending = pending
        self._workspace = spec.workspace
        self._slow_at = time.monotonic() + SLOW_S

    def look(self) -> None:
        """Raise what a signal asks for: there is no command yet that could have heard it."""
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
