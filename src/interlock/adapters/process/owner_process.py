"""OwnerProcess: the front's side of the owner process. Starts it, hears it, and starts it again when it dies."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from typing import IO

from msgspec.structs import replace

from ...core import InterlockError
from ...core.decoding import from_json
from ...runtime.log import log_for_child
from .owner_messages import BeginRun, Channel, CommandStarted, Exited, Finished, OwnerFailed, OwnerReady, ToFront

FIRST_TRIES = 2
"""How often an owner that dies before it is ready is started again: then it is no accident."""

LOOK_S = 0.1
"""How often we look up while the first owner gets ready."""

RETRIES = 5
WITHIN_S = 60.0
"""An owner that dies more often than RETRIES within this long is not started again."""


class OwnerGone:
    """An owner has died; `again` says whether another one is on its way."""

    def __init__(self, again: bool, words: str) -> None:
        self.again, self.words = again, words


class OwnerProcess:
    """Owners one after the other, on the same sockets. What they say goes into `events`."""

    def __init__(
        self, begin: BeginRun, listeners: tuple[socket.socket, ...], events: queue.SimpleQueue[object]
    ) -> None:
        self._begin, self._listeners, self._events = begin, listeners, events
        self._told: list[CommandStarted | Exited] = []
        self._deaths: list[float] = []
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._words: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  as long as the run
        self._over = False

    def start(self, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Start an owner and wait until it is ready; raise what keeps it from that, also what `meanwhile` raises."""
        self._launch(self._begin)
        answer = self._await(meanwhile)
        while answer is None and len(self._deaths) < FIRST_TRIES:
            # It died before it could say a word: killed, or out of memory.
            self._may_retry()
            self._launch(replace(self._begin, reopen=True))
            answer = self._await(meanwhile)
        if isinstance(answer, OwnerFailed):
            self.close()
            error = InterlockError(answer.what, where=answer.where, todo=answer.todo)
            error.exit_status = answer.status
            raise error
        if not isinstance(answer, OwnerReady):
            words = self._last_words()
            self.close()
            raise InterlockError(f"supervision could not be started ({words})", todo="See interlock doctor.")
        threading.Thread(target=self._follow, name="interlock-owner", daemon=True).start()

    def try_once_more(self, listeners: tuple[socket.socket, ...]) -> None:
        """Another owner after all, on new sockets and without a proxy: it writes down that the command has ended."""
        with self._lock:
            self._listeners, self._begin = listeners, replace(self._begin, proxied=None)
            self._succeed()
        threading.Thread(target=self._follow, name="interlock-owner", daemon=True).start()

    def tell(self, message: CommandStarted | Exited) -> None:
        """Tell the owner, and every one that comes after it."""
        with self._lock:
            self._told.append(message)
            if self._channel is not None:
                self._channel.send(message)

    def forget_command(self) -> None:
        """The command that the owner was told of is over, and another one follows."""
        with self._lock:
            self._told.clear()

    def close(self) -> None:
        """No more owners; one that lives on is ended."""
        with self._lock:
            self._over = True
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        for listener in self._listeners:
            listener.close()

    def _launch(self, begin: BeginRun) -> None:
        here, there = socket.socketpair()
        fds = (there.fileno(), *(listener.fileno() for listener in self._listeners))
        # -P: nothing from the workspace may be imported in place of our own modules.
        command = [sys.executable or "python3", "-P", "-m", "interlock.adapters.process.owner", *map(str, fds)]
        log, more = log_for_child()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self._words,
            stderr=self._words,
            pass_fds=fds if log is None else (*fds, log),
            env={**os.environ, **more},
            start_new_session=True,
        )
        if log is not None:
            os.close(log)
        there.close()
        self._channel = Channel(here)
        self._channel.send(begin)

    def _await(self, meanwhile: Callable[[], None]) -> ToFront | None:
        """The owner's first word, which may take as long as the first checkpoint does."""
        assert self._channel is not None
        while not self._channel.wait(LOOK_S):
            meanwhile()
        meanwhile()
        return self._hear()

    def _hear(self) -> ToFront | None:
        assert self._channel is not None
        line = self._channel.receive()
        return None if line is None else from_json(line, ToFront)

    def _follow(self) -> None:
        """Pass on what the owner says; when it dies, start another."""
        while True:
            while (message := self._hear()) is not None:
                self._events.put(message)
                if isinstance(message, Finished):
                    assert self._process is not None
                    self._process.wait()
                    return
            assert self._process is not None
            self._process.wait()
            with self._lock:
                if self._over:
                    return
                again = self._may_retry()
                self._events.put(OwnerGone(again, self._last_words()))
                if not again:
                    self._turn_away()
                    return
                self._succeed()

    def _succeed(self) -> None:
        """An owner that goes on where its predecessor was."""
        tree = next((told.tree for told in self._told if isinstance(told, CommandStarted)), self._begin.tree)
        self._launch(replace(self._begin, reopen=True, tree=tree))
        assert self._channel is not None
        for told in self._told:
            self._channel.send(told)

    def _turn_away(self) -> None:
        """Nobody will answer any more: whoever asks is refused at once, and does not wait in a queue for ever."""
        for listener in self._listeners:
            if listener.family == socket.AF_UNIX:
                listener.close()

    def _may_retry(self) -> bool:
        now = time.monotonic()
        self._deaths = [*(death for death in self._deaths if now - death < WITHIN_S), now]
        return len(self._deaths) <= RETRIES

    def _last_words(self) -> str:
        """The last line that an owner wrote before it died."""
        size = os.fstat(self._words.fileno()).st_size
        tail = os.pread(self._words.fileno(), 2000, max(0, size - 2000)).decode("utf-8", "replace")
        lines = tail.strip().splitlines()
        return lines[-1] if lines else "its process ended without a word"
