"""Warm start: a process that has everything ready that a run needs, and becomes its owner or its front when asked.

`interlock serve` keeps it, and `interlock run` asks it: for both, where it has no terminal to look after (thin_run.py),
else for an owner (owner_spawn.py). Whoever asks hands over its folder and a file with its version and environment; for
an owner a socket to the front and a file for last words, for a front its arguments and its streams. What else would be
inherited from it is taken from the kernel. Each connection is answered by a fork, so that none can hold up or harm the
next. Whatever cannot be taken over is a reason to refuse: it is then done as without us. Where there is time, a front
is ready before it is asked for, and with it its owner and the copier of what its command prints.

python -m interlock.adapters.command.warm_start SOCKET MODULE: ends when its standard input does. MODULE is the one that
runs a command line in a fork (`run_warm`).
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
    has_limited_memory,
    json_decoder,
    needs_linux,
    open_peer,
    open_process,
    peer_credentials,
    scheduling_of,
    share_heap,
    take_limits,
)
from ...link import listen
from ...process import Forked, look_ahead, rename_process
from ...review import SHIPPED
from ...runtime import rehearse
from .command_output import COPIER, await_copying, give_copier
from .owner_messages import BeginRun, ToOwner
from .owner_spawn import OWNER, WARM_FDS, WarmProcess, give_early, open_words, warm_socket
from .rehearsal import rehearse_front, rehearse_run
from .thin_caller import ThinCaller
from .thin_run import package_identity, write_request

PATIENCE_S = 10.0
"""How long a front may take to say what it wants."""

MAX_REQUEST = 4 * 1024 * 1024
"""Bytes of a request: the kernel gives no process a larger environment."""

STATUS = (
    *("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"),
    *("NoNewPrivs", "Seccomp", "Seccomp_filters", "Cpus_allowed", "Mems_allowed"),
)
"""What the kernel says of a process, and has to say of the front and of us alike."""

FIXED = ("PYTHON", "LD_", "LC_", "LANG", "GLIBC_", "MALLOC_", "OPENSSL_")
"""How the variables begin that are read once, when a process starts."""

RESTARTS = 5

SPARE_S = 0.2
"""After this long without a request there is time to have the next answer ready."""

FRONT = "interlock.adapters.command.front"
FRONT_FDS = 5

Asked = int | tuple[ThinCaller, list[str]] | list[str]
"""An owner, by its socket to the front; a front, by the process that it works for and its arguments; or a copier, by
its own."""

Ready = tuple[socket.socket, Forked]
"""A process that is ready for the next front, and the socket over which it hears of it."""


class Refused(Exception):
    """Raised where a fork would not be the owner that the front would have started itself."""


class WarmStart:
    """The side of `interlock serve`: starts the process, again where it was ended, and ends it."""

    def __init__(self, runs: str) -> None:
        self._runs = runs
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.path = warm_socket()

    def look(self) -> None:
        """Have it there."""
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
        """End it; the owners that came from it stay."""
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
    # What is there now is never looked through again, here or in a fork: so it stays shared.
    gc.collect()
    gc.freeze()
    # The kernel reaps our forks. It also lets a signal end us as if we had never been.
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
    """Make what every owner would make first, once for all of them."""
    rehearse()
    rehearse_front()
    rehearse_run()
    json_decoder(BeginRun)
    json_decoder(ToOwner)


def _serve(listener: socket.socket, stamps: tuple[str, str]) -> Asked | None:
    """Fork for each who asks, once ahead of time where there is time: such a fork has touched what it will need.

    Returns in a fork, with what was asked for, or None when no one needs us.
    """
    listener.setblocking(False)
    spare: socket.socket | None = None
    answers = True
    while True:
        heard = [sys.stdin, *([listener] if answers else []), *([spare] if spare is not None else [])]
        ready = select.select(heard, [], [], SPARE_S if spare is None else None)[0]
        if spare is not None and spare in ready:
            # It is ready and answers in our place; or it has answered, or is gone.
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
        # Gone already, or no descriptor free.
        time.sleep(0.05)
        return None


def _answer_next(listener: socket.socket, host: socket.socket, stamps: tuple[str, str]) -> Asked:
    """Be ready with an owner and a copier, and answer the next who asks in place of our host; end with it."""
    ready: list[Ready] = []
    look_ahead()
    for become in (_await_front, _copy_for_front):
        # Each message arrives whole.
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET if ready else socket.SOCK_STREAM)
        pid = os.fork()
        if pid == 0:
            for other in (here, listener, host, *(sock for sock, _ in ready)):
                other.close()
            return become(there)
        there.close()
        ready.append((here, Forked(pid)))
    # Else the kernel reaps what is tried, and how it ended is not known.
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
    """Be ready to be the owner of the next front, which takes its place first and then hands over what it has taken."""
    rehearse_run()
    try:
        told, fds, _, _ = socket.recv_fds(front, 32, 3)
        folder, request, words = fds
        nothing = os.open(os.devnull, os.O_RDWR)
        _take_place(int(told), _read(request, has_arguments=True)[2], folder, (nothing, words, words), OWNER)
        os.close(request)
    except (Refused, OSError, ValueError):
        os._exit(0)
    return front.detach()


def _copy_for_front(front: socket.socket) -> list[str]:
    """Be ready to copy what the command of the next front prints: to the streams of whoever called it."""
    try:
        told, fds, _, _ = socket.recv_fds(front, 32, 4)
        folder, request, *streams = fds
        nothing = os.open(os.devnull, os.O_RDWR)
        _take_place(int(told), _read(request, has_arguments=True)[2], folder, (nothing, *streams), COPIER)
        os.close(request)
        return await_copying(front)
    except (Refused, OSError, ValueError):
        # The front then starts another one.
        os._exit(1)


def _answer(asking: socket.socket, stamps: tuple[str, str], ready: Sequence[Ready] = ()) -> Asked:
    """Take everything over from whoever asks; what cannot be ends this fork. Owner and copier may be `ready`."""
    try:
        asking.settimeout(PATIENCE_S)
        pid, uid, _ = peer_credentials(asking)
        if uid != os.geteuid():
            raise Refused("another user")
        caller = open_peer(asking)
        # Before we wait for what is asked.
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
                socket.send_fds(owner[0], [b"%d" % pid], [folder, request, words])
                give_early(words, *owner)
                socket.send_fds(copier[0], [b"%d" % pid], [folder, request, *streams[1:]])
                give_copier(*copier)
            _take_place(pid, environment, folder, streams, FRONT)
            os.close(request)
            _take_ignored(pid)
            asking.settimeout(None)
            return ThinCaller(asking, pid), arguments
        if len(fds) != WARM_FDS:
            raise Refused("not a request")
        front, words, folder, request = fds
        socket.socket(fileno=os.dup(front)).close()
        nothing = os.open(os.devnull, os.O_RDWR)
        _, environment = _check(pid, request, has_arguments=False)
        _check_there(caller)
        _take_place(pid, environment, folder, (nothing, words, words), OWNER)
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
    """The arguments and the environment of whoever asks, if a fork of ours can be what it could have started."""
    identity, arguments, environment = _read(request, has_arguments=has_arguments)
    if identity != package_identity():
        raise Refused("another version")
    if in_a_run(pid):
        raise Refused("it belongs to a run")
    _check_same(pid)
    if has_limited_memory(pid):
        # A fork of ours begins with all that any run needs, and might have no room for a thread.
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
    """It is still there: so what was found out by its number is true of it, and of no other that has the number now."""
    if caller is not None:
        if WarmProcess(caller).poll() is not None:
            raise Refused("it has ended")
        os.close(caller)


def _take_place(pid: int, environment: dict[bytes, bytes], folder: int, streams: Sequence[int], name: str) -> None:
    """Be as a process would be that this one had started."""
    _join_groups(pid)
    take_limits(pid)
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


def _take_ignored(pid: int) -> None:
    """Ignore the signals that this process ignores; Python ignores two by itself."""
    ignored = int(_status(pid)["SigIgn"], 16)
    for number in signal.valid_signals():
        if ignored >> (number - 1) & 1 and number not in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)


def _read(request: int, *, has_arguments: bool) -> tuple[bytes, list[str], dict[bytes, bytes]]:
    """The version that asks, its arguments, and its environment."""
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
    """What a process cannot change of itself, or should not: it has to be the same already."""
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
    """Be in the front's cgroups: its limits hold for its owner, and the end of our own does not end it."""
    theirs = _text(f"/proc/{pid}/cgroup")
    if theirs == _text("/proc/self/cgroup"):
        return
    ours = set(_text("/proc/self/cgroup").splitlines())
    for line in theirs.splitlines():
        _, controllers, folder = line.split(":", 2)
        if line in ours:
            continue
        places = (controllers.removeprefix("name="),) if controllers else ("unified", "")
        for place in (Path("/sys/fs/cgroup", each, folder.lstrip("/"), "cgroup.procs") for each in places):
            with contextlib.suppress(OSError):
                place.write_text("0")
                break
    if theirs != _text("/proc/self/cgroup"):
        raise Refused("its cgroup differs")


def _files() -> str:
    """The files of our own code, and what it has read of our own data.

    In one text: a fork that went through the modules would have its own copy of a tenth of our memory.
    """
    code = (getattr(module, "__file__", None) for name, module in tuple(sys.modules.items()) if _is_ours(name))
    return "\0".join((*filter(None, code), str(SHIPPED)))


def _stamps(files: str) -> str:
    """These files, as they are now."""
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
