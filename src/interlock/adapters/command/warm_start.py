"""Warm start: a process that has everything ready that an owner needs, and becomes one for every run that asks.

`interlock serve` keeps it, and `interlock run` asks it (owner_spawn.py). Whoever asks hands over a socket to the front,
a file for last words, its folder, and a file with its version and environment; what else an owner would inherit from
the front is taken from the kernel. Each connection is answered by a fork, so that none can hold up or harm the next.
Whatever cannot be taken over is a reason to refuse: the front then starts an owner itself, as without us.

python -m interlock.adapters.command.warm_start SOCKET: ends when its standard input does.
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
from pathlib import Path

from ...contain import in_a_run
from ...core import json_decoder, needs_linux, open_process, peer_credentials, scheduling_of, take_limits
from ...link import listen
from ...process import rename_process
from ...review import SHIPPED
from ...runtime import rehearse
from .owner_messages import BeginRun, ToOwner
from .owner_spawn import OWNER, WARM_FDS, package_identity, warm_socket

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


class Refused(Exception):
    """Raised where a fork would not be the owner that the front would have started itself."""


class WarmStart:
    """The side of `interlock serve`: starts the process, again where it was ended, and ends it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.path = warm_socket()

    def look(self) -> None:
        """Have it there."""
        if self._starts > RESTARTS or (self._process is not None and self._process.poll() is None):
            return
        self._starts += 1
        self._process = subprocess.Popen(
            [sys.executable or "python3", "-P", "-m", __name__, str(self.path)],
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
    _prepare()
    files = _files()
    stamps = (files, _stamps(files))
    # What is there now is never looked through again, here or in a fork: so it stays shared.
    gc.collect()
    gc.freeze()
    # The kernel reaps our forks. It also lets a signal end us as if we had never been.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    front = _serve(listen(path), stamps)
    if front is None:
        path.unlink(missing_ok=True)
        return
    sys.argv = [OWNER, str(front)]
    owner.main()


def _prepare() -> None:
    """Make what every owner would make first, once for all of them."""
    rehearse()
    json_decoder(BeginRun)
    json_decoder(ToOwner)


def _serve(listener: socket.socket, stamps: tuple[str, str]) -> int | None:
    """Fork for each who asks. Returns in a fork, with its socket to the front, or None when no one needs us."""
    while True:
        ready = select.select([listener, sys.stdin], [], [])[0]
        if listener not in ready:
            return None
        try:
            asking, _ = listener.accept()
        except OSError:
            # Gone already, or no descriptor free: then it starts its owner itself.
            time.sleep(0.05)
            continue
        try:
            fork = os.fork()
        except OSError:
            asking.close()
            continue
        if fork == 0:
            listener.close()
            return _become_owner(asking, stamps)
        asking.close()


def _become_owner(asking: socket.socket, stamps: tuple[str, str]) -> int:
    """Take everything over from the front that asks; what cannot be ends this fork."""
    try:
        asking.settimeout(PATIENCE_S)
        front = _take_over(asking, stamps)
        socket.send_fds(asking, [b"y"], [open_process(os.getpid())])
    except (Refused, OSError, ValueError) as why:
        with contextlib.suppress(OSError):
            asking.sendall(b"n" + str(why).encode("utf-8", "replace")[:500])
        os._exit(0)
    asking.close()
    return front


def _take_over(asking: socket.socket, stamps: tuple[str, str]) -> int:
    pid, uid, _ = peer_credentials(asking)
    if uid != os.geteuid():
        raise Refused("another user")
    _, fds, _, _ = socket.recv_fds(asking, 1, WARM_FDS + 1)
    if len(fds) != WARM_FDS:
        raise Refused("not a request")
    front, words, folder, request = fds
    for descriptor in fds:
        os.set_inheritable(descriptor, False)
    socket.socket(fileno=os.dup(front)).close()
    identity, environment = _read(request)
    if identity != package_identity():
        raise Refused("another version")
    if stamps[1] != _stamps(stamps[0]):
        raise Refused("the code was changed")
    if in_a_run(pid):
        raise Refused("it belongs to a run")
    _check_same(pid)
    if _fixed(environment) != _fixed(dict(os.environb)):
        raise Refused("a variable that is read at the start differs")
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
    nothing = os.open(os.devnull, os.O_RDWR)
    for number, descriptor in enumerate((nothing, words, words)):
        os.dup2(descriptor, number)
    for descriptor in (nothing, words, folder, request):
        os.close(descriptor)
    rename_process([sys.executable or "python3", "-P", "-m", OWNER])
    return front


def _read(request: int) -> tuple[bytes, dict[bytes, bytes]]:
    """The version that asks, and its environment."""
    size = os.fstat(request).st_size
    if not 0 < size <= MAX_REQUEST:
        raise Refused("not a request")
    identity, *variables = os.pread(request, size, 0).split(b"\0")
    named = [variable.partition(b"=") for variable in variables if variable]
    if any(not name or not equal for name, equal, _ in named):
        raise Refused("not a request")
    return identity, {name: value for name, _, value in named}


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
