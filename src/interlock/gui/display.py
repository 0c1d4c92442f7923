"""VirtualDisplay: a private X display; the programs that a session starts; and waiting with a timeout."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import psutil
from msgspec import Struct

from ..core import InvalidState, from_json, verified
from .accessibility import enable_accessibility
from .windows import DisplayGone, WindowSystem

START_S = 20.0
"""How long Xvfb, the bus and the window manager may take to come up."""


class VirtualDisplay:
    """Xvfb, openbox and one session bus; programs on it are started with `environment`.

    All programs share one bus: one without it would start a second bus and break the accessibility tree.
    """

    def __init__(
        self, programs: Programs, width: int = 1920, height: int = 1080, *, manager: bool = True, bus: bool = True
    ) -> None:
        self.programs = programs
        self.environment = plain_environment()
        # Holds the sockets of the accessibility bus; elsewhere, displays with the same number would share them.
        self._runtime = tempfile.mkdtemp(prefix="interlock-")
        self.environment["XDG_RUNTIME_DIR"] = self._runtime
        try:
            self._start(width, height, manager, bus)
        except BaseException:
            self.close()
            raise

    def _start(self, width: int, height: int, manager: bool, bus: bool) -> None:
        self.name = ":" + self._start_printing(
            "xvfb", ["Xvfb", "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"], "-displayfd"
        )
        self.environment["DISPLAY"] = self.name
        if bus:
            address = self._start_printing("dbus", ["dbus-daemon", "--session", "--nofork"], "--print-address")
            self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
            enable_accessibility(address)
        if manager:
            self.start_manager()

    def start_manager(self) -> None:
        """Start the window manager and wait until it is ready."""
        self.programs.start("openbox", ["openbox"], self.environment)

        with closing(WindowSystem(self.name)) as windows:
            if not wait_until(lambda: windows.window_manager() is not None, START_S):
                raise InvalidState("openbox does not start", where=str(self.programs.folder))

    def close(self) -> None:
        self.programs.end()
        shutil.rmtree(self._runtime, ignore_errors=True)

    def _start_printing(self, name: str, argv: list[str], option: str) -> str:
        """Start a program that prints its address to a file descriptor; returns that line."""
        ours, theirs = os.pipe()
        try:
            argument = [option, str(theirs)] if name == "xvfb" else [f"{option}={theirs}"]
            self.programs.start(name, [*argv, *argument], self.environment, pass_fds=(theirs,))
        finally:
            os.close(theirs)
        try:
            with os.fdopen(ours) as output:
                ready, _, _ = select.select([output], [], [], START_S)
                line = output.readline().strip() if ready else ""
        except OSError:
            line = ""
        if not line:
            raise DisplayGone(f"{name} does not start: {self.programs.log(name, 300)!r}")
        return line


GRACE_S = 2.0
"""How long a program may take to end after SIGTERM."""


class StartedProgram(Struct, frozen=True):
    """A started program; its start time distinguishes it from a later one with the same pid."""

    name: str
    pid: int
    created: float


class Programs:
    """Started programs, each in its own session, recorded so that a later run can end what a crash left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._record = folder / "programs.json"
        self._running: list[tuple[StartedProgram, subprocess.Popen[bytes]]] = []

    def start(
        self,
        name: str,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        pass_fds: Sequence[int] = (),
        user: str | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program; its output goes to NAME.log in the folder."""
        with (self.folder / f"{name}.log").open("ab") as output:
            try:
                process = subprocess.Popen(
                    list(argv),
                    executable=verified(argv[0]),
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                    pass_fds=pass_fds,
                    user=user,
                )
            except OSError as error:
                raise InvalidState(
                    f"{argv[0]} cannot be started ({error.strerror})",
                    todo="Run interlock gui doctor to see what is missing.",
                ) from None
        self._running.append((StartedProgram(name, process.pid, _created(process.pid)), process))
        self._write()
        return process

    def log(self, name: str, size: int = 2000) -> str:
        """The end of a program's output."""
        try:
            return (self.folder / f"{name}.log").read_text(errors="replace")[-size:]
        except OSError:
            return ""

    def end(self, name: str | None = None) -> None:
        """End one program, or all of them, the last started first, with everything that they started."""
        ending = [entry for entry in self._running if name in (None, entry[0].name)]
        for started, process in reversed(ending):
            end_tree(started.pid)
            process.wait()
        # By identity: a recovery may have started one of the same name meanwhile, which must stay listed.
        self._running = [entry for entry in self._running if entry not in ending]
        self._write()

    def end_left_over(self) -> int:
        """End what an earlier process of ours left running in this folder; returns how many."""
        try:
            left = from_json(self._record.read_bytes(), list[StartedProgram])
        except (OSError, msgspec.MsgspecError):
            return 0
        ours = {started.pid for started, _ in self._running}
        found = [s for s in left if s.pid not in ours and _created(s.pid) == s.created]
        for started in reversed(found):
            end_tree(started.pid)
        return len(found)

    def _write(self) -> None:
        self._record.write_bytes(msgspec.json.encode([started for started, _ in self._running]))


def end_tree(pid: int) -> None:
    """End a process and its descendants: SIGTERM, then SIGKILL."""
    try:
        top = psutil.Process(pid)
        tree = [*top.children(recursive=True), top]
    except psutil.Error:
        return
    for process in tree:
        with suppress(psutil.Error):
            process.terminate()
    _, alive = psutil.wait_procs(tree, timeout=GRACE_S)
    for process in alive:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=GRACE_S)


def _created(pid: int) -> float:
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0.0


def plain_environment() -> dict[str, str]:
    """The environment without another session's display, bus and keys."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "AT_SPI_BUS_ADDRESS", "ANTHROPIC_API_KEY")
    return {key: value for key, value in os.environ.items() if key not in hidden}


def wait_until(
    condition: Callable[[], object],
    timeout_s: float,
    *,
    every_s: float = 0.02,
    give_up: Callable[[], bool] = lambda: False,
) -> bool:
    """Wait until a condition holds; False on timeout or when `give_up` returns True."""
    end = time.monotonic() + timeout_s
    while not condition():
        if give_up() or time.monotonic() >= end:
            return False
        time.sleep(every_s)
    return True
