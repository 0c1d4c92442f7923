"""VirtualDisplay: an X display of its own with window manager and message bus, for sessions and for tests."""

from __future__ import annotations

import os
import select
import shutil
import tempfile

from ...core import InvalidState
from .accessibility import enable_accessibility
from .programs import Programs, plain_environment
from .windows import DisplayGone, WindowSystem

START_S = 20.0
"""How long Xvfb, the bus and the window manager may take to come up."""


class VirtualDisplay:
    """Xvfb, openbox and one session bus; `environment` is what programs on it are started with.

    One bus for everything: a program without it would start a second one, and the accessibility tree would break.
    """

    def __init__(
        self, programs: Programs, width: int = 1920, height: int = 1080, *, manager: bool = True, bus: bool = True
    ) -> None:
        self.programs = programs
        self.environment = plain_environment()
        # Sockets of the accessibility bus are here; elsewhere they are shared by everything with the same number.
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
        """Start the window manager and wait until it manages."""
        self.programs.start("openbox", ["openbox"], self.environment)
        from ..wait import wait_until

        with WindowSystem.open(self.name) as windows:
            if not wait_until(lambda: windows.window_manager() is not None, START_S):
                raise InvalidState("openbox does not start", where=str(self.programs.folder))

    def close(self) -> None:
        self.programs.end()
        shutil.rmtree(self._runtime, ignore_errors=True)

    def _start_printing(self, name: str, argv: list[str], option: str) -> str:
        """Start a program that prints what it is reached by to a file descriptor; that line."""
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
            raise DisplayGone(f"{name} does not start:  {self.programs.log(name, 300)!r}")
        return line
