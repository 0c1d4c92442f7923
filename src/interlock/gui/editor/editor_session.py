"""EditorSession: a display, VS Code's server and its window, started and ended together."""

from __future__ import annotations

import os
import socket
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from ...core import BadInput, InvalidState
from ..accessibility import Accessibility
from ..debug_port import DebugPort, NoPage
from ..display import Programs, VirtualDisplay, wait_until
from ..windows import WindowSystem
from ..xtest_input import XTestInput
from .install import Installed, ensure_installed, find_chromium
from .profile import is_editors, parse_title, write_defaults, write_profile
from .vscode import VSCodeController

WINDOW_S = 90.0
"""From the browser's start until the editor is visible; four seconds on an idle machine."""

PLAIN_S = 20.0
"""A new window is without its settings for a moment; after this time they will not load by themselves."""

SETTINGS_S = 8.0
"""Until an open window has reloaded its settings; usually two to four seconds, and occasionally never."""

READY = "!!document.querySelector('.explorer-folders-view .monaco-list-row, .explorer-viewlet .monaco-list-rows')"


class EditorSession:
    """A real VS Code on its own display; with `url`, one whose server is already running."""

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
        """Wait until the editor is up and accepts keys; one without its settings is restarted."""
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
        """Restart what has died, the server and the window or only the window; one may only lack its settings."""
        if not self.server.answers():
            self.restart_server()
            self.restart_window()
        elif self.controller.window() is None and not self._settings_reload():
            self.restart_window()

    def close(self) -> None:
        for part in (self.keyboard, self.windows, self.accessibility, self.debug):
            part.close()
        self.programs.end()

    def _open_window(self) -> None:
        self.browser.end()
        self.browser.start(self.server.address(self.workspace), *self._size)

    def _comes_up(self) -> bool:
        """Whether the editor comes up with its settings in time."""
        if not wait_until(lambda: self._is_up() or self._is_plain(), WINDOW_S, every_s=0.1):
            return False
        if not wait_until(lambda: not self._is_plain(), PLAIN_S, every_s=0.1) and not self._settings_reload():
            return False
        return wait_until(self._is_up, WINDOW_S, every_s=0.1)

    def _is_plain(self) -> bool:
        """Whether there is an editor window without our settings."""
        titles = [window.title for window in self.windows.listed() if is_editors(window.title)]
        return bool(titles) and not any(map(parse_title, titles))

    def _settings_reload(self) -> bool:
        """Whether a window that has lost its settings reloads them."""
        return (
            self._is_plain()
            and self.server.write_settings()
            and wait_until(lambda: self.controller.window() is not None, SETTINGS_S, every_s=0.1)
        )

    def _is_up(self) -> bool:
        window = self.controller.window()
        return window is not None and self.windows.has_focus(window.id) and self._accepts_keys()

    def _accepts_keys(self) -> bool:
        """Whether the page already shows the workspace; before that, keys are lost."""
        try:
            return bool(self.debug.evaluate(READY))
        except NoPage:
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


START_S = 60.0
ANSWER_S = 10.0


class CodeServer:
    """One server for one workspace; can be ended and started again on the same port."""

    def __init__(self, programs: Programs, environment: dict[str, str], installed: Installed, folder: Path) -> None:
        self._programs, self._environment, self._installed = programs, environment, installed
        self.folder = folder
        self.port = free_port()

    def start(self, workspace: Path) -> None:
        self.write_settings()
        self._programs.start(
            "code-server",
            [
                str(self._installed.node), str(self._installed.entry), "--auth", "none",
                "--bind-addr", f"127.0.0.1:{self.port}", "--user-data-dir", str(self.folder / "user-data"),
                "--extensions-dir", str(self.folder / "extensions"), "--disable-telemetry", "--disable-update-check",
                "--disable-getting-started-override", "--config", "/dev/null", str(workspace),
            ],
            self._environment,
        )  # fmt: skip
        if not wait_until(self.answers, START_S, every_s=0.2):
            raise InvalidState(f"the editor's server does not start: {self._programs.log('code-server', 400)!r}")

    def write_settings(self) -> bool:
        """Write the editor's settings; an open window reloads them. False if they are not ours to write."""
        write_profile(self.folder / "user-data")
        return True

    def lose_settings(self) -> None:
        """Reset the editor to its defaults, to test how a session copes."""
        write_defaults(self.folder / "user-data")

    def end(self) -> None:
        self._programs.end("code-server")

    def answers(self) -> bool:
        """Whether the server responds."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def address(self, workspace: Path) -> str:
        return f"http://127.0.0.1:{self.port}/?folder={quote(str(workspace))}"


class RunningServer:
    """An editor server that someone else started; we never end or start it."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise BadInput(f"{url!r} is not the address of an editor", todo="For example http://127.0.0.1:8080/")
        self._parts = parts

    def start(self, workspace: Path) -> None:
        if not wait_until(self.answers, ANSWER_S, every_s=0.5):
            raise InvalidState("the editor's server does not respond", where=urlunsplit(self._parts))

    def write_settings(self) -> bool:
        return False

    def end(self) -> None:
        return

    def answers(self) -> bool:
        """Whether the server responds; any HTTP response counts."""
        try:
            with urllib.request.urlopen(urlunsplit(self._parts), timeout=2):
                return True
        except urllib.error.HTTPError:
            return True
        except (urllib.error.URLError, OSError):
            return False

    def address(self, workspace: Path) -> str:
        query = self._parts.query or f"folder={quote(str(workspace))}"
        return urlunsplit(self._parts._replace(query=query))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
