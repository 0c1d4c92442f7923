"""Joins the cgroups, then becomes the command. Run by `spawn` in an isolated interpreter, with few imports.

Arguments: REPORT STATUS N GROUP*N M PATH*M COMMAND... where REPORT is a socket to our starter (which receives the
command's pid, allows the command to run, and receives errors; it is closed when the command runs), STATUS a descriptor
for the exit status if this process stays as the keeper, else -1, GROUP a cgroup folder, and PATH what the command may
write; without one, everything.
"""

import _signal as signal  # type: ignore[import-not-found]  # not `signal`: the names of signals take 1 MB
import os
import sys

sys.path.append(os.path.dirname(__file__))  # noqa: PTH120

from exec_command import become, call_library, candidate_paths, give_up, handed_over  # type: ignore[import-not-found]

PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38


def main() -> None:
    report, status, count = (int(word) for word in sys.argv[1:4])
    groups, rest = sys.argv[4 : 4 + count], sys.argv[4 + count :]
    writable, command = rest[1 : 1 + int(rest[0])], rest[1 + int(rest[0]) :]
    os.set_inheritable(report, False)
    for group in groups:
        try:
            with open(f"{group}/cgroup.procs", "wb", buffering=0) as file:
                file.write(b"0")
        except OSError as error:
            give_up(report, "join", error)
    if status < 0:
        os.write(report, b"root %d\n" % os.getpid())
        start(report, command, writable)
    os.set_inheritable(status, False)
    adopt_orphans()
    # Blocked until the command runs, and permanently in the keeper: signals for the command must not end its keeper.
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    root = os.fork()
    if root == 0:
        start(report, command, writable)
    os.write(report, b"root %d\n" % root)
    keep(root, status)


def start(report: int, command: list[str], writable: list[str]) -> None:
    """Wait until our pid is recorded, then become the command, with the original signals and environment."""
    if not os.read(report, 1):
        # The supervisor is gone.
        os._exit(127)
    try:
        environment = handed_over()
    except OSError:
        environment = dict(os.environb)
    if writable:
        import landlock  # type: ignore[import-not-found]

        call_library("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        landlock.restrict(writable, False)
    become(report, candidate_paths(command[0], environment), command, environment)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    call_library("prctl", PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def keep(root: int, status: int) -> None:
    """Reap until no descendant is left, and report the root's exit status."""
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
