"""ControlServer: a run's endpoint on a unix socket, with its inbox; JournalLog: the journal as the endpoint's log."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from ..control import CONTROL_KINDS, MAX_MESSAGE, ClientRefused, ControlState, LogEntry, Request, decode_request
from ..core import AGENT, InterlockError, Record
from ..journal import JournalEntry, JournalWriting
from .endpoint import Endpoint
from .inbox import collect_requests
from .line_server import LineHandler, LineServer
from .peer import Peer
from .socket_paths import listen, note_socket, socket_path

FROM_INSIDE = ("pause", "cancel")
"""The commands that a process of the run may send to its own run."""

ENDED = "it has ended, and another process may have its number"


class Authority:
    """Who may control a run. A process of the run itself may pause and cancel it, and nothing else.

    `why_inside` returns how we know that a pid belongs to the run, empty for a person's process; None if no process is
    inside. `on_refused` is called with what was refused. With `knows_by_peer` the inbox accepts only what anybody may
    ask.
    """

    def __init__(self) -> None:
        self.knows_by_peer = False
        self.why_inside: Callable[[int], str] | None = None
        self.on_refused: Callable[[str], None] = lambda what: None

    def name(self, peer: Peer) -> str:
        """The sender's name: a process of the run acts for the agent, not for a person."""
        return f"{AGENT} ({peer.actor})" if self._why(peer) else peer.actor

    def refuse(self, peer: Peer, line: bytes) -> str:
        """Why this line is refused; empty if it is not."""
        why = self._why(peer)
        if not why:
            return ""
        request = decode_request(line)
        if isinstance(request, Request) and request.command in FROM_INSIDE:
            return ""
        what = request.command if isinstance(request, Request) else "a message"
        self.on_refused(f"the agent tried to steer its own run ({what}, from process {peer.pid})")
        return f"{what} is refused: only a person may request it, and the request came from the agent's process ({why})"

    def _why(self, peer: Peer) -> str:
        if self.why_inside is None:
            return ""
        # Checked last: while the process lives, what was found out by its pid is true of it.
        return self.why_inside(peer.pid) or (ENDED if peer.has_ended() else "")


class ControlHandler(LineHandler):
    """Passes lines to the endpoint; answers go to the connection that the copy came on."""

    def __init__(self, endpoint: Endpoint, authority: Authority) -> None:
        self._endpoint, self._authority = endpoint, authority

    def on_line(self, peer: Peer, line: bytes) -> None:
        if peer.has_hung_up():
            # It may have waited in our buffers for long: on a socket, age counts as zero.
            self._post(ClientRefused("the sender disconnected before its message was read", peer.actor))
            return
        if refusal := self._authority.refuse(peer, line):
            self._post(ClientRefused(refusal, peer.actor, peer))
            return
        try:
            self._endpoint.receive(line, peer, actor=self._authority.name(peer))
        except InterlockError:
            # It could not be made durable, so there is no answer: the sender notices at once and retries.
            peer.shut_down()

    def on_too_long(self, peer: Peer) -> None:
        self.on_line(peer, b" " * (MAX_MESSAGE + 1))

    def on_refused(self, peer: Peer) -> None:
        self._post(ClientRefused(f"{peer.actor} is not allowed to control this run", peer.actor, peer))

    def on_closed(self, peer: Peer) -> None:
        self._endpoint.forget(peer)

    def _post(self, event: ClientRefused) -> None:
        with contextlib.suppress(InterlockError):
            self._endpoint.post(event)


class ControlServer:
    """Serves one run: `open` listens and reads the inbox; the endpoint must have been started.

    A given listener stays open when this is closed: its creator passes it to the next owner.
    """

    def __init__(self, endpoint: Endpoint, folder: Path, listener: socket.socket | None = None) -> None:
        self.path = socket_path(folder)
        self._endpoint, self._folder = endpoint, folder
        self._is_ours = listener is None
        self.authority = Authority()
        self._servers = [self._serve(listener or listen(self.path))]

    def open(self) -> None:
        note_socket(self._folder, self.path)
        for server in self._servers:
            server.start()
        self.read_inbox()

    def bind_again(self) -> None:
        """The socket was removed: listen at the same path again."""
        server = self._serve(listen(self.path))
        self._servers.append(server)
        server.start()
        with contextlib.suppress(OSError):
            note_socket(self._folder, self.path)

    def read_inbox(self) -> None:
        """Receive the requests that were left while there was no owner. Their senders are unknown: see `Authority`."""
        for left in collect_requests(self._folder / "inbox"):
            request = decode_request(left.data) if self.authority.knows_by_peer else None
            if isinstance(request, Request) and request.command not in FROM_INSIDE:
                # Its sender tries again on the socket, where we see who it is.
                self._endpoint.post(ClientRefused(f"{request.command} was left in the inbox", left.actor))
            else:
                self._endpoint.receive(left.data, None, age=left.age, actor=left.actor)
            left.path.unlink(missing_ok=True)

    def close(self) -> None:
        for server in self._servers:
            server.close()
        if self._is_ours:
            self.path.unlink(missing_ok=True)

    def _serve(self, listener: socket.socket) -> LineServer:
        return LineServer(listener, ControlHandler(self._endpoint, self.authority), f"socket {self._folder.name}")


class JournalLog:
    """Writes entries byte for byte."""

    def __init__(self, journal: JournalWriting) -> None:
        self._journal = journal

    def append_atomic(self, entries: Sequence[LogEntry], state: ControlState, *, durable: bool) -> int:
        return self.write([JournalEntry(entry.kind, msgspec.Raw(entry.body)) for entry in entries], state, durable)

    def write(self, rows: list[JournalEntry], state: ControlState, durable: bool) -> int:
        """Add rows to the journal; a run that has a summary stores it with them."""
        return self._journal.append(rows, durable=durable)

    def read(self) -> Iterable[Record]:
        reader = self._journal.reader()
        try:
            yield from reader.read(kinds=CONTROL_KINDS)
        finally:
            reader.close()
