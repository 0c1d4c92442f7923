"""Ends the processes that a command leaves running when it exits, unless they should stay."""

from __future__ import annotations

import time

from ...journal import PARKED, RunFolder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import ProcessTree

LINGER_S = 2.0
"""How long processes may take to end on their own: the end of a pipeline may still be writing."""

GRACE_S = 3.0
"""How long they may take after SIGTERM; then they are killed."""

POLL_S = 0.1


def end_left_running(tree: ProcessTree, folder: RunFolder, *, leave: bool) -> str:
    """End processes that the command left running; returns a description of what was done, empty if none were left.

    Does nothing while a person has paused them, as they may want to inspect them. Processes left by a client that dies
    while its run is parked at a usage limit are ended without waiting for the limit.
    """
    if tree.wait_gone(0):
        return ""
    if leave:
        return f"still running, and no longer supervised: {tree.describe()}"
    until = time.monotonic() + LINGER_S
    while time.monotonic() < until:
        if tree.wait_gone(POLL_S):
            return ""
        if tree.frozen() and not (folder.path / PARKED).exists():
            until = time.monotonic() + LINGER_S
    left = tree.describe()
    ended = tree.end(GRACE_S)
    if ended.left:
        return f"it left processes running that could not be ended: {tree.describe()}"
    return f"ended what it left running: {left}"
