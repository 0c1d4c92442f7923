"""A session, and the tiny editor on a display of its own with everything that its replay needs."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from interlock.gui import (
    FileOperation,
    InterventionConfig,
    InterventionOrchestrator,
    LocalAnalyzer,
    MSSBackend,
    Operation,
    OperationType,
    RecoveryExecutor,
    ReplayEngine,
    ReplaySession,
)
from interlock.gui.analyzer.layers import WindowLayer
from interlock.gui.display import VirtualDisplay, wait_until
from interlock.gui.editor.vscode import VSCodeController
from interlock.gui.replay.store import SessionStore
from interlock.gui.session import expected_content
from interlock.gui.windows import WindowSystem
from interlock.gui.xtest_input import XTestInput

INSERT, DELETE, NAVIGATE = OperationType.INSERT, OperationType.DELETE, OperationType.NAVIGATE


CODE = "".join(f"def f{n}(a, b):\n\treturn {{'k': [a ** {n}, \"é→日本\"]}}  # ~`$!\n" for n in range(8))


SESSION = ReplaySession(
    "demo",
    [
        FileOperation("src/a.py", [Operation(INSERT, 1, None, CODE), Operation(DELETE, 3, 4), Operation(NAVIGATE, 2)]),
        FileOperation(
            "b.txt", [Operation(DELETE, 2, 3), Operation(INSERT, 2, None, "zwei drei\n"), Operation(DELETE, 4)]
        ),
        FileOperation("src/a.py", [Operation(INSERT, 1, None, "# the end\n")]),
    ],
)


BEFORE = {"b.txt": "one\ntwo\nthree\nfour\nfive"}


EXPECTED = {
    "src/a.py": expected_content("", SESSION.merged()["src/a.py"]),
    "b.txt": "one\nzwei drei\nfour",
}


class ReplayFixture:
    """The tiny editor on a display of its own, with everything that a replay needs."""

    def __init__(self, folder: Path, display: VirtualDisplay) -> None:
        self.folder, self.display = folder, display
        self.workspace = folder / "work"
        self.workspace.mkdir(parents=True, exist_ok=True)
        for path, text in BEFORE.items():
            (self.workspace / path).write_text(text)
        self.log = folder / "log"
        self.windows = WindowSystem(display.name)
        self.keyboard = XTestInput(display.name)
        self.controller = VSCodeController(self.keyboard, self.windows, self.workspace)
        self.controller.list_s, self.controller.step_s = 0.02, 1.0
        self.start()

    def start(self) -> None:
        control = self.folder / f"control{time.monotonic_ns()}"
        self.control = str(control)
        argv = [sys.executable, str(Path(__file__).with_name("tiny_editor.py")), self.workspace, control, self.log]
        self.process = subprocess.Popen([str(each) for each in argv], env=self.display.environment)
        assert wait_until(lambda: self._is_up(), 60)

    def restart(self) -> None:
        """End the editor and start it again."""
        self.process.kill()
        self.process.wait()
        assert wait_until(lambda: not self.windows.listed(), 60)
        self.start()

    def order(self, words: str) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.sendto(words.encode(), self.control)

    def store(self, workspace: Path, session_id: str) -> SessionStore:
        return SessionStore(workspace, session_id, self.folder / "state")

    def engine(self, watch: InterventionOrchestrator | None = None, **options: Any) -> ReplayEngine:
        engine = ReplayEngine(self.controller, watch, store=self.store, **options)
        engine.load_session(SESSION)
        return engine

    def watcher(self, **settings: Any) -> InterventionOrchestrator:
        config = InterventionConfig(
            **({"save_screenshots": False, "min_cooldown_seconds": 0, "interval_seconds": 600} | settings)
        )
        layer = WindowLayer(self.windows, str(self.workspace.resolve()))
        analyzer = LocalAnalyzer([layer], pixels=False)
        executor = RecoveryExecutor(self.keyboard, self.controller)
        watch = InterventionOrchestrator(config, MSSBackend(self.display.name), analyzer, executor)
        analyzer.live = lambda: watch.situation() if watch.situation else _nowhere()
        return watch

    def content(self, path: str) -> str:
        return (self.workspace / path).read_text()

    def came_out(self) -> bool:
        return all(self.content(path) == text for path, text in EXPECTED.items())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.keyboard.close()
        assert wait_until(lambda: not self.windows.listed(), 60)
        self.windows.close()

    def _is_up(self) -> bool:
        """Whether keys reach the editor and the window manager says so too: it may take a moment longer."""
        window = self.controller.window()
        return window is not None and self.windows.has_focus(window.id) and self.controller.state() is not None


def _nowhere() -> Any:
    from interlock.gui.analyzer import ScreenSituation

    return ScreenSituation()
