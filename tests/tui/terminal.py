"""`interlock top` in a real terminal: what a person sees, and single keys."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.e2e.running import Place

PATIENCE_S = 150.0
ROWS = 30


class Terminal:
    """One tmux server with one window; `text` is what a person sees in it."""

    def __init__(self, socket: Path, words: list[str], environment: dict[str, str], columns: int) -> None:
        settings = socket.with_name(f"{socket.name}.conf")
        # tmux sometimes resizes a window without a client to this size, whatever size it was created with.
        settings.write_text(f"set -g default-size {columns}x{ROWS}\n")
        self._tmux = ["tmux", "-S", str(socket), "-f", str(settings)]
        command = f"exec env {' '.join(shlex.quote(f'{k}={v}') for k, v in environment.items())} {shlex.join(words)}"
        subprocess.run(
            [*self._tmux, "new-session", "-d", "-x", str(columns), "-y", str(ROWS), command],
            check=True,
            env={**os.environ, "TERM": "xterm-256color"},
        )

    @property
    def text(self) -> str:
        done = subprocess.run([*self._tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False)
        return done.stdout

    @property
    def alive(self) -> bool:
        return subprocess.run([*self._tmux, "has-session"], capture_output=True, check=False).returncode == 0

    def press(self, *keys: str) -> None:
        subprocess.run([*self._tmux, "send-keys", *keys], check=True)

    def sees(self, *words: str) -> str:
        return self.until(lambda text: all(word in text for word in words), f"{words}")

    def until(self, is_so: Callable[[str], bool], what: str) -> str:
        deadline = time.monotonic() + PATIENCE_S
        while not is_so(text := self.text):
            assert time.monotonic() < deadline, f"never: {what}\n{text}"
            time.sleep(0.1)
        return text

    def close(self) -> None:
        subprocess.run([*self._tmux, "kill-server"], capture_output=True, check=False)


def top(place: Place, columns: int = 100) -> Terminal:
    """It shows the runs of this place."""
    wanted = ("PYTHONPATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "PATH", "HOME", "LANG")
    environment = {name: place.environment[name] for name in wanted if name in place.environment}
    environment |= {"INTERLOCK_STORE__DIR": str(place.store.root), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    return Terminal(place.root / "tmux", [sys.executable, "-m", "interlock", "top"], environment, columns)
