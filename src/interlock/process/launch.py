"""Join the cgroups, then become the command. Run by `spawn` in a bare interpreter, so it imports next to nothing.

Arguments: REPORT STATUS N GROUP*N COMMAND... where REPORT is a socket to our starter (it is told the command's pid,
lets the command run, and learns what went wrong; it closes when the command runs), STATUS a descriptor for the exit
status if this process is to stay as the keeper, else -1, and GROUP a cgroup folder.
"""

import os
import signal
import sys

PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    report, status, count = (int(word) for word in sys.argv[1:4])
    groups, command = sys.argv[4 : 4 + count], sys.argv[4 + count :]
    os.set_inheritable(report, False)
    for group in groups:
        try:
            with open(f"{group}/cgroup.procs", "wb", buffering=0) as file:
                file.write(b"0")
        except OSError as error:
            give_up(report, "join", error)
    if status < 0:
        os.write(report, b"root %d\n" % os.getpid())
        become(report, command)
    os.set_inheritable(status, False)
    adopt_orphans()
    # Blocked until the command runs and forever in the keeper: what is meant for the command must not end its keeper.
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    root = os.fork()
    if root == 0:
        become(report, command)
    os.write(report, b"root %d\n" % root)
    keep(root, status)


def become(report: int, command: list[str]) -> None:
    """Wait until we are known, then run the command here, with signals and environment as if we had not been there."""
    if not os.read(report, 1):
        # Its supervisor is gone.
        os._exit(127)
    for ignored_by_python in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored_by_python, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.execvpe(command[0], command, first_environment())
    except (OSError, ValueError) as error:
        give_up(report, "exec", error)


def first_environment() -> dict[bytes, bytes]:
    """The environment as it was handed over: the interpreter may have added LC_CTYPE to it."""
    try:
        with open("/proc/self/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return dict(os.environb)
    return dict(entry.split(b"=", 1) for entry in entries if b"=" in entry)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    import ctypes

    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep(root: int, status: int) -> None:
    """Reap until there is no descendant left, and tell how the root ended."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    os.closerange(3, status)
    os.closerange(status + 1, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    while True:
        try:
            pid, result = os.waitpid(-1, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == root:
            try:
                os.write(status, b"%d\n" % os.waitstatus_to_exitcode(result))
            except BrokenPipeError:
                continue


def give_up(report: int, what: str, error: Exception) -> None:
    """Say what failed and with which errno, and end."""
    number = error.errno if isinstance(error, OSError) else 22
    os.write(report, b"%s %d\n" % (what.encode(), number or 0))
    os._exit(127)


if __name__ == "__main__":
    main()
