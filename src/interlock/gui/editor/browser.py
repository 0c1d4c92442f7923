"""Browser: Chromium as the editor's window."""

from __future__ import annotations

import os
from pathlib import Path

from ..desktop.programs import Programs
from .install import find_chromium
from .server import free_port


class Browser:
    """A Chromium window without tabs that shows one address, with accessibility and debugging port on."""

    def __init__(self, programs: Programs, environment: dict[str, str], folder: Path) -> None:
        self._programs, self._environment, self._folder = programs, environment, folder
        self.debug_port = free_port()

    def start(self, address: str, width: int, height: int) -> None:
        options = [
            "--disable-gpu", "--disable-quic", "--no-first-run", "--no-default-browser-check",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--password-store=basic",
            "--disable-features=Translate,MediaRouter", "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding",
            "--hide-crash-restore-bubble", "--test-type", "--force-renderer-accessibility",
            f"--remote-debugging-port={self.debug_port}",
            "--window-position=0,0", f"--window-size={width},{height}", f"--user-data-dir={self._folder}",
        ]  # fmt: skip
        if os.getuid() == 0:
            # Chromium refuses to run as root with its sandbox.
            options.append("--no-sandbox")
        self._programs.start("chromium", [find_chromium(), *options, f"--app={address}"], self._environment)

    def end(self) -> None:
        self._programs.end("chromium")
