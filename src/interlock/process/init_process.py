"""The first process of a contained run: starts the command, reaps orphans, stops and continues everything on request.

Run by bubblewrap as pid 1 of the run's PID namespace, in a bare interpreter. It outlives the front and the owner.
Processes outside control it by signals: SIGUSR1 stops every process of the namespace, SIGUSR2 continues them, SIGKILL
ends them all. The kernel marks senders outside (si_pid is 0), which no process inside can imitate.

The leader of its process group is outside: if it led a group itself, a pid of this namespace would never be released,
and it would wait for that forever when it exits.

Arguments: REPORT STATUS EVENTS IN OUT ERR PWD MARKER SCOPED BRIDGES WRITE PROCS COMMAND... where REPORT is a socket to
our starter, STATUS a descriptor for the exit status, EVENTS one for events of the terminal (or -1), IN, OUT and ERR
the command's streams, PWD the original variable, MARKER the variable that only the command's tree has. SCOPED is
"scoped" or "-", and three lists follow, each preceded by its length: BRIDGES (PORT=PATH), paths to WRITE (see
fence_ports.py and landlock.py), and PROCS, open cgroup.procs files.
"""

import _signal as signal  # type: ignore[import-not-found]  # not `signal`: the names of signals take 1 MB
import os
import sys

sys.path.append(os.path.dirname(__file__))  # noqa: PTH120

from exec_command import become, call_library, candidate_paths, give_up, handed_over  # type: ignore[import-not-found]

PR_SET_DUMPABLE = 4
FROM_KERNEL = 0x80
BY_KILL = 0
"""si_code of signals that the kernel sends for the terminal, and of those sent with kill()."""

OOM_SCORE = 300
STOP, CONTINUE = signal.SIGUSR1, signal.SIGUSR2


def main() -> None:
    report, status, events = (int(word) for word in sys.argv[1:4])
    streams = [int(word) for word in sys.argv[4:7]]
    directory, marker, scoped = sys.argv[7], sys.argv[8], sys.argv[9] == "scoped"
    command = sys.argv[10:]
    ports, writable, procs = pop_list(command), pop_list(command), pop_list(command)
    for descriptor in (report, status, events):
        if descriptor >= 0:
            os.set_inheritable(descriptor, False)
    environment = first_environment(directory, marker)
    yield_memory()
    refuse_tracing()
    signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
    listeners = listen(report, ports) if ports else []
    os.write(report, b"first\n")
    root = os.fork()
    if root == 0:
        enter(
            report,
            streams,
            [int(word) for word in procs],
            command,
            environment,
            lambda: restrict_writes(writable, scoped),
        )
    keep(root, status, events, listeners)


def pop_list(words: list[str]) -> list[str]:
    """Remove the list at the start of these words, which is preceded by its length, and return it."""
    count = int(words[0])
    found = words[1 : 1 + count]
    del words[: 1 + count]
    return found


def listen(report: int, ports: list[str]) -> list:  # type: ignore[type-arg]
    """Listening sockets in the command's own network namespace."""
    import fence_ports  # type: ignore[import-not-found]

    try:
        return fence_ports.listen(ports)  # type: ignore[no-any-return]
    except OSError as error:
        give_up(report, "bridge", error)
        raise


def restrict_writes(writable: list[str], scoped: bool) -> None:
    if writable or scoped:
        import landlock  # type: ignore[import-not-found]

        landlock.restrict(writable, scoped)


def enter(report, streams, groups, command, environment, restrict) -> None:  # type: ignore[no-untyped-def]
    """Join the cgroups, restrict ourselves, and run the command once our starter knows our pid."""
    for group in groups:
        try:
            os.write(group, b"0")
        except OSError as error:
            give_up(report, "join", error)
        os.close(group)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    restrict()
    paths = candidate_paths(command[0], environment)
    os.write(report, b"root\n")
    if not os.read(report, 1):
        os._exit(127)
    become(report, paths, command, environment)


def yield_memory() -> None:
    """If the machine runs out of memory, let the kernel kill the command before its supervisor.

    Call this before `refuse_tracing`: an unprivileged user could not open the file afterwards.
    """
    try:
        with open("/proc/self/oom_score_adj", "r+") as file:
            if int(file.read()) < OOM_SCORE:
                file.write(str(OOM_SCORE))
    except OSError:
        # The command is then as likely to be killed as its supervisor.
        return


def first_environment(directory: str, marker: str) -> dict[bytes, bytes]:
    """The environment that was passed to us, with the tree's marker; PWD is restored, as bubblewrap has set it."""
    environment: dict[bytes, bytes] = handed_over()
    environment.pop(b"PWD", None)
    if directory:
        environment[b"PWD"] = os.fsencode(directory)
    name, _, value = os.fsencode(marker).partition(b"=")
    environment[name] = value
    return environment


def refuse_tracing() -> None:
    """Prevent processes inside from tracing us or reading our memory and descriptors."""
    call_library("prctl", PR_SET_DUMPABLE, 0, 0, 0, 0)


def keep(root: int, status: int, events: int, listeners: list) -> None:  # type: ignore[type-arg]
    """Serve the bridges, handle signals and reap until no descendant is left."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    kept = sorted({2, status, *([events] if events >= 0 else []), *(one.fileno() for one, _ in listeners)})
    for below, above in zip(kept, [*kept[1:], os.sysconf("SC_OPEN_MAX")], strict=True):
        os.closerange(below + 1, above)
    os.chdir("/")
    if listeners:
        import fence_ports

        fence_ports.serve(listeners)
    ordered = False
    while True:
        came = signal.sigwaitinfo((signal.SIGCHLD, signal.SIGINT, STOP, CONTINUE))
        if came.si_signo == signal.SIGCHLD:
            reap(root, status, -1 if ordered else events)
        elif came.si_signo == signal.SIGINT:
            if came.si_code == FROM_KERNEL:
                tell(events, b"interrupted\n")
        elif came.si_code == BY_KILL and came.si_pid == 0:
            ordered = came.si_signo == STOP
            order(signal.SIGSTOP if ordered else signal.SIGCONT)


def reap(root: int, status: int, events: int) -> None:
    while True:
        try:
            pid, result = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
        except ChildProcessError:
            os._exit(0)
        if pid == 0:
            return
        if os.WIFSTOPPED(result):
            if pid == root:
                tell(events, b"stopped\n")
        elif pid == root:
            tell(status, b"%d\n" % os.waitstatus_to_exitcode(result))


def order(number: int) -> None:
    """Send a signal to every process of the namespace except us, in one call, so that none can fork in between."""
    try:
        os.kill(-1, number)
    except OSError:
        return


def tell(descriptor: int, words: bytes) -> None:
    try:
        if descriptor >= 0:
            os.write(descriptor, words)
    except OSError:
        # The listener is gone.
        return
