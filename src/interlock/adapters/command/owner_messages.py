"""The messages between a run's front and owner, as JSON lines over a socket pair."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from ...core import Ending, InterlockError, NotDone
from ...process import TreeHandle
from .launch import LaunchSettings


def steps_path(control: Path) -> Path:
    """The socket for steps from the run's processes, in a folder that a contained agent cannot change."""
    return control.with_suffix("") / "steps"


class BeginRun(LaunchSettings, frozen=True, kw_only=True, tag_field="say", tag="begin"):
    """Front to owner, first: supervise this run; `reopen` if a predecessor has already started it.

    `watched` are our files that must not change during the run, `settings` the user's files in which hooks can be
    disabled; `proxied` means that there is a third listening socket, for the model's API. `tree` is the command's
    process tree if it is already running. `contained`: it runs in a sandbox; `fenced`: the last socket is its way out.
    `lacks` are variables that a parked client had and that are not set where it resumes. `attended`: a person may
    be at its terminal; `hung`: the predecessor did not answer and was killed.
    """

    store: str
    reopen: bool = False
    watched: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    expects_hooks: bool = False
    tree: TreeHandle | None = None
    contained: bool = False
    lacks: tuple[str, ...] = ()
    attended: bool = False
    temporary: str = ""
    fenced: bool = False
    hung: bool = False


class OwnerReady(Struct, frozen=True, tag_field="say", tag="ready"):
    """Owner to front: everything is ready, the command may start."""


class ApprovalAsked(Struct, frozen=True, tag_field="say", tag="asks"):
    """Owner to front: this step waits for a person's approval."""

    step: int
    what: str
    digest: str = ""


class ApprovalGiven(Struct, frozen=True, tag_field="say", tag="says"):
    """Owner to front: a message for the person who started the run."""

    words: str


class OwnerFailed(Struct, frozen=True, tag_field="say", tag="failed"):
    """Owner to front: the run cannot be supervised, for this reason; `status` is the exit status."""

    what: str
    where: str = ""
    todo: str = ""
    status: int = InterlockError.exit_status


class CommandStarted(Struct, frozen=True, tag_field="say", tag="started"):
    """Front to owner: the command is running, with this tree; `park` is the park after which it was restarted."""

    tree: TreeHandle
    park: int = 0


class ClientParked(Struct, frozen=True, tag_field="say", tag="parked"):
    """Owner to front, after Exited: a usage limit ended the client. The run is parked; it restarts the client later."""

    words: str


class Relaunch(Struct, frozen=True, kw_only=True, tag_field="say", tag="relaunch"):
    """Owner to front: restart the client in its session, with this prompt.

    `park` is the number of the park, requested once each; 0 if the client ended before its work was done.
    """

    session: str
    words: str
    park: int = 0


class Checking(Struct, frozen=True, tag_field="say", tag="checking"):
    """Owner to front, after Exited: the commands of `done_when` are running, for at most this long."""

    seconds: float


class ParkOver(Struct, frozen=True, tag_field="say", tag="over"):
    """Owner to front: the run ended while it had no client; `status` is the client's exit status."""

    status: int


class Ping(Struct, frozen=True, tag_field="say", tag="ping"):
    """Front to owner: a ping. Owner to front: the reply."""


class Exited(Struct, frozen=True, tag_field="say", tag="exited"):
    """Front to owner: the command has ended (negative status for a signal), after reaching these limits.

    `left` says what was done about the processes that it left running.
    """

    status: int
    limits: tuple[str, ...] = ()
    left: str = ""


class Finished(Struct, frozen=True, kw_only=True, tag_field="say", tag="finished"):
    """Owner to front, last: the summary of the run, which `--summary` also writes."""

    run_id: str
    name: str
    status: str
    reason: str
    message: str
    exit_status: int
    command_status: int | None
    seconds: float
    steps: int = 0
    calls: int = 0
    issues: int = 0
    interventions: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    unpriced_tokens: int = 0
    max_cost_usd: float | None = None
    checkpoints: int = 0
    checkpoint_problem: str = ""
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    files_deleted: tuple[str, ...] = ()
    limits_reached: tuple[str, ...] = ()
    incident_id: str | None = None
    processes_left: int = 0
    still_running: str = ""
    tampering: tuple[str, ...] = ()
    ending: Ending | None = None
    not_done: tuple[NotDone, ...] = ()
    contract: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    folder: str = ""


ToOwner = BeginRun | CommandStarted | Exited | Ping
ToFront = (
    OwnerReady | OwnerFailed | ApprovalAsked | ApprovalGiven | Finished | ClientParked | Relaunch | ParkOver | Checking
    | Ping
)  # fmt: skip


class Channel:
    """One end of the socket pair. `send` may be called from any thread; a closed peer is not an error."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file: IO[bytes] = sock.makefile("rb")
        self._lock = threading.Lock()

    def send_sockets(self, sockets: Sequence[socket.socket]) -> None:
        """Send open sockets; must be called before anything else is sent."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._sock, [b"\n"], [each.fileno() for each in sockets])

    def send(self, message: ToOwner | ToFront) -> None:
        # If the peer is gone, the reader notices.
        with self._lock, contextlib.suppress(OSError):
            self._sock.sendall(msgspec.json.encode(message) + b"\n")

    def wait(self, seconds: float) -> bool:
        """Whether the peer sends something, or disconnects, within this time."""
        return bool(select.select([self._sock], [], [], seconds)[0])

    def receive(self) -> bytes | None:
        """The next line; None when the peer is gone."""
        try:
            return self._file.readline() or None
        except OSError:
            return None

    def close(self) -> None:
        self._sock.close()


def receive_sockets(front: socket.socket) -> list[socket.socket]:
    """The sockets sent by `send_sockets`; none if the peer is gone."""
    _data, handles, _flags, _address = socket.recv_fds(front, 1, 8)
    for handle in handles:
        os.set_inheritable(handle, False)
    return [socket.socket(fileno=handle) for handle in handles]
