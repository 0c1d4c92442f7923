"""What the front and the owner of a run tell each other, as JSON lines over a pair of sockets."""

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

from ...config import Config
from ...core import Context, InterlockError, RunSpec
from ...process import TreeHandle
from ..proxy import Proxied


def steps_path(control: Path) -> Path:
    """Where a run's processes report their steps: in its own folder, which a contained agent cannot change."""
    return control.with_suffix("") / "steps"


class BeginRun(Struct, frozen=True, kw_only=True, tag_field="say", tag="begin"):
    """Front to owner, first: supervise this run; `reopen` if a predecessor has already begun it.

    `watched` are files of ours that must not change during the run, `settings` files of the user in which hooks can be
    switched off; `proxied` says that there is a third listening socket, for the model's API. `tree` is the command's,
    if it is already running. `contained`: it runs in a sandbox; `fenced`: the last socket is its only way out.
    `lacks` are variables that a parked client had and that are not set where it is to resume. `attended`: a person may
    be at its terminal; `hung`: the predecessor did not answer and was killed.
    """

    spec: RunSpec
    store: str
    config: Config
    context: Context
    reopen: bool = False
    needs_approval: bool = False
    removed_actions: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    expects_hooks: bool = False
    proxied: Proxied | None = None
    tree: TreeHandle | None = None
    contained: bool = False
    lacks: tuple[str, ...] = ()
    attended: bool = False
    temporary: str = ""
    fenced: bool = False
    hung: bool = False


class OwnerReady(Struct, frozen=True, tag_field="say", tag="ready"):
    """Owner to front: everything is in place, the command may start."""


class ApprovalAsked(Struct, frozen=True, tag_field="say", tag="asks"):
    """Owner to front: this step waits for a person."""

    step: int
    what: str
    digest: str = ""


class ApprovalGiven(Struct, frozen=True, tag_field="say", tag="says"):
    """Owner to front: something that the person who started the run should know now."""

    words: str


class OwnerFailed(Struct, frozen=True, tag_field="say", tag="failed"):
    """Owner to front: the run cannot be supervised, for this reason; `status` is for the shell."""

    what: str
    where: str = ""
    todo: str = ""
    status: int = InterlockError.exit_status


class CommandStarted(Struct, frozen=True, tag_field="say", tag="started"):
    """Front to owner: the command runs, and this is its tree; `park` is the one after which it was started again."""

    tree: TreeHandle
    park: int = 0


class ClientParked(Struct, frozen=True, tag_field="say", tag="parked"):
    """Owner to front, after Exited: a usage limit ended the client. The run waits, and its client is started again."""

    words: str


class Relaunch(Struct, frozen=True, kw_only=True, tag_field="say", tag="relaunch"):
    """Owner to front: start the client again in its session, with these words.

    `park` counts the parks: each is asked for once. It is 0 if the client ended and its work is not done.
    """

    session: str
    words: str
    park: int = 0


class Checking(Struct, frozen=True, tag_field="say", tag="checking"):
    """Owner to front, after Exited: the commands of `done_when` run now, for at most so long."""

    seconds: float


class ParkOver(Struct, frozen=True, tag_field="say", tag="over"):
    """Owner to front: the run ended while its client was not there; this is how the client had ended."""

    status: int


class Ping(Struct, frozen=True, tag_field="say", tag="ping"):
    """Front to owner: are you there? Owner to front: yes."""


class Exited(Struct, frozen=True, tag_field="say", tag="exited"):
    """Front to owner: the command has ended (minus the signal that ended it), after reaching these limits.

    `left` says what was done about the processes that it left running.
    """

    status: int
    limits: tuple[str, ...] = ()
    left: str = ""


class Finished(Struct, frozen=True, kw_only=True, tag_field="say", tag="finished"):
    """Owner to front, last: the whole run in one value, which is also what `--summary` writes."""

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
    files_changed: tuple[str, ...] = ()
    files_created: tuple[str, ...] = ()
    files_deleted: tuple[str, ...] = ()
    limits_reached: tuple[str, ...] = ()
    incident_id: str | None = None
    processes_left: int = 0
    still_running: str = ""
    tampering: tuple[str, ...] = ()
    contract: tuple[str, ...] = ()
    folder: str = ""


ToOwner = BeginRun | CommandStarted | Exited | Ping
ToFront = (
    OwnerReady
    | OwnerFailed
    | ApprovalAsked
    | ApprovalGiven
    | Finished
    | ClientParked
    | Relaunch
    | ParkOver
    | Checking
    | Ping
)


class Channel:
    """One end of the pair. `send` may be called from any thread; what cannot be sent any more is not an error."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._file: IO[bytes] = sock.makefile("rb")
        self._lock = threading.Lock()

    def send_sockets(self, sockets: Sequence[socket.socket]) -> None:
        """Hand over open sockets; the first thing that is sent."""
        with contextlib.suppress(OSError):
            socket.send_fds(self._sock, [b"\n"], [each.fileno() for each in sockets])

    def send(self, message: ToOwner | ToFront) -> None:
        # If the other end is gone, the reader notices.
        with self._lock, contextlib.suppress(OSError):
            self._sock.sendall(msgspec.json.encode(message) + b"\n")

    def wait(self, seconds: float) -> bool:
        """Whether the other end says its first word, or is gone, within this time."""
        return bool(select.select([self._sock], [], [], seconds)[0])

    def receive(self) -> bytes | None:
        """The next line; None when the other end is gone."""
        try:
            return self._file.readline() or None
        except OSError:
            return None

    def close(self) -> None:
        self._sock.close()


def receive_sockets(front: socket.socket) -> list[socket.socket]:
    """What `send_sockets` handed over; nothing where the other end is gone."""
    _data, handles, _flags, _address = socket.recv_fds(front, 1, 8)
    for handle in handles:
        os.set_inheritable(handle, False)
    return [socket.socket(fileno=handle) for handle in handles]
