"""Starts the owner process, early if possible: its imports take longer than the front needs to get ready.

Imports little, because `interlock run` calls `spawn_early` before it imports anything else.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess

from ...core import own_command

OWNER = "interlock.adapters.command.owner"

LOG = "INTERLOCK_LOG_"
"""Prefix of the variables that configure logging. An owner started early would not get the front's stderr to log to."""

_early: SpawnedOwner | None = None


class SpawnedOwner:
    """A new process that does its imports, then waits for its sockets and its run."""

    def __init__(self, words: int, pass_fds: tuple[int, ...] = (), more: dict[str, str] | None = None) -> None:
        self.words = words
        self.socket, there = socket.socketpair()
        self.process = subprocess.Popen(
            own_command(OWNER, str(there.fileno())),
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            pass_fds=(there.fileno(), *pass_fds),
            env={**os.environ, **(more or {})},
            start_new_session=True,
        )
        there.close()


def open_words() -> int:
    """An anonymous file for the output of an owner, in case it dies."""
    from ...core import open_memory_file

    with contextlib.suppress(OSError):
        return open_memory_file("interlock-owner")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def spawn_early(arguments: list[str]) -> None:
    """Start an owner if these arguments of `interlock` start a run."""
    global _early
    options = arguments[: arguments.index("--")] if "--" in arguments else []
    logs = any(name.startswith(LOG) for name in os.environ)
    if options[:1] == ["run"] and not {"-h", "--help"} & {*options} and not logs:
        _early = SpawnedOwner(open_words())


def claim_early() -> SpawnedOwner | None:
    """The owner that was started early, returned once."""
    global _early
    started, _early = _early, None
    return started


def discard_early() -> None:
    """End an early owner whose run did not start."""
    unused = claim_early()
    if unused is not None:
        unused.process.kill()
        unused.process.wait()
