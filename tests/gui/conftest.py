"""A real X display with a real window manager and message bus for every test that looks at a screen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from interlock.gui.display import Programs, VirtualDisplay, wait_until
from interlock.gui.windows import Window, WindowSystem

from .replay_fixture import ReplayFixture


@pytest.fixture(scope="session")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VirtualDisplay]:
    """One display for all tests of a worker."""
    display = VirtualDisplay(Programs(tmp_path_factory.mktemp("desktop")), 1280, 800)
    yield display
    display.close()


@pytest.fixture
def windows(desktop: VirtualDisplay) -> Iterator[WindowSystem]:
    with closing(WindowSystem(desktop.name)) as connection:
        yield connection


@pytest.fixture
def fixture(tmp_path: Path, desktop: VirtualDisplay) -> Iterator[ReplayFixture]:
    fixture = ReplayFixture(tmp_path, desktop)
    yield fixture
    fixture.close()


Launch = Callable[..., Window]


@pytest.fixture
def launch(desktop: VirtualDisplay, windows: WindowSystem) -> Iterator[Launch]:
    """Start a program and wait for its window; it ends with the test."""
    started: list[subprocess.Popen[bytes]] = []

    def start(title: str, *argv: str) -> Window:
        started.append(
            subprocess.Popen(
                argv,
                env=desktop.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

        def there() -> bool:
            active = windows.active()
            return active is not None and title in active.title and windows.has_focus(active.id)

        assert wait_until(there, 60), f"no window {title!r} came up"
        found = windows.active()
        assert found is not None
        return found

    yield start
    for process in started:
        process.kill()
        process.wait()
    assert wait_until(lambda: not windows.listed(), 60)


def terminal(launch: Launch, title: str, *command: str) -> Window:
    """An xterm that runs a command."""
    return launch(title, "xterm", "-u8", "-T", title, "-geometry", "80x24+100+80", "-e", *command)


def recorder(launch: Launch, title: str, file: Path) -> Window:
    """A terminal that writes every character typed into it to a file, until Ctrl-D twice."""
    program = (
        "import os, sys, termios, tty\n"
        "tty.setraw(0)\n"
        f"out = os.open({str(file)!r}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n"
        f"os.write(1, b'\\033]0;{title}\\007ready')\n"
        "while True:\n"
        "    data = os.read(0, 65536)\n"
        "    if not data:\n"
        "        break\n"
        "    os.write(out, data)\n"
    )
    window = terminal(launch, title, sys.executable, "-c", program)
    assert wait_until(file.exists, 60)
    return window
