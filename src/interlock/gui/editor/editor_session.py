"""EditorSession: display, server and window together, started and ended as one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from ...core import InvalidState
from ..desktop.accessibility import Accessibility
from ..desktop.debug_port import DebugPort, NoAnswer
from ..desktop.display import VirtualDisplay
from ..desktop.programs import Programs
from ..desktop.windows import WindowSystem
from ..input.xtest import XTestInput
from ..wait import wait_until
from .install import ensure_installed, find_chromium
from .server import CodeServer, RunningServer, free_port
from .title import is_editors, parse_title
from .vscode import VSCodeController

WINDOW_S = 90.0
"""From the browser's start until the editor shows itself; four seconds on an idle machine."""

PLAIN_S = 20.0
"""A window is without its settings for a moment when it opens; after this time they will not come by themselves."""

SETTINGS_S = 8.0
"""Until an open window has read its settings again; mostly two to four seconds, and now and then it never does."""

READY = "!!document.querySelector('.explorer-folders-view .monaco-list-row, .explorer-viewlet .monaco-list-rows')"


class EditorSession:
    """A real VS Code on its own display; with `url`, one whose server runs already."""

    def __init__(
        self,
        folder: Path,
        workspace: Path,
        size: tuple[int, int] = (1920, 1080),
        say: Callable[[str], None] | None = None,
        url: str | None = None,
    ) -> None:
        installed = ensure_installed(say or (lambda line: None)) if url is None else None
        self.workspace = workspace.resolve()
        self.programs = Programs(folder / "programs")
        self.programs.end_left_over()
        self._size = size
        try:
            self.display = VirtualDisplay(self.programs, *size)
            environment = self.display.environment
            self.server: CodeServer | RunningServer = (
                CodeServer(self.programs, environment, installed, folder / "editor")
                if installed is not None
                else RunningServer(url or "")
            )
            self.server.start(self.workspace)
            self.browser = Browser(self.programs, environment, folder / "browser")
            self.browser.start(self.server.address(self.workspace), *size)
            self.windows = WindowSystem(self.display.name)
            self.keyboard = XTestInput(self.display.name)
            self.accessibility = Accessibility(environment["DBUS_SESSION_BUS_ADDRESS"])
            self.debug = DebugPort(self.browser.debug_port)
            self.controller = VSCodeController(self.keyboard, self.windows, self.workspace, self.accessibility)
            self.controller.revive = self.revive
            self.controller.renew = self.restart_window
            self.wait_for_window()
        except BaseException:
            self.programs.end()
            raise

    def wait_for_window(self) -> None:
        """Wait until the editor is there and answers to the keyboard; one without its settings is started again."""
        if self._comes_up():
            return
        if self._is_plain() and self.server.write_settings():
            self._open_window()
            if self._comes_up():
                return
        shown = [window.title for window in self.windows.listed()]
        if shown and self.controller.window() is None:
            raise InvalidState(
                f"the editor's title {shown[-1][:80]!r} does not show its state",
                todo="Write its settings with interlock gui doctor --profile DIR, where DIR is its user-data folder.",
            )
        raise InvalidState(
            f"the editor does not start: {self.programs.log('chromium', 300)!r}", where=str(self.programs.folder)
        )

    def restart_server(self) -> None:
        """Start the server again on its port."""
        self.server.end()
        self.server.start(self.workspace)

    def restart_window(self) -> None:
        """Start the window again, as after a crash."""
        self._open_window()
        self.wait_for_window()

    def revive(self) -> None:
        """Start again what has died: the server, and with it or alone the window, which may only lack its settings."""
        if not self.server.answers():
            self.restart_server()
            self.restart_window()
        elif self.controller.window() is None and not self._settings_come_back():
            self.restart_window()

    def close(self) -> None:
        for part in (self.keyboard, self.windows, self.accessibility, self.debug):
            part.close()
        self.programs.end()

    def _open_window(self) -> None:
        self.browser.end()
        self.browser.start(self.server.address(self.workspace), *self._size)

    def _comes_up(self) -> bool:
        """Whether the editor comes up, with its settings, before it takes too long."""
        if not wait_until(lambda: self._is_up() or self._is_plain(), WINDOW_S, every_s=0.1):
            return False
        if not wait_until(lambda: not self._is_plain(), PLAIN_S, every_s=0.1) and not self._settings_come_back():
            return False
        return wait_until(self._is_up, WINDOW_S, every_s=0.1)

    def _is_plain(self) -> bool:
        """Whether there is an editor's window without our settings."""
        titles = [window.title for window in self.windows.listed() if is_editors(window.title)]
        return bool(titles) and not any(map(parse_title, titles))

    def _settings_come_back(self) -> bool:
        """Whether a window that has lost its settings takes them again."""
        return (
            self._is_plain()
            and self.server.write_settings()
            and wait_until(lambda: self.controller.window() is not None, SETTINGS_S, every_s=0.1)
        )

    def _is_up(self) -> bool:
        window = self.controller.window()
        return window is not None and self.windows.has_focus(window.id) and self._answers_keys()

    def _answers_keys(self) -> bool:
        """Whether the page has got as far as showing the workspace; before, keys are lost."""
        try:
            return bool(self.debug.evaluate(READY))
        except NoAnswer:
            return False


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
