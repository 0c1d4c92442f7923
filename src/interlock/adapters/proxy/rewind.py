"""Rewind: where conversations are to go back to, until each agent has asked the model again."""

from __future__ import annotations

import threading


class Rewind:
    """Ordered once, done by every agent of the run at its next request. Thread-safe.

    `carries` says that a conversation has come through the proxy: a client may get its API's address elsewhere.
    """

    def __init__(self) -> None:
        self.carries = False
        self._lock = threading.Lock()
        self._checkpoint: str | None = None
        self._gone: set[str | None] = set()

    def order(self, checkpoint_id: str) -> None:
        """Go back to this checkpoint."""
        with self._lock:
            self._checkpoint, self._gone = checkpoint_id, set()

    def pop(self, agent: str | None) -> str | None:
        """The checkpoint that this agent's conversation has to go back to; once."""
        with self._lock:
            if self._checkpoint is None or agent in self._gone:
                return None
            self._gone.add(agent)
            return self._checkpoint
