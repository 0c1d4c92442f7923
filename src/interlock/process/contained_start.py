"""Starts a command in the sandbox: bubblewrap, our init process, and the command in its process group and cgroups."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
from msgspec import Struct

from ..core import BadInput, RunSpec, needs_linux, open_memory_file
from .handle import ProcessId, TreeHandle
from .process_family import MARKER, without_marker
from .program import cannot_start
from .tree import ProcessTree

FIRST = "init_process"
ISOLATED = "import sys; sys.path.append(sys.argv.pop(1)); __import__(sys.argv.pop(1)).main()"
CREDENTIALS = struct.Struct("3i")
SCM_CREDENTIALS, SO_PASSCRED = 2, 16

Stream = int | IO[bytes] | None


class Enclosure(Struct, frozen=True, kw_only=True):
    """How to build the sandbox: the words before the command, the descriptors that they name, and where events go.

    `events` receives a line whenever the terminal interrupts or stops the command, which becomes the foreground of
    `terminal`. `bridges` lead from a port of the command's own network namespace to a unix socket (PORT=PATH).
    Landlock allows the command to write only below `write`, if given, and, if `scoped`, denies it access to abstract
    sockets outside.
    """

    words: tuple[str, ...]
    fds: tuple[int, ...] = ()
    events: int = -1
    terminal: int = -1
    bridges: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    scoped: bool = False


class JoinFailed(Exception):
    """Raised if a cgroup can be created but not entered."""


class Start(NamedTuple):
    """A command to start, and its environment."""

    spec: RunSpec
    environment: dict[str, str]
    streams: tuple[Stream, Stream, Stream]
    pass_fds: tuple[int, ...]
    write: tuple[str, ...]
    on_known: Callable[[TreeHandle], None]


def start_enclosed(start: Start, handle: TreeHandle, enclosure: Enclosure) -> ProcessTree:
    """Start the command so that its processes are tracked from before its first instruction."""
    needs_linux("containment")
    spec, environment, streams, pass_fds, _, on_known = start
    here, there = socket.socketpair()
    here.setsockopt(socket.SOL_SOCKET, SO_PASSCRED, 1)
    status, status_end = os.pipe()
    # Not bubblewrap's own streams: it would keep them open as long as processes that the command leaves behind.
    own, said = _open_streams(streams), open_memory_file("bubblewrap")
    groups: list[int] = []
    try:
        groups = _open_groups(handle)
        events = (enclosure.events,) if enclosure.events >= 0 else ()
        numbers = [there.fileno(), status_end, enclosure.events, *own]
        marker = f"{MARKER}={environment[MARKER]}"
        words = [*map(str, numbers), environment.get("PWD", ""), marker, "scoped" if enclosure.scoped else "-"]
        for listed in (enclosure.bridges, enclosure.write, tuple(map(str, groups))):
            words += [str(len(listed)), *listed]
        for descriptor in enclosure.fds:
            # A previous attempt, which failed to enter the cgroup, has read them to their end.
            os.lseek(descriptor, 0, os.SEEK_SET)
        command = [*enclosure.words, "--", *isolated_words(FIRST), *words, *spec.argv]
        handed = (*pass_fds, there.fileno(), status_end, *own, *groups, *enclosure.fds, *events)
        popen = subprocess.Popen(
            command,
            cwd=spec.cwd,
            env=without_marker(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
            pass_fds=handed,
            # A command that kills its own process group must not kill us.
            process_group=0,
        )
    except (OSError, ValueError, JoinFailed) as error:
        here.close()
        for descriptor in (status, said):
            os.close(descriptor)
        raise error if isinstance(error, JoinFailed) else cannot_start(spec, error) from None
    finally:
        there.close()
        for descriptor in (status_end, *own, *groups):
            os.close(descriptor)

    def known(pids: dict[str, int]) -> TreeHandle:
        root, first = ProcessId.of(pids["root"]), ProcessId.of(pids["first"])
        return msgspec.structs.replace(handle, root=root, keeper=first, enclosed=True)

    def let_begin(pids: dict[str, int]) -> None:
        on_known(known(pids))
        if enclosure.terminal >= 0:
            with contextlib.suppress(OSError):
                os.tcsetpgrp(enclosure.terminal, popen.pid)

    try:
        with here:
            errors, pids = _learn(here, let_begin)
    except BaseException:
        # The command has not begun; its processes exit.
        popen.wait()
        for descriptor in (status, said):
            os.close(descriptor)
        raise
    if not pids.keys() >= {"first", "root"} or errors:
        popen.wait()
        os.close(status)
        with os.fdopen(said, "rb") as file:
            _refuse(spec, errors, os.pread(file.fileno(), 2000, 0).decode("utf-8", "replace").strip())
    os.close(said)
    return ProcessTree(known(pids), popen, status)


def isolated_words(module: str) -> tuple[str, ...]:
    """The words that run a module of this folder in an isolated interpreter; imported, as scripts are not cached."""
    return sys.executable or "python3", "-I", "-S", "-c", ISOLATED, f"{Path(__file__).parent}/", module


def _open_streams(streams: tuple[Stream, Stream, Stream]) -> list[int]:
    """Descriptors for the command's input, output and errors: copies of those given, or of our own."""
    return [
        os.open(os.devnull, os.O_RDWR)
        if stream == subprocess.DEVNULL
        else os.dup(number if stream is None else stream if isinstance(stream, int) else stream.fileno())
        for number, stream in enumerate(streams)
    ]


def _open_groups(handle: TreeHandle) -> list[int]:
    folders = [handle.group, *handle.controllers.values()] if handle.group else []
    opened: list[int] = []
    for folder in folders:
        try:
            opened.append(os.open(f"{folder}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        except OSError as error:
            for descriptor in opened:
                os.close(descriptor)
            raise JoinFailed(f"it could not be entered ({error.strerror})") from None
    return opened


def _learn(here: socket.socket, on_known: Callable[[dict[str, int]], None]) -> tuple[dict[str, int], dict[str, int]]:
    """Receive errors and process ids from the child, as ids of our namespace: the kernel translates the credentials."""
    errors: dict[str, int] = {}
    pids: dict[str, int] = {}
    while True:
        data, ancillary, _, _ = here.recvmsg(256, socket.CMSG_SPACE(CREDENTIALS.size))
        if not data:
            return errors, pids
        pid = next((CREDENTIALS.unpack(body)[0] for _, kind, body in ancillary if kind == SCM_CREDENTIALS), 0)
        for line in data.decode().splitlines():
            word, _, number = line.partition(" ")
            if number:
                errors[word] = int(number)
            else:
                pids[word] = pid
        if "root" in pids and not errors:
            on_known(pids)
            with contextlib.suppress(OSError):
                here.send(b"g")


def _refuse(spec: RunSpec, errors: dict[str, int], said: str) -> None:
    if "join" in errors:
        raise JoinFailed(f"it could not be entered ({os.strerror(errors['join'])})")
    if "exec" in errors:
        raise cannot_start(spec, OSError(errors["exec"], os.strerror(errors["exec"]), spec.argv[0]))
    if "bridge" in errors:
        raise BadInput("the fence's network could not be built", todo="Use --contain guard to run without it.")
    why = said.splitlines()[-1] if said else "bubblewrap failed"
    raise BadInput(f"the containment could not be built ({why})", todo="Use --contain off to run without it.")
