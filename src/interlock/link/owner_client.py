"""Sends a request to a run's owner on this machine: to its socket, or its inbox if there is no owner."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..control import (
    CONTROL_KINDS,
    LookUp,
    Request,
    RequestClient,
    RequestOutcome,
    RequestRecord,
    Transmit,
    decode_current,
    find_request,
    status_of,
)
from ..core import InterlockError, Status, from_json, read_small
from ..journal import HELD, TREE, JournalReader, OwnerInfo, RunFolder
from .inbox import leave_request
from .live_clock import now
from .socket_paths import noted_socket, socket_path

DEFAULT_TIMEOUT_S = 60.0
RECONNECT_S = (0.05, 1.0)
"""Time between two attempts to reach an absent owner: at first, and later."""

WAITING_S = 5.0
"""How often we report what a pause waits for."""

UNFINISHED = "no further step starts, but one is still running"

Notice = Callable[[str], None]


def ask_owner(
    folder: RunFolder,
    request: Request,
    *,
    timeout: float = DEFAULT_TIMEOUT_S,
    notice: Notice | None = None,
    patience: float | None = None,
    settled: bool = False,
) -> RequestOutcome:
    """Send a request to a run on this machine and wait for its answer. `notice` is called at once for a dead owner.

    If the owner has not even acknowledged it after `patience` seconds, the outcome is unknown. With `settled`, wait
    until a run that is pausing is paused.
    """
    return _OwnerRequest(folder, request, timeout, notice or (lambda _: None), patience).run(settled)


def look_up(folder: RunFolder, request_id: str) -> RequestRecord:
    """The state of a request in the run's journal, and the state of the run."""
    try:
        with JournalReader.open(folder) as reader:
            return find_request(reader.read(kinds=CONTROL_KINDS), request_id)
    except InterlockError:
        return RequestRecord()


def read_status(folder: RunFolder) -> Status | None:
    """The run's status in the protocol; `paused` if it was paused without its owner, None if it is unknown."""
    if (folder.path / HELD).exists():
        return "paused"
    try:
        with JournalReader.open(folder) as reader:
            last = reader.last("state")
    except InterlockError:
        return None
    event = decode_current(bytes(last.body)) if last is not None else None
    return status_of(event) if event is not None else None


class _OwnerRequest:
    """One request over as many connections as needed."""

    def __init__(
        self, folder: RunFolder, request: Request, timeout: float, notice: Notice, patience: float | None
    ) -> None:
        self._patience = patience
        self._folder, self._notice = folder, notice
        self._controller = RequestClient(request, timeout)
        self._sock: socket.socket | None = None
        self._received = b""
        self._pause = RECONNECT_S[0]
        self._noticed = self._paused = False

    def run(self, settled: bool) -> RequestOutcome:
        try:
            begun = now().steady
            self._do(self._controller.start(now()))
            while self._controller.answer is None:
                wake = self._controller.wake_at()
                left = max(0.0, (wake if wake is not None else now().steady) - now().steady)
                if self._patience is not None and not self._controller.accepted:
                    until = begun + self._patience - now().steady
                    if until <= 0:
                        return RequestOutcome(outcome="unknown", message="its owner does not respond")
                    left = min(left, until)
                if self._sock is not None:
                    self._listen(left)
                else:
                    self._reconnect(left)
                self._do(self._controller.tick(now()))
            answer = self._controller.answer
            is_pausing = answer.result is not None and answer.result.payload.run_status == "pausing"
            return self._await_paused(answer, begun) if settled and is_pausing else answer
        finally:
            self._hang_up()

    def _await_paused(self, answer: RequestOutcome, begun: float) -> RequestOutcome:
        """Wait for the STATE that says that the run is no longer pausing."""
        name = self._folder.spec().name or self._folder.run_id
        until, notice_at = begun + self._controller.timeout, 0.0
        while not self._paused:
            left = until - now().steady
            if left <= 0:
                message = f"{UNFINISHED} after {self._controller.timeout:.0f} s; --now stops it at once"
                return replace(answer, outcome="unknown", message=message, accepted=True)
            if now().steady >= notice_at:
                notice_at = now().steady + WAITING_S
                self._notice(f"{name}: waiting for the current step to finish (--now stops it at once)")
            again = min(until, now().steady + WAITING_S)
            while not self._paused and now().steady < again:
                if self._sock is not None:
                    self._listen(again - now().steady)
                else:
                    time.sleep(min(left, RECONNECT_S[1]))
                    break
            # A successor of the owner does not know that we wait, but the journal knows the state.
            self._paused = self._paused or read_status(self._folder) != "pausing"
        return answer

    def _do(self, actions: list[Transmit | LookUp]) -> None:
        for action in actions:
            if isinstance(action, LookUp):
                self._controller.found(look_up(self._folder, self._controller.request.request_id))
            elif not self._send(action.data):
                self._send_without_owner(action)
            elif self._folder.owner() is None:
                # The front keeps the socket open for the next owner; the copy waits in it.
                self._check_ended()
                self._tell_dead()

    def _send(self, data: bytes) -> bool:
        """Send one copy to a live owner."""
        if self._sock is None and not self._connect():
            return False
        assert self._sock is not None
        try:
            self._sock.sendall(data + b"\n")
        except OSError:
            self._hang_up()
            return False
        return True

    def _connect(self, path: Path | None = None) -> bool:
        path = path or noted_socket(self._folder.path)
        if path is None and not self._folder.path.exists():
            # Someone removed the folder of a run that may still continue.
            path = socket_path(self._folder.path)
        if path is None:
            return False
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.connect(str(path))
        except OSError:
            sock.close()
            return False
        self._sock, self._received = sock, b""
        return True

    def _send_without_owner(self, copy: Transmit) -> None:
        """Without an owner: the journal may have the outcome already; else the copy waits in the inbox."""
        if self._check_ended():
            return
        if self._never_began():
            self._controller.refuse("not_found", "the run never started, and its owner is dead")
            return
        path = leave_request(self._folder.inbox, self._controller.request.request_id, copy.attempt, copy.data)
        if self._send(copy.data):
            # It started just now, and may have read its inbox before.
            path.unlink(missing_ok=True)
        else:
            self._tell_dead()

    def _check_ended(self) -> bool:
        """Whether the journal already has the outcome: the RESULT, or the end of the run."""
        found = look_up(self._folder, self._controller.request.request_id)
        if found.result is None and not found.run_ended:
            return False
        self._controller.found(found)
        return True

    def _never_began(self) -> bool:
        """Whether the owner died before the run began, and nobody is there to start another."""
        if self._folder.owner() is not None or not self._folder.lock_file.exists():
            return False
        if (self._folder.path / TREE).exists():
            return False
        try:
            with JournalReader.open(self._folder) as reader:
                begun = reader.count("started") > 0 or reader.count("step") > 0
            if not self._folder.spec().argv:
                begun = begun or noted_socket(self._folder.path) is not None
            return not begun and not self._connect(socket_path(self._folder.path))
        except InterlockError:
            return False

    def _listen(self, seconds: float) -> None:
        assert self._sock is not None
        self._sock.settimeout(max(seconds, 0.001))
        try:
            data = self._sock.recv(65_536)
        except TimeoutError:
            return
        except OSError:
            data = b""
        if not data:
            self._hang_up()
            return
        self._pause = RECONNECT_S[0]
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._controller.receive(line, direct=True)
            event = decode_current(line)
            ours = event is not None and event.request_id == self._controller.request.request_id
            self._paused = self._paused or (ours and event is not None and status_of(event) != "pausing")

    def _reconnect(self, seconds: float) -> None:
        """Try to reach the owner again, waiting longer each time."""
        time.sleep(min(seconds, self._pause))
        self._pause = min(RECONNECT_S[1], self._pause * 1.5)
        if self._connect() or not self._noticed:
            self._do(self._controller.retry(now()))

    def _tell_dead(self) -> None:
        if self._noticed or self._folder.owner() is not None:
            return
        self._noticed = True
        pid = _last_owner(self._folder).pid
        self._notice(
            f"the owner of run {self._folder.run_id} (process {pid or 'unknown'}) is dead; the request is in its inbox"
        )

    def _hang_up(self) -> None:
        if self._sock is not None:
            self._sock.close()
            self._sock = None


def _last_owner(folder: RunFolder) -> OwnerInfo:
    try:
        return from_json(read_small(folder.lock_file), OwnerInfo)
    except (OSError, msgspec.DecodeError):
        return OwnerInfo()
