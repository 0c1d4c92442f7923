"""Start a command inside its containment, or take over a tree that another process started."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ..core import BadInput, InvalidState, Limits, RunSpec, boot_id, needs_linux
from . import cgroup_hierarchy
from .cgroup_hierarchy import CgroupFolders
from .enclosed import Enclosure, JoinFailed, Start, Stream, start_enclosed
from .handle import ProcessId, TreeHandle
from .process_family import add_marker
from .program import cannot_start
from .tree import ProcessTree

NOBODY = ProcessId(-1, -1)
LAUNCH = Path(__file__).with_name("launch.py")


def spawn(
    spec: RunSpec,
    *,
    env: Mapping[str, str] | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    limits: Limits | None = None,
    pass_fds: tuple[int, ...] = (),
    new_session: bool = False,
    mechanism: Literal["auto", "cgroup", "signals"] = "auto",
    enclosure: Enclosure | None = None,
) -> ProcessTree:
    """Start `spec.argv` in `spec.cwd`, contained and limited before its first instruction runs.

    It has our terminal unless streams are given. `mechanism` "auto" takes a cgroup where one can be had. An `enclosure`
    gives it a PID namespace of its own, and whatever else its words say.
    """
    needs_linux("process control")
    if not spec.argv:
        raise BadInput("there is no command to start", todo="Put one after --.")
    marker = secrets.token_hex(8)
    environment = add_marker(dict(os.environ if env is None else env), marker)
    made: CgroupFolders | str = "signals were asked for" if mechanism == "signals" else cgroup_hierarchy.make(marker)
    if isinstance(made, str) and mechanism == "cgroup":
        raise InvalidState(f"no cgroup for {spec.argv[0]}: {made}")
    handle = _handle(marker, made, new_session)
    tree = ProcessTree(handle)

    start = Start(spec, environment, (stdin, stdout, stderr), pass_fds, new_session)

    def begin(handle: TreeHandle) -> ProcessTree:
        return start_enclosed(start, handle, enclosure) if enclosure is not None else _start(start, handle)

    try:
        if limits is not None and handle.group:
            tree.limit(limits)
        tree = begin(handle)
    except JoinFailed as failed:
        tree.close()
        if mechanism == "cgroup":
            raise InvalidState(f"no cgroup for {spec.argv[0]}: {failed}") from None
        handle = _handle(marker, "", new_session)
        tree = begin(handle)
    except BaseException:
        tree.close()
        raise
    if limits is not None:
        tree.limit(limits)
    return tree


def attach(handle: TreeHandle) -> ProcessTree:
    """The tree that another process started; one that is gone is simply not alive."""
    if handle.boot != boot_id():
        # Pids and folders from before a reboot mean nothing now.
        return ProcessTree(TreeHandle(marker=handle.marker, boot=handle.boot, root=NOBODY, session=handle.session))
    return ProcessTree(handle)


def _handle(marker: str, made: CgroupFolders | str, new_session: bool) -> TreeHandle:
    session = None if new_session else os.getsid(0)
    if isinstance(made, str):
        return TreeHandle(marker=marker, boot=boot_id(), root=NOBODY, session=session)
    return TreeHandle(
        marker=marker,
        boot=boot_id(),
        root=NOBODY,
        session=session,
        group=str(made.group),
        controllers={name: str(folder) for name, folder in made.controllers.items()},
    )


def _start(start: Start, handle: TreeHandle) -> ProcessTree:
    """Run the launcher and wait until it has become the command, or has started it as its keeper."""
    spec, streams = start.spec, start.streams
    groups = [handle.group, *handle.controllers.values()] if handle.group else []
    report, report_end = os.pipe()
    status, status_end = (-1, -1) if groups else os.pipe()
    ends = [end for end in (report_end, status_end) if end >= 0]
    words = [str(report_end), str(status_end), str(len(groups)), *filter(None, groups), *spec.argv]
    try:
        popen = subprocess.Popen(
            [sys.executable or "python3", "-I", "-S", str(LAUNCH), *words],
            cwd=spec.cwd,
            env=start.environment,
            stdin=streams[0],
            stdout=streams[1],
            stderr=streams[2],
            pass_fds=(*start.pass_fds, *ends),
            start_new_session=start.new_session,
        )
    except (OSError, ValueError) as error:
        for end in (report, status, *ends):
            if end >= 0:
                os.close(end)
        raise cannot_start(spec, error) from None
    for end in ends:
        os.close(end)
    with os.fdopen(report, "rb") as told:
        answer = dict(line.split() for line in told.read().decode().splitlines())
    if "join" in answer or "exec" in answer or (status >= 0 and "root" not in answer):
        popen.wait()
        for stream in (popen.stdin, popen.stdout, popen.stderr):
            if stream:
                stream.close()
        if status >= 0:
            os.close(status)
        if "join" in answer:
            raise JoinFailed(f"it could not be entered ({os.strerror(int(answer['join']))})")
        number = int(answer.get("exec", 0))
        raise cannot_start(spec, OSError(number, os.strerror(number), spec.argv[0]))
    root = ProcessId.of(int(answer.get("root", popen.pid)))
    keeper = ProcessId.of(popen.pid) if status >= 0 else None
    return ProcessTree(msgspec.structs.replace(handle, root=root, keeper=keeper), popen, status)
