"""The kernel's queue of notifications, disturbed on request."""

from __future__ import annotations

import os

from interlock.checkpoint.change_watcher import EVENT, OVERFLOW


def split(data: bytes) -> list[bytes]:
    """Single notifications."""
    found, at = [], 0
    while at < len(data):
        size = EVENT.size + EVENT.unpack_from(data, at)[3]
        found.append(data[at : at + size])
        at += size
    return found


class Queue:
    """Reads as the kernel would give it under `trouble`, once, from the notification with number `at` on.

    overflow: the rest, the sentinel among them, is lost, as the kernel says with a notification of its own.
    cut: the same, and nothing says so. late: the rest comes when it is asked again. merge: equal ones are one.
    """

    def __init__(self) -> None:
        self.trouble, self.at = "", 0
        self._late = b""
        self._dry = False

    def read(self, fd: int, size: int) -> bytes:
        if self._dry:
            self._dry = False
            raise BlockingIOError
        if self._late:
            data, self._late = self._late, b""
            return data
        events = split(os.read(fd, size))
        trouble, self.trouble = self.trouble, ""
        first, rest = b"".join(events[: self.at]), b"".join(events[self.at :])
        if trouble == "merge":
            # The last of equal ones stays, so that nothing comes after the sentinel that was before it.
            return b"".join(reversed(dict.fromkeys(reversed(events))))
        if not trouble or not rest:
            return first + rest
        self._dry = True
        if trouble == "overflow":
            return first + EVENT.pack(-1, OVERFLOW, 0, 0)
        if trouble == "late":
            self._late = rest
        return first
