"""ResidentSupervisor: `interlock serve`, which owns the runs of all agents with installed hooks."""

from __future__ import annotations

import contextlib
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ...config import load
from ...core import BadInput, InterlockError, from_json
from ...journal import RunFolder, Store
from ...link import LineClient, ThreadedLineServer, gates_folder
from ...runtime import clean_up_store
from ..steps.server import MAX_STEP_LINE, TOO_LONG
from ..steps.step_numbering import WaitingClient
from ..steps.step_protocol import StepRefusal
from .clients import new_dialects
from .exchange import HookLine, HookMessage
from .hook_event import HookEvent
from .session import HookSession, open_sessions

log = logging.getLogger("interlock")

POLL_S = 0.5
TIDY_S = 3600.0
DRAIN_S = 5.0
WAKE_S = 5.0
"""How often to look for parked runs without an owner."""

REASSURE_S = 2.0
"""How often to tell a client that its run is being opened: after 10 s of silence it assumes that we are dead."""

OPENING_S = 120.0
"""If opening a run takes longer than this, it hangs, and we stop telling the client to wait."""

SESSION = re.compile(r"[A-Za-z0-9_-]{1,200}")
"""Valid session names: they become file names."""

MOST_BEGUN = 256
"""The most sessions to remember that have begun but done nothing yet."""


class ResidentSupervisor:
    """Owns one run for each session."""

    def __init__(self, listener: socket.socket, store: Store, config: Path | None = None) -> None:
        self._store, self._config = store, config
        self._server = ThreadedLineServer(listener, self._serve, "resident", max_line=MAX_STEP_LINE, too_long=TOO_LONG)
        self._sessions: dict[tuple[str, str], HookSession] = {}
        self._left = open_sessions(store)
        self._opening: dict[tuple[str, str], threading.Lock] = {}
        self._begun: dict[tuple[str, str], bytes] = {}
        self._readers = {dialect.name: dialect for dialect in new_dialects()}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="interlock-monitor", daemon=True)
        self.on_poll: Callable[[], object] = lambda: None
        gates_folder().mkdir(mode=0o700, exist_ok=True)

    @property
    def sessions(self) -> tuple[HookSession, ...]:
        with self._lock:
            return tuple(self._sessions.values())

    def start(self) -> None:
        self._server.start()
        self._watcher.start()

    def close(self) -> None:
        """Stop serving. The next supervisor continues the runs of live agents."""
        self._over.set()
        self._server.hang_up()
        for session in self.sessions:
            session.supervisor.run.gate.notify()
        self._server.close()
        if self._watcher.ident is not None:
            self._watcher.join(DRAIN_S)
        for session in self.sessions:
            session.release()

    def answer(self, line: bytes, client: WaitingClient, pid: int | None = None) -> bytes | None:
        """The reply to a hook, from the run of its session; `pid` is the calling process, if known."""
        try:
            message = from_json(line, HookLine).hook
            event, session = self._session_of(message, line, client, pid)
        except (msgspec.DecodeError, InterlockError) as error:
            return msgspec.json.encode(StepRefusal(f"not a hook line: {error}"))
        if session is None:
            return b"{}"
        reply = session.exchange.answer_message(message, client)
        if event.moment == "end":
            self._end(session)
        return reply

    def _serve(self, line: bytes, caller: LineClient) -> bytes | None:
        return self.answer(line, caller, caller.pid)

    def _session_of(
        self, message: HookMessage, line: bytes, client: WaitingClient, pid: int | None
    ) -> tuple[HookEvent, HookSession | None]:
        """The session of a hook. Its run begins with its first step, when the task is known."""
        dialect = self._readers.get(message.client)
        if dialect is None:
            raise BadInput(f"there is no client {message.client!r}")
        event = dialect.read(message.payload)
        if not SESSION.fullmatch(event.session):
            raise BadInput("the payload names no session")
        key = (event.client, event.session)
        with self._lock:
            # A stopped session gets that answer until its client is gone.
            session = self._sessions.get(key)
            if session is None and event.moment in ("begin", "end"):
                self._begun[key] = line
                while len(self._begun) > MOST_BEGUN:
                    del self._begun[next(iter(self._begun))]
                return event, None
            opening = self._opening.setdefault(key, threading.Lock()) if session is None else None
        if session is None and opening is not None:
            session = self._open_once(key, opening, event, client, pid)
        elif session is not None:
            session.find_agent(pid)
        return event, session

    def _open_once(
        self, key: tuple[str, str], opening: threading.Lock, event: HookEvent, client: WaitingClient, pid: int | None
    ) -> HookSession:
        """Open the session's run without blocking others; further hooks of the session wait until then."""
        with _reassure(client), opening:
            with self._lock:
                session, left = self._sessions.get(key), self._left.pop(key, None)
            if session is not None:
                return session
            session = self._open(event, left, pid)
            with self._lock:
                self._sessions[key] = session
                self._opening.pop(key, None)
                begun = self._begun.pop(key, None)
            if begun is not None:
                session.exchange.answer(begun, client)
            return session

    def _open(self, event: HookEvent, left: RunFolder | None, pid: int | None) -> HookSession:
        here = Path(event.cwd) if event.cwd else None
        config = load(self._config, cwd=here)
        only_session = all(other.supervisor.run.spec.workspace != event.cwd for other in self.sessions)
        session = HookSession(event, config, self._store, pid, folder=left, checkpoints=only_session)
        link = gates_folder() / event.session
        with contextlib.suppress(OSError):
            link.unlink(missing_ok=True)
            link.symlink_to(session.folder.gate)
        log.info("%s: run %s", session.client, session.supervisor.run.spec.run_id)
        return session

    def _end(self, session: HookSession) -> None:
        with self._lock:
            self._sessions.pop((session.client, session.name), None)
        (gates_folder() / session.name).unlink(missing_ok=True)
        session.finish()

    def _watch(self) -> None:
        tidied = woken = -TIDY_S
        while not self._over.wait(POLL_S):
            if time.monotonic() - tidied >= TIDY_S:
                tidied = time.monotonic()
                self._tidy()
            if time.monotonic() - woken >= WAKE_S:
                woken = time.monotonic()
                self.on_poll()
            for session in self.sessions:
                self._check_session(session)

    def _check_session(self, session: HookSession) -> None:
        try:
            if not session.check():
                self._end(session)
        except Exception:
            # An error in one session must not affect the others.
            log.exception("run %s: a check of the session failed", session.supervisor.run.spec.run_id)

    def _tidy(self) -> None:
        """Clean up the store regularly, as this process runs for weeks."""
        try:
            clean_up_store(self._store, load(self._config), time.time())
        except (InterlockError, OSError) as error:
            log.warning("the store could not be cleaned up: %s", error)


@contextlib.contextmanager
def _reassure(client: WaitingClient) -> Iterator[None]:
    """Tell a client regularly that its answer will come: on a busy machine, opening a run may take long."""
    done = threading.Event()

    def tell() -> None:
        until = time.monotonic() + OPENING_S
        while not done.wait(REASSURE_S) and time.monotonic() < until:
            client.say_wait()

    threading.Thread(target=tell, name="interlock-opening", daemon=True).start()
    try:
        yield
    finally:
        done.set()
