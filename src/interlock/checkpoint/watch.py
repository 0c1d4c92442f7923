"""Watch: which paths may have changed, as the kernel tells it. A hint, never the truth."""

from __future__ import annotations

import os
from pathlib import Path

SETTLE_MS = 5
"""How long the kernel's news may take to arrive."""


class Watch:
    """Collects the paths that change below a workspace from now on."""

    def __init__(self, workspace: Path) -> None:
        from watchfiles._rust_notify import RustNotify

        self._root = os.path.realpath(workspace)
        self._notify: RustNotify | None = RustNotify([self._root], False, False, 0, True, True)

    def take(self) -> set[str] | None:
        """The paths that changed since the last call, relative; None when the watch was lost: walk everything."""
        found: set[str] = set()
        if self._notify is None:
            return None
        try:
            while isinstance(batch := self._notify.watch(SETTLE_MS, 1, SETTLE_MS, None), set):
                found.update(os.path.relpath(path, self._root) for _, path in batch)
        except (OSError, RuntimeError):
            self.close()
            return None
        return {"" if path == "." else path for path in found}

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None
