"""Warm start: a process that has loaded everything a run needs, and forks an owner or a front on request.

`interlock serve` runs it, and `interlock run` asks it: for both if there is no terminal to manage (thin_run.py),
otherwise for an owner (owner_spawn.py). The caller sends its folder and a file with its version and environment; for
an owner also a socket to the front and a file for last words, for a front its arguments and streams. Everything else
that a child would inherit is read from the kernel. A fork answers each connection, so that none can block or harm the
next. If anything cannot be taken over, the fork refuses, and the caller starts in the ordinary way. If there is time,
a front is prepared before it is requested, together with its owner and the copier of its command's output.

python -m interlock.adapters.command.warm_start SOCKET MODULE: exits when its standard input closes. MODULE is the one
that runs a command line in a fork (`run_warm`).
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from ...contain import in_a_run, try_ahead
from ...core import (
    copy_limits,
    has_limited_memory,
    json_decoder,
    needs_linux,
    open_peer,
    open_process,
    peer_credentials,
    scheduling_of,
    share_heap,
)
from ...link import listen
from ...process import Forked, rename_process, scan_ahead
from ...review import SHIPPED
from ...runtime import preload
from .command_output import COPIER, await_copying, give_copier
from .owner_messages import BeginRun, ToOwner
from .owner_spawn import OWNER, WARM_FDS, WarmProcess, give_early, open_words, warm_socket
from .rehearsal import rehearse_front, rehearse_run
from .thin_caller import ThinCaller
from .thin_run import package_identity, write_request

PATIENCE_S = 10.0
"""How long a caller may take to send its request."""

MAX_REQUEST = 4 * 1024 * 1024
"""Maximum bytes of a request: the kernel allows no larger environment."""

STATUS = (
    *("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"),
    *("NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed"),
)
"""Fields of /proc/PID/status that must be the same for the front and for us."""

FIXED = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_", "OPENSSL_")
"""Prefixes of variables that are read only once, when a process starts."""

RESTARTS = 5

SPARE_S = 0.2
"""After this long without a request, prepare the next answer."""

FRONT = "interlock.adapters.command.front"
FRONT_FDS = 5

Asked = int | tuple[ThinCaller, list[str]] | list[str]
"""A request: for an owner, its socket to the front; for a front, its caller and arguments; for a copier, its
arguments."""

Ready = tuple[socket.socket, Forked]
"""A process prepared for the next front, and the socket through which it receives its work."""


class Refused(Exception):
    """Raised if a fork would differ from the owner that the front would have started itself."""


class WarmStart:
    """Manages the warm-start process for `interlock serve`: starts it, restarts it if it dies, stops it."""

    def __init__(self, runs: str) -> None:
        self._runs = runs
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.path = warm_socket()

    def ensure_running(self) -> None:
        """Start the process if it is not running."""
        if self._starts > RESTARTS or (self._process is not None and self._process.poll() is None):
            return
        self._starts += 1
        self._process = subprocess.Popen(
            [sys.executable or "python3", "-P", "-m", __name__, str(self.path), self._runs],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def close(self) -> None:
        """Stop the process; owners forked from it continue."""
        self._starts = RESTARTS + 1
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait()


def main() -> None:
    needs_linux("a warm start")
    from . import owner

    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    path = Path(sys.argv[1])
    share_heap()
    run_warm, copy = import_module(sys.argv[2]).run_warm, import_module(COPIER).main
    _prepare()
    files = _files()
    stamps = (files, _stamps(files))
    # Exclude existing objects from garbage collection, here and in forks, so that their memory stays shared.
    gc.collect()
    gc.freeze()
    # The kernel reaps our forks.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    asked = _serve(listen(path), stamps)
    if asked is None:
        path.unlink(missing_ok=True)
    elif isinstance(asked, int):
        sys.argv = [OWNER, str(asked)]
        owner.main()
    elif isinstance(asked, list):
        copy(asked)
    else:
        run_warm(*asked)


def _prepare() -> None:
    """Create once what every owner would create first."""
    preload()
    rehearse_front()
    rehearse_run()
    json_decoder(BeginRun)
    json_decoder(ToOwner)


def _serve(listener: socket.socket, stamps: tuple[str, str]) -> Asked | None:
    """Fork for each request, and once ahead of time when idle: such a fork has already touched the memory it needs.

    Returns in a fork, with the request, or None when `interlock serve` has exited.
    """
    listener.setblocking(False)
    spare: socket.socket | None = None
    answers = True
    while True:
        heard = [sys.stdin, *([listener] if answers else []), *([spare] if spare is not None else [])]
        ready = select.select(heard, [], [], SPARE_S if spare is None else None)[0]
        if spare is not None and spare in ready:
            # The spare fork is ready and answers in our place; or it has answered, or is gone.
            answers = not spare.recv(1)
            if answers:
                spare.close()
                spare = None
        elif not ready:
            spare, there = socket.socketpair()
            if _fork():
                there.close()
                continue
            spare.close()
            return _answer_next(listener, there, stamps)
        elif listener not in ready:
            return None
        elif (asking := _accept(listener)) is not None:
            if not _fork():
                listener.close()
                return _answer(asking, stamps)
            asking.close()


def _fork() -> bool:
    """Whether this is the parent. If the fork fails, the caller gets no answer and starts in the ordinary way."""
    try:
        return os.fork() != 0
    except OSError:
        return True


def _accept(listener: socket.socket) -> socket.socket | None:
    try:
        return listener.accept()[0]
    except BlockingIOError:
        return None
    except OSError:
        # The caller is gone, or no descriptor is free.
        time.sleep(0.05)
        return None


def _answer_next(listener: socket.socket, host: socket.socket, stamps: tuple[str, str]) -> Asked:
    """Prepare an owner and a copier, then answer the next request in place of our host; exit with the host."""
    ready: list[Ready] = []
    scan_ahead()
    for become in (_await_front, _copy_for_front):
        # SEQPACKET, so that each message arrives whole.
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET if ready else socket.SOCK_STREAM)
        pid = os.fork()
        if pid == 0:
            for other in (here, listener, host, *(sock for sock, _ in ready)):
                other.close()
            return become(there)
        there.close()
        ready.append((here, Forked(pid)))
    # Otherwise the kernel would reap the trial processes, and their exit status would be lost.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    rehearse_front()
    _rehearse_check(stamps)
    try_ahead()
    host.sendall(b"r")
    while True:
        if host in select.select([listener, host], [], [])[0]:
            os._exit(0)
        if (asking := _accept(listener)) is not None:
            listener.close()
            host.close()
            return _answer(asking, stamps, ready)


def _await_front(front: socket.socket) -> int:
    """Wait for a front to connect, then become the owner of its run, with its file for last words."""
    rehearse_run()
    try:
        _follow_front(front, OWNER)
    except (Refused, OSError, ValueError):
        os._exit(0)
    return front.detach()


def _copy_for_front(front: socket.socket) -> list[str]:
    """Wait for a front to connect, then copy its command's output to the streams of its caller."""
    try:
        _follow_front(front, COPIER)
        return await_copying(front)
    except (Refused, OSError, ValueError):
        # The front then starts another copier.
        os._exit(1)


def _follow_front(front: socket.socket, name: str) -> None:
    """Inherit from the caller that a front names, with the descriptors that it sends."""
    caller, (folder, request, *streams), _, _ = socket.recv_fds(front, 32, 4)
    nothing = os.open(os.devnull, os.O_RDWR)
    _inherit_from(int(caller), _read(request, has_arguments=True)[2], folder, (nothing, *streams), name)
    os.close(request)


def _answer(asking: socket.socket, stamps: tuple[str, str], ready: Sequence[Ready] = ()) -> Asked:
    """Take over everything from the caller; exits if that is not possible. Owner and copier may be `ready`."""
    try:
        asking.settimeout(PATIENCE_S)
        pid, uid, _ = peer_credentials(asking)
        if uid != os.geteuid():
            raise Refused("another user")
        caller = open_peer(asking)
        # Checked while the request is still on its way.
        _check_code(stamps)
        kind, fds, _, _ = socket.recv_fds(asking, 1, FRONT_FDS + 1)
        for descriptor in fds:
            os.set_inheritable(descriptor, False)
        if (kind, len(fds)) == (b"f", FRONT_FDS):
            folder, request, *streams = fds
            arguments, environment = _check(pid, request, has_arguments=True)
            _check_there(caller)
            if ready:
                owner, copier = ready
                words = open_words()
                socket.send_fds(owner[0], [b"%d" % pid], [folder, request, words, words])
                give_early(words, *owner)
                socket.send_fds(copier[0], [b"%d" % pid], [folder, request, *streams[1:]])
                give_copier(*copier)
            _inherit_from(pid, environment, folder, streams, FRONT)
            os.close(request)
            _ignore_same_signals(pid)
            asking.settimeout(None)
            return ThinCaller(asking, pid), arguments
        if len(fds) != WARM_FDS:
            raise Refused("not a request")
        front, words, folder, request = fds
        socket.socket(fileno=os.dup(front)).close()
        nothing = os.open(os.devnull, os.O_RDWR)
        _, environment = _check(pid, request, has_arguments=False)
        _check_there(caller)
        _inherit_from(pid, environment, folder, (nothing, words, words), OWNER)
        os.close(request)
        socket.send_fds(asking, [b"y"], [open_process(os.getpid())])
    except (Refused, OSError, ValueError) as why:
        with contextlib.suppress(OSError):
            asking.sendall(b"n" + str(why).encode("utf-8", "replace")[:500])
        os._exit(0)
    asking.close()
    return front


def _check_code(stamps: tuple[str, str]) -> None:
    if stamps[1] != _stamps(stamps[0]):
        raise Refused("the code was changed")


def _check(pid: int, request: int, *, has_arguments: bool) -> tuple[list[str], dict[bytes, bytes]]:
    """The caller's arguments and environment; raises Refused if a fork of ours would differ from its own child."""
    identity, arguments, environment = _read(request, has_arguments=has_arguments)
    if identity != package_identity():
        raise Refused("another version")
    if in_a_run(pid):
        raise Refused("it belongs to a run")
    _check_same(pid)
    if has_limited_memory(pid):
        # A fork of ours starts with the memory of everything any run needs, and might not be able to start a thread.
        raise Refused("its memory is limited")
    if _fixed(environment) != _fixed(dict(os.environb)):
        raise Refused("a variable that is read at the start differs")
    return arguments, environment


def _rehearse_check(stamps: tuple[str, str]) -> None:
    request = open_words()
    with contextlib.suppress(Refused, OSError, ValueError):
        write_request(request, (package_identity(), b"0"))
        _check_code(stamps)
        _check(os.getpid(), request, has_arguments=True)
    os.close(request)


def _check_there(caller: int | None) -> None:
    """Raise if the caller has ended: its pid, and what we read through it, could then belong to another process."""
    if caller is not None:
        if WarmProcess(caller).poll() is not None:
            raise Refused("it has ended")
        os.close(caller)


def _inherit_from(pid: int, environment: dict[bytes, bytes], folder: int, streams: Sequence[int], name: str) -> None:
    """Take on the attributes that a child of this process would have inherited."""
    _join_groups(pid)
    copy_limits(pid)
    if (score := _text(f"/proc/{pid}/oom_score_adj")) != _text("/proc/self/oom_score_adj"):
        Path("/proc/self/oom_score_adj").write_text(score)
    os.fchdir(folder)
    os.umask(int(_status(pid)["Umask"], 8))
    os.environb.clear()
    os.environb.update(environment)
    time.tzset()
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    for descriptor in {*streams, folder}:
        os.close(descriptor)
    rename_process([sys.executable or "python3", "-P", "-m", name])


def _ignore_same_signals(pid: int) -> None:
    """Ignore the signals that this process ignores, except the two that Python itself ignores."""
    ignored = int(_status(pid)["SigIgn"], 16)
    for number in signal.valid_signals():
        if ignored >> (number - 1) & 1 and number not in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)


def _read(request: int, *, has_arguments: bool) -> tuple[bytes, list[str], dict[bytes, bytes]]:
    """The identity of the caller's package, its arguments, and its environment."""
    size = os.fstat(request).st_size
    if not 0 < size <= MAX_REQUEST:
        raise Refused("not a request")
    identity, *variables = os.pread(request, size, 0).split(b"\0")
    count = int(variables.pop(0)) if has_arguments else 0
    arguments, variables = variables[:count], variables[count:]
    named = [variable.partition(b"=") for variable in variables if variable]
    if any(not name or not equal for name, equal, _ in named):
        raise Refused("not a request")
    return identity, [*map(os.fsdecode, arguments)], {name: value for name, _, value in named}


def _fixed(environment: dict[bytes, bytes]) -> dict[bytes, bytes]:
    return {name: value for name, value in environment.items() if name.startswith(tuple(map(str.encode, FIXED)))}


def _status(pid: int | str) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _check_same(pid: int) -> None:
    """Check attributes that a process cannot, or should not, change: they must already be the same."""
    ours, theirs = _status("self"), _status(pid)
    for name in STATUS:
        if ours.get(name) != theirs.get(name):
            raise Refused(f"its {name} differs")
    for name in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"):
        if _link(f"/proc/self/ns/{name}") != _link(f"/proc/{pid}/ns/{name}"):
            raise Refused(f"its {name} namespace differs")
    if _link("/proc/self/root") != _link(f"/proc/{pid}/root"):
        raise Refused("its root folder differs")
    for name in ("attr/current", "loginuid", "sessionid"):
        if _text(f"/proc/self/{name}") != _text(f"/proc/{pid}/{name}"):
            raise Refused(f"its {name} differs")
    if scheduling_of(0) != scheduling_of(pid):
        raise Refused("its priority differs")


def _join_groups(pid: int) -> None:
    """Join the front's cgroups: its limits then apply to the owner, and removing our cgroup does not end it."""
    theirs = _text(f"/proc/{pid}/cgroup")
    if theirs == _text("/proc/self/cgroup"):
        return
    ours = set(_text("/proc/self/cgroup").splitlines())
    for line in theirs.splitlines():
        _, controllers, folder = line.split(":", 2)
        if line in ours:
            continue
        names = (controllers.removeprefix("name="),) if controllers else ("unified", "")
        for file in (Path("/sys/fs/cgroup", each, folder.lstrip("/"), "cgroup.procs") for each in names):
            with contextlib.suppress(OSError):
                file.write_text("0")
                break
    if theirs != _text("/proc/self/cgroup"):
        raise Refused("its cgroup differs")


def _files() -> str:
    """The files of our own code, and of the data that it has read.

    As one text: a fork that iterates over the modules would copy a tenth of our memory.
    """
    code = (getattr(module, "__file__", None) for name, module in tuple(sys.modules.items()) if _is_ours(name))
    return "\0".join((*filter(None, code), str(SHIPPED)))


def _stamps(files: str) -> str:
    """Modification time and size of these files."""
    found = []
    for file in files.split("\0"):
        try:
            info = os.stat(file)  # noqa: PTH116  hundreds, while somebody waits
        except OSError:
            found.append("-")
            continue
        found.append(f"{info.st_mtime_ns} {info.st_size}")
    return "\0".join(found)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == "interlock"


def _link(path: str) -> str:
    return str(Path(path).readlink())


def _text(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


if __name__ == "__main__":
    main()
