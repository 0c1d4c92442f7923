"""OwnerProcess: the front's side of the owner process. Starts it, reads its messages, and restarts it when it dies;
OwnerStartup: what the front checks while it starts."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Set

from msgspec.structs import replace

from ...core import InterlockError, RunSpec, from_json
from .owner_messages import (
    BeginRun,
    Channel,
    Checking,
    CommandStarted,
    Exited,
    Finished,
    OwnerFailed,
    OwnerReady,
    Ping,
    ToFront,
)
from .owner_spawn import SpawnedOwner, claim_early, open_words

FIRST_TRIES = 2
"""How many times to start an owner that dies before it is ready: a second death is not an accident."""

RETRIES = 5
WITHIN_S = 60.0
"""An owner that dies more than RETRIES times within this many seconds is not restarted."""


PING_S = 12.0
SILENT_PINGS = 3
"""An owner that leaves this many pings in a row unanswered is hung: it is killed and replaced."""


class OwnerGone:
    """An owner has died; `again`: a new one is being started."""

    def __init__(self, again: bool, words: str) -> None:
        self.again, self.words = again, words


class OwnerProcess:
    """Runs one owner after another on the same sockets. Their messages are put into `events`."""

    def __init__(
        self, begin: BeginRun, listeners: tuple[socket.socket, ...], events: queue.SimpleQueue[object]
    ) -> None:
        self._begin, self._listeners, self._events = begin, listeners, events
        self._sent: list[CommandStarted | Exited] = []
        self._deaths: list[float] = []
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None
        self._early = claim_early()
        self._words = self._early.words if self._early is not None else open_words()
        self._over, self._finished = False, False
        self._silent, self._busy, self._hung = 0, False, False

    def start(self, poll: Callable[[], float] = lambda: 1.0, prepare: Callable[[], None] = lambda: None) -> None:
        """Start an owner and wait until it is ready; raises if it fails, or if `poll` raises.

        `poll` returns the seconds until it should be called again. `prepare` is called once, while the owner starts.
        """
        self._launch(self._begin)
        prepare()
        answer = self._await(poll)
        while answer is None and len(self._deaths) < FIRST_TRIES:
            # It died before it sent anything: it was killed, or out of memory.
            self._may_retry()
            self._launch(replace(self._begin, reopen=True))
            answer = self._await(poll)
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
        threading.Thread(target=self._ping, name="interlock-ping", daemon=True).start()

    def try_once_more(self, listeners: tuple[socket.socket, ...]) -> None:
        """Start one more owner, on new sockets and without a proxy, to record that the command has ended."""
        with self._lock:
            self._listeners, self._begin = listeners, replace(self._begin, proxied=None)
            self._start_successor()
        threading.Thread(target=self._follow, name="interlock-owner", daemon=True).start()

    def send(self, message: CommandStarted | Exited) -> None:
        """Send a message to the current owner and to each of its successors."""
        with self._lock:
            self._sent.append(message)
            # Finishing the run may take any time.
            self._busy = isinstance(message, Exited)
            if self._channel is not None:
                self._channel.send(message)

    def forget_command(self) -> None:
        """Forget what was reported about the command: it has ended, and another one follows."""
        with self._lock:
            self._sent.clear()

    def close(self) -> None:
        """Stop starting owners, and kill the current one."""
        with self._lock:
            self._over = True
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            if not self._finished:
                # After its last message it has nothing left to do, but takes a while to exit.
                self._process.wait()
        for listener in self._listeners:
            listener.close()
        if self._words >= 0:
            os.close(self._words)
            self._words = -1

    def _launch(self, begin: BeginRun) -> None:
        spawned, self._early = self._early or self._spawn(), None
        self._process = spawned.process
        self._channel = Channel(spawned.socket)
        self._channel.send_sockets(self._listeners)
        self._channel.send(begin)

    def _spawn(self) -> SpawnedOwner:
        from ...runtime import log_for_child

        log, more = log_for_child()
        try:
            return SpawnedOwner(self._words, () if log is None else (log,), more)
        finally:
            if log is not None:
                os.close(log)

    def _await(self, poll: Callable[[], float]) -> ToFront | None:
        """The owner's first message, which may take as long as the first checkpoint."""
        assert self._channel is not None
        while not self._channel.wait(poll()):
            pass
        poll()
        return self._hear()

    def _hear(self) -> ToFront | None:
        assert self._channel is not None
        line = self._channel.receive()
        return None if line is None else from_json(line, ToFront)

    def _follow(self) -> None:
        """Forward the owner's messages; when it dies, start a new one."""
        while True:
            while (message := self._hear()) is not None:
                self._silent = 0
                if isinstance(message, Ping):
                    continue
                # While it runs checks, it reads no other messages.
                self._busy = self._busy and isinstance(message, Checking)
                self._finished = isinstance(message, Finished)
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
                    self._close_sockets()
                    return
                self._start_successor()

    def _ping(self) -> None:
        """Kill an owner that hangs. Counts pings instead of seconds, so that stopping our own process is harmless."""
        while True:
            time.sleep(PING_S)
            with self._lock:
                if self._over:
                    return
                if self._busy or self._channel is None or self._process is None:
                    continue
                if self._silent >= SILENT_PINGS:
                    self._hung, self._silent = True, 0
                    self._process.send_signal(signal.SIGKILL)
                    continue
                self._silent += 1
                self._channel.send(Ping())

    def _start_successor(self) -> None:
        """Start an owner that continues the work of its predecessor."""
        tree = next((message.tree for message in self._sent if isinstance(message, CommandStarted)), self._begin.tree)
        self._launch(replace(self._begin, reopen=True, tree=tree, hung=self._hung))
        # Busy until it is ready, which may take as long as a checkpoint.
        self._silent, self._hung, self._busy = 0, False, True
        assert self._channel is not None
        for message in self._sent:
            self._channel.send(message)

    def _close_sockets(self) -> None:
        """Close the sockets, as nobody will answer: requests fail immediately instead of waiting forever."""
        for listener in self._listeners:
            if listener.family == socket.AF_UNIX:
                listener.close()

    def _may_retry(self) -> bool:
        now = time.monotonic()
        self._deaths = [*(death for death in self._deaths if now - death < WITHIN_S), now]
        return len(self._deaths) <= RETRIES

    def _last_words(self) -> str:
        """The last line that an owner wrote before it died."""
        if self._words < 0:
            return ""
        size = os.fstat(self._words).st_size
        tail = os.pread(self._words, 2000, max(0, size - 2000)).decode("utf-8", "replace")
        lines = tail.strip().splitlines()
        return lines[-1] if lines else "its process ended silently"


SLOW_S = 2.0
"""After this many seconds, the first checkpoint of a large workspace is the likely cause, and a message says so."""


class OwnerStartup:
    """Checks for signals, and reports once why the start takes long."""

    def __init__(self, spec: RunSpec, pending: Callable[[], Set[int]]) -> None:
        self._pending = pending
        self._workspace = spec.workspace
        self._slow_at = time.monotonic() + SLOW_S

    def check(self) -> None:
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
