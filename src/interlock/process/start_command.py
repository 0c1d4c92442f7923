"""Starts a command inside its containment, or takes over a tree that another process started."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from ..core import BadInput, InvalidState, Limits, RunSpec, boot_id, needs_linux
from . import cgroup_hierarchy
from .cgroup_hierarchy import CgroupFolders, QuickEntry
from .contained_start import Enclosure, JoinFailed, Start, Stream, isolated_words, start_enclosed
from .handle import ProcessId, TreeHandle
from .process_family import add_marker
from .program import cannot_start
from .tree import ProcessTree

NOBODY = ProcessId(-1, -1)
LAUNCH = "join_cgroups"


def spawn(
    spec: RunSpec,
    *,
    env: Mapping[str, str] | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    limits: Limits | None = None,
    pass_fds: tuple[int, ...] = (),
    mechanism: Literal["auto", "cgroup", "signals"] = "auto",
    enclosure: Enclosure | None = None,
    write: tuple[str, ...] = (),
    on_known: Callable[[TreeHandle], None] = lambda handle: None,
) -> ProcessTree:
    """Start `spec.argv` in `spec.cwd`, contained and limited before its first instruction runs.

    It has our terminal unless streams are given. `mechanism` "auto" uses a cgroup if possible. An `enclosure`
    gives it its own PID namespace, and the rest of its sandbox. Without one, Landlock lets it write only below `write`,
    if given. `on_known` is called with the tree before the
    command's first instruction runs; if we are killed before that, the command never runs.
    """
    needs_linux("process control")
    if not spec.argv:
        raise BadInput("there is no command to start", todo="Put one after --.")
    marker = os.urandom(8).hex()
    environment = add_marker(dict(os.environ if env is None else env), marker)
    made: CgroupFolders | str = "signals were asked for" if mechanism == "signals" else cgroup_hierarchy.make(marker)
    if isinstance(made, str) and mechanism == "cgroup":
        raise InvalidState(f"no cgroup for {spec.argv[0]}: {made}")
    session = os.getsid(0)
    handle = _handle(marker, made, session)
    tree = ProcessTree(handle)
    entry: QuickEntry | None = None

    def known(handle: TreeHandle) -> None:
        if entry is not None:
            entry.entered.set()
        on_known(handle if limits is None else msgspec.structs.replace(handle, limits=limits))

    start = Start(spec, environment, (stdin, stdout, stderr), pass_fds, write, known)

    def begin(handle: TreeHandle) -> ProcessTree:
        return start_enclosed(start, handle, enclosure) if enclosure is not None else _start(start, handle)

    try:
        if limits is not None and handle.group:
            tree.limit(limits)
        entry = QuickEntry(made.own) if isinstance(made, CgroupFolders) else None
        tree = begin(handle)
    except JoinFailed as failed:
        tree.close()
        if mechanism == "cgroup":
            raise InvalidState(f"no cgroup for {spec.argv[0]}: {failed}") from None
        handle = _handle(marker, "", session)
        tree = begin(handle)
    except BaseException:
        tree.close()
        raise
    finally:
        if entry is not None:
            entry.close()
    if limits is not None:
        tree.limit(limits)
    return tree


def attach(handle: TreeHandle) -> ProcessTree:
    """A tree that another process started; if it is gone, it is not alive."""
    if handle.boot != boot_id():
        # Pids and folders from before a reboot are meaningless.
        return ProcessTree(TreeHandle(marker=handle.marker, boot=handle.boot, root=NOBODY, session=handle.session))
    return ProcessTree(handle)


def _handle(marker: str, made: CgroupFolders | str, session: int | None) -> TreeHandle:
    handle = TreeHandle(marker=marker, boot=boot_id(), root=NOBODY, session=session)
    if isinstance(made, str):
        return handle
    controllers = {name: str(folder) for name, folder in made.controllers.items()}
    return msgspec.structs.replace(handle, group=str(made.group), controllers=controllers)


def _start(start: Start, handle: TreeHandle) -> ProcessTree:
    """Run the launcher and wait until it has become the command, or started it as its keeper."""
    spec, streams = start.spec, start.streams
    groups = [handle.group, *handle.controllers.values()] if handle.group else []
    here, there = socket.socketpair()
    status, status_end = (-1, -1) if groups else os.pipe()
    ends = [end for end in (there.fileno(), status_end) if end >= 0]
    words = [str(there.fileno()), str(status_end), str(len(groups)), *filter(None, groups)]
    words += [str(len(start.write)), *start.write, *spec.argv]
    try:
        popen = subprocess.Popen(
            [*isolated_words(LAUNCH), *words],
            cwd=spec.cwd,
            env=start.environment,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            pass_fds=(*start.pass_fds, *ends),
        )
    except (OSError, ValueError) as error:
        here.close()
        if status >= 0:
            os.close(status)
        raise cannot_start(spec, error) from None
    finally:
        there.close()
        if status_end >= 0:
            os.close(status_end)
    answer: dict[str, int] = {}
    with here, here.makefile("r") as lines:
        for word, number in (line.split() for line in lines):
            answer[word] = int(number)
            if word == "root":
                keeper = ProcessId.of(popen.pid) if status >= 0 else None
                handle = msgspec.structs.replace(handle, root=ProcessId.of(answer["root"]), keeper=keeper)
                start.on_known(handle)
                with contextlib.suppress(OSError):
                    here.send(b"g")
    if "join" in answer or "exec" in answer or "root" not in answer:
        popen.wait()
        for stream in (popen.stdin, popen.stdout, popen.stderr):
            if stream:
                stream.close()
        if status >= 0:
            os.close(status)
        if "join" in answer:
            raise JoinFailed(f"it could not be entered ({os.strerror(answer['join'])})")
        why = answer.get("exec", 0)
        raise cannot_start(spec, OSError(why, os.strerror(why), spec.argv[0]))
    return ProcessTree(handle, popen, status)
