"""Starts the process of an owner, early where that helps: it takes longer to import than the front takes to get ready.

Imports little: `interlock run` calls `spawn_early` before it imports anything else.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys

LOG = "INTERLOCK_LOG_"
"""Variables that say how to log; the front passes its own stderr on, which it does not do early."""

_early: SpawnedOwner | None = None


class SpawnedOwner:
    """A process that imports, and then waits for its sockets and its run."""

    def __init__(self, words: int, pass_fds: tuple[int, ...] = (), more: dict[str, str] | None = None) -> None:
        self.words = words
        self.socket, there = socket.socketpair()
        # -P: nothing from the workspace may be imported in place of our own modules.
        self.process = subprocess.Popen(
            [sys.executable or "python3", "-P", "-m", "interlock.adapters.process.owner", str(there.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            pass_fds=(there.fileno(), *pass_fds),
            env={**os.environ, **(more or {})},
            start_new_session=True,
        )
        there.close()


def open_words() -> int:
    """A file without a name for what an owner writes before it dies."""
    from ...core import open_memory_file

    with contextlib.suppress(OSError):
        return open_memory_file("interlock-owner")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def spawn_early(arguments: list[str]) -> None:
    """Start an owner for the run that these arguments of `interlock` ask for, if they do."""
    global _early
    options = arguments[: arguments.index("--")] if "--" in arguments else []
    if options[:1] == ["run"] and not {"-h", "--help"} & {*options} and not any(map(_is_log, os.environ)):
        _early = SpawnedOwner(open_words())


def take_early() -> SpawnedOwner | None:
    """The owner that was started early, once."""
    global _early
    taken, _early = _early, None
    return taken


def discard_early() -> None:
    """End an owner that was started early for a run that did not come to be."""
    if (unused := take_early()) is not None:
        unused.process.kill()
        unused.process.wait()


def _is_log(name: str) -> bool:
    return name.startswith(LOG)
