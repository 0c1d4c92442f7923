"""Starts the owner process, early if possible: its imports take longer than the front needs to get ready.

If `interlock serve` is running, the owner comes from a process that has imported everything (warm_start.py). Imports
little, because `interlock run` calls `spawn_early` before it imports anything else.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys

from .thin_run import ANSWER_S, MARKER, WARM, check_server, is_log, package_identity, warm_socket_paths, write_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from ...process import Forked

OWNER = "interlock.adapters.command.owner"

WARM_FDS = 4
"""Descriptors passed with a warm-start request: a socket to the front, a file for last words, our folder, and our
identity."""

_early: SpawnedOwner | ReadyOwner | WarmRequest | None = None


class SpawnedOwner:
    """A new process that does its imports, then waits for its sockets and its run."""

    def __init__(self, words: int, pass_fds: tuple[int, ...] = (), more: dict[str, str] | None = None) -> None:
        self.words = words
        self.socket, there = socket.socketpair()
        # -P: never import modules from the workspace in place of our own.
        self.process = subprocess.Popen(
            [sys.executable or "python3", "-P", "-m", OWNER, str(there.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            pass_fds=(there.fileno(), *pass_fds),
            env={**os.environ, **(more or {})},
            start_new_session=True,
        )
        there.close()


class ReadyOwner:
    """An owner forked from the front, which has imported a third of its modules, or from the warm start."""

    def __init__(self, words: int, sock: socket.socket, process: Forked | WarmProcess) -> None:
        self.words, self.socket, self.process = words, sock, process


class WarmProcess:
    """A process that is not our child, controlled through its pidfd."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def poll(self) -> int | None:
        """None while the process runs."""
        return 0 if self._has_ended(0) else None

    def wait(self) -> int:
        """Wait until the process has ended; only its parent knows its exit status."""
        self._has_ended(None)
        return 0

    def _has_ended(self, milliseconds: int | None) -> bool:
        # A new poller for each call: two threads cannot share one.
        waiting = select.poll()
        waiting.register(self._descriptor, select.POLLIN)
        return bool(waiting.poll(milliseconds))

    def send_signal(self, number: int) -> None:
        from ...core import signal_process

        with contextlib.suppress(ProcessLookupError):
            signal_process(self._descriptor, number)


class WarmRequest:
    """Requests an owner from the warm start. OSError if no server is running."""

    def __init__(self, path: str) -> None:
        self._asked = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._asked.settimeout(ANSWER_S)
            self._asked.connect(path)
            check_server(self._asked)
            self.socket, there = socket.socketpair()
            self.words, folder, request = open_words(), os.open(".", os.O_RDONLY | os.O_DIRECTORY), open_words()
            with there:
                write_request(request, (package_identity(),))
                socket.send_fds(self._asked, [b"w"], [there.fileno(), self.words, folder, request])
        except BaseException:
            self._asked.close()
            raise
        os.close(folder)
        os.close(request)

    def claim(self) -> ReadyOwner | None:
        """The owner; None if the request was refused, or if its process ended or takes too long."""
        with self._asked, contextlib.suppress(OSError):
            answer, handles, _, _ = socket.recv_fds(self._asked, 512, 1)
            if answer == b"y" and len(handles) == 1:
                os.set_inheritable(handles[0], False)
                return ReadyOwner(self.words, self.socket, WarmProcess(handles[0]))
        # An owner that arrives too late finds this closed, and exits.
        self.socket.close()
        os.close(self.words)
        return None


def warm_socket() -> Path:
    """The socket for warm starts."""
    from ...link import runtime_dir

    return runtime_dir() / WARM


def open_words() -> int:
    """An anonymous file for the output of an owner, in case it dies."""
    from ...core import open_memory_file

    with contextlib.suppress(OSError):
        return open_memory_file("interlock-owner")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def spawn_early(arguments: list[str], *, forks: bool) -> None:
    """Start an owner if these arguments of `interlock` start a run; `forks`: it can be forked later instead."""
    global _early
    options = arguments[: arguments.index("--")] if "--" in arguments else []
    if options[:1] == ["run"] and not {"-h", "--help"} & {*options} and not any(map(is_log, os.environ)):
        _early = _ask_warm() or (None if forks else SpawnedOwner(open_words()))


def give_early(words: int, sock: socket.socket, process: Forked) -> None:
    """Register a ready owner for the run that is about to begin."""
    global _early
    _early = ReadyOwner(words, sock, process)


def fork_early() -> bool:
    """Fork the owner, unless one is already starting. Returns True in the fork, which must become the owner."""
    global _early
    from ...process import can_fork, fork, settle_in
    from .thin_caller import forget_caller

    if _early is not None or any(map(is_log, os.environ)) or not can_fork():
        return False
    words, (here, there) = open_words(), socket.socketpair()
    process = fork()
    if process is not None:
        there.close()
        _early = ReadyOwner(words, here, process)
        return False
    here.detach()
    os.setsid()
    settle_in(OWNER, (os.open(os.devnull, os.O_RDONLY), words, words), (there.fileno(),))
    forget_caller()
    sys.argv = [OWNER, str(there.detach())]
    return True


def claim_early() -> SpawnedOwner | ReadyOwner | None:
    """The owner that was started early, returned once."""
    global _early
    started, _early = _early, None
    return started.claim() if isinstance(started, WarmRequest) else started


def discard_early() -> None:
    """End an early owner whose run did not start."""
    global _early
    unused, _early = _early, None
    if isinstance(unused, WarmRequest):
        # Its process exits when the socket is closed.
        unused.socket.close()
    elif unused is not None:
        unused.process.send_signal(signal.SIGKILL)
        unused.process.wait()


def _ask_warm() -> WarmRequest | None:
    if MARKER in os.environ or not any(map(os.path.exists, warm_socket_paths())):
        return None
    from ...core import InterlockError

    with contextlib.suppress(OSError, InterlockError):
        return WarmRequest(str(warm_socket()))
    return None
