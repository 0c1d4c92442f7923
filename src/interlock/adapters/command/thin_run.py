"""`interlock run` beside `interlock serve`: starts the command, forwards signals, exits as its front tells it to.

A fork of the warm start does the rest of a front's work (warm_start.py, thin_caller.py), as it has imported
everything. This module imports almost nothing, not even `socket`, which takes longer than the rest of its work.

Lines we send: `go`, `signal N`, `started PID`, `failed ERRNO`, `ended PID STATUS`, `continued`. Lines we receive:
`start` (with descriptors: a file that describes the command, and the command's own), `stop`, `exit N`, `die N`.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # not `signal`: it takes a while
import _socket
import os
import select
import sys

LOG = "INTERLOCK_LOG_"
"""Prefix of the variables that configure logging. An owner started early would not get the front's stderr to log to."""

MARKER = "INTERLOCK_TREE"
"""The variable set in all processes of a run. Owners started inside a run belong to that run as well."""

GROUP = b"interlock-"
"""Prefix of the names of runs' cgroups."""

MOST_ANCESTORS = 200

WARM = "warm.sock"

ANSWER_S = 5.0
"""How long to wait for the warm start's answer; then we start in the ordinary way."""

INTERRUPTS = tuple(
    getattr(signal, f"SIG{name}")
    for name in ("INT", "QUIT", "TERM", "HUP", "USR1", "USR2", "TSTP", "CHLD", "ALRM", "CONT")
)
"""Signals that a front handles when it is alone in its process group."""

SO_PEERCRED, SCM_RIGHTS, INT, INVALID = 17, 1, 4, 22
MOST_FDS = 64

LISTENS = 0x10000
"""The flag of a listening socket in /proc/net/unix."""

LEAST_FDS = 256
"""With a lower limit, there may not be enough descriptors for the command's and our own."""


def run_thin(arguments: list[str]) -> None:
    """Run the command of these arguments, and exit as it does; returns if the ordinary start has to do it."""
    if arguments[:1] != ["run"] or "--" not in arguments or not _is_plain():
        return
    asked = _ask(arguments)
    if asked is None:
        return
    _keep_to_ourselves()
    woken = _open_signal_pipe()
    asked.sendall(b"go\n")
    asked.settimeout(None)
    _Caller(asked, woken).serve()


class _Caller:
    def __init__(self, front: _socket.socket, woken: int) -> None:
        self._front, self._woken = front, woken
        self._heard = b""

    def serve(self) -> None:
        """Serve until we are told to exit; if the front is gone, kill ourselves, as if the front had been killed."""
        waiting = select.poll()
        waiting.register(self._front.fileno(), select.POLLIN)
        waiting.register(self._woken, select.POLLIN)
        while True:
            for descriptor, _ in waiting.poll():
                if descriptor == self._woken:
                    self._forward_signals(os.read(self._woken, 512))
                else:
                    self._follow_orders()

    def _forward_signals(self, numbers: bytes) -> None:
        for number in dict.fromkeys(numbers):
            if number == signal.SIGCHLD:
                self._reap()
            else:
                self._say(b"signal %d\n" % number)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._say(b"ended %d %d\n" % (pid, os.waitstatus_to_exitcode(status)))

    def _follow_orders(self) -> None:
        try:
            data, ancillary, _, _ = self._front.recvmsg(512, _socket.CMSG_SPACE(MOST_FDS * INT))
        except OSError:
            data, ancillary = b"", []
        if not data:
            os.kill(os.getpid(), signal.SIGKILL)
        self._heard += data
        handles = [
            int.from_bytes(body[at : at + INT], sys.byteorder)
            for _, kind, body in ancillary
            if kind == SCM_RIGHTS
            for at in range(0, len(body) - INT + 1, INT)
        ]
        while b"\n" in self._heard:
            line, _, self._heard = self._heard.partition(b"\n")
            word, _, number = line.partition(b" ")
            if word == b"start":
                self._start(handles)
            elif word == b"stop":
                os.kill(os.getpid(), signal.SIGSTOP)
                self._say(b"continued\n")
            elif word == b"exit":
                os._exit(int(number))
            elif word == b"die":
                die_of(int(number))

    def _start(self, handles: list[int]) -> None:
        for handle in handles:
            os.set_inheritable(handle, False)
        kept: list[int] = []
        try:
            said = b"started %d\n" % self._fork(handles, kept)
        except OSError as error:
            said = b"failed %d\n" % (error.errno or INVALID)
        for handle in (*handles, *kept):
            os.close(handle)
        self._say(said)

    def _fork(self, handles: list[int], kept: list[int]) -> int:
        """Start the command's sandbox, and return its pid; OSError if it cannot be started."""
        import fcntl

        what, *given = handles
        numbers, count, *words = os.pread(what, os.fstat(what).st_size, 0).split(b"\0")
        wanted, command, environment = [*map(int, numbers.split())], words[: int(count)], words[int(count) :]
        # Move the descriptors out of the way: none may have a number that another one needs.
        kept += (fcntl.fcntl(handle, fcntl.F_DUPFD_CLOEXEC, max(wanted) + 1) for handle in given)
        said, there = os.pipe()
        kept.append(said)
        # Block signals until the fork has become the command's sandbox.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            pid = os.fork()
            if pid == 0:
                try:
                    os.setpgid(0, 0)
                    for descriptor, number in zip(kept, wanted, strict=False):
                        os.dup2(descriptor, number)
                    blocked = {*before, *_wanted(), signal.SIGTTOU}
                    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
                        signal.signal(ignored_by_python, signal.SIG_DFL)
                    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
                    os.execve(command[0], command, dict(variable.split(b"=", 1) for variable in environment))
                except BaseException as error:  # noqa: BLE001  a fork of ours must not go on with our work
                    os.write(there, b"%d" % ((error.errno if isinstance(error, OSError) else None) or INVALID))
                os._exit(127)
        finally:
            os.close(there)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if failed := os.read(said, 16):
            raise OSError(int(failed), "")
        return pid

    def _say(self, line: bytes) -> None:
        try:
            self._front.sendall(line)
        except OSError:
            # The front is gone; `_follow_orders` notices.
            return


def die_of(number: int) -> None:
    """End by the signal that ended the command, because shells treat that differently from an exit."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


def is_log(name: str) -> bool:
    return name.startswith(LOG)


def warm_socket_paths() -> tuple[str, ...]:
    """Possible paths of the warm-start socket, computed without importing `warm_socket`."""
    user = os.geteuid()
    given = os.environ.get("XDG_RUNTIME_DIR", "")
    return (f"{given}/interlock/{WARM}", f"/run/user/{user}/interlock/{WARM}", f"/tmp/interlock-{user}/{WARM}")


def check_server(asked: _socket.socket) -> None:
    """OSError unless the warm start is this user's and not part of a run: an owner has power over its run."""
    credentials = asked.getsockopt(_socket.SOL_SOCKET, SO_PEERCRED, 3 * INT)
    pid, uid = (int.from_bytes(credentials[at : at + INT], sys.byteorder) for at in (0, INT))
    if uid != os.geteuid():
        raise PermissionError("another user's")
    # Check this first: from here on, the pid is that of the listening process.
    if not _holds(pid, _listeners(asked.getpeername())):
        raise PermissionError("another process has its number by now")
    if os.readlink(f"/proc/{pid}/ns/pid") != os.readlink("/proc/self/ns/pid") or _is_in_a_run(pid):  # noqa: PTH115  no imports
        raise PermissionError("a run's")


def _is_in_a_run(pid: int) -> bool:
    """Same as `in_a_run` without its imports: checks cgroup, environment and ancestors."""
    folders = _read_proc(pid, "cgroup").replace(b"\n", b"/").split(b"/")
    if any(folder.startswith(GROUP) for folder in folders):
        return True
    seen = 0
    while pid > 1 and seen < MOST_ANCESTORS:
        if f"\0{MARKER}=".encode() in b"\0" + _read_proc(pid, "environ"):
            return True
        # The name, in parentheses, may contain any characters.
        after = _read_proc(pid, "stat").rpartition(b") ")[2].split()
        pid, seen = int(after[1]) if after else 0, seen + 1
    return False


def _read_proc(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        # Another user's process, such as the terminal server.
        return b""


def _listeners(name: str) -> set[str]:
    """The sockets that listen under this name, as the target of their /proc/PID/fd links."""
    with open("/proc/net/unix", "rb") as file:
        lines = (line.split(None, 7) for line in file.read().split(b"\n") if line.endswith(os.fsencode(name)))
        return {
            f"socket:[{int(inode)}]"
            for _, _, _, flags, _, _, inode, path in lines
            if path == os.fsencode(name) and int(flags, 16) & LISTENS
        }


def _holds(pid: int, sockets: set[str]) -> bool:
    """Whether a process has one of these sockets open: the first listener may have died and left them to another."""
    folder = f"/proc/{pid}/fd"
    for number in os.listdir(folder):  # noqa: PTH208  no imports
        try:
            if os.readlink(f"{folder}/{number}") in sockets:  # noqa: PTH115  no imports
                return True
        except OSError:
            # It was closed in between.
            continue
    return False


def package_identity() -> bytes:
    """What an owner and its front must have in common: versions and paths."""
    from ..._version import __version__

    return "\n".join((__version__, sys.version, sys.executable, __file__)).encode("utf-8", "surrogateescape")


def write_request(descriptor: int, words: tuple[bytes, ...]) -> None:
    """Write these words and our environment to a file; OSError if the file size limit is too low."""
    text = b"\0".join((*words, *(b"=".join(each) for each in os.environb.items())))
    if os.write(descriptor, text) < len(text):
        raise OSError("no room for the environment")


def _is_plain() -> bool:
    """Whether we have no terminal to manage, no log to write, and enough file descriptors."""
    if MARKER in os.environ or any(map(is_log, os.environ)) or any(map(os.isatty, (0, 1, 2))):
        return False
    if 0 <= os.sysconf("SC_OPEN_MAX") < LEAST_FDS:
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY))
    except OSError:
        return True
    return False


def _ask(arguments: list[str]) -> _socket.socket | None:
    """A socket to the process that will do the work; None if there is none, or it refuses."""
    path = next(filter(os.path.exists, warm_socket_paths()), None)
    if path is None:
        return None
    asked = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    opened: list[int] = []
    try:
        # Set this first: a server that no longer accepts connections would block us.
        asked.settimeout(ANSWER_S)
        asked.connect(path)
        check_server(asked)
        opened.append(os.open(".", os.O_RDONLY | os.O_DIRECTORY))
        opened.append(_open_memory())
        words = (package_identity(), b"%d" % len(arguments), *map(os.fsencode, arguments))
        write_request(opened[1], words)
        handed = b"".join(each.to_bytes(INT, sys.byteorder) for each in (*opened, 0, 1, 2))
        asked.sendmsg([b"f"], [(_socket.SOL_SOCKET, SCM_RIGHTS, handed)])
        if asked.recv(1) == b"y":
            return asked
    except OSError:
        pass
    finally:
        for descriptor in opened:
            os.close(descriptor)
    asked.close()
    return None


def _open_memory() -> int:
    if sys.platform == "linux":
        return os.memfd_create("interlock-run")
    else:  # noqa: RET505  for type checkers
        raise OSError("only Linux has a warm start")


def _wanted() -> list[int]:
    return [number for number in INTERRUPTS if signal.getsignal(number) is not signal.SIG_IGN]


def _keep_to_ourselves() -> None:
    """Do not let the command inherit our descriptors other than the standard streams."""
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  no imports
        try:
            if int(name) > 2:
                os.set_inheritable(int(name), False)
        except OSError:
            # The descriptor of the listing itself, which is closed by now.
            continue


def _open_signal_pipe() -> int:
    """Read signals from now on, one byte each, from the returned descriptor."""
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    wanted = _wanted()
    for number in wanted:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    # Our caller may have blocked them; a front unblocks them, too.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, wanted)
    return reader
