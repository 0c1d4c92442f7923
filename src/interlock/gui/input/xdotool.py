"""XdotoolInput: keys and clicks through the program xdotool."""

from __future__ import annotations

import os
import subprocess

from ..desktop.windows import WindowSystem
from .backend import InputError
from .display_input import DisplayInput
from .keys import canonical_key

TIMEOUT_S = 30

ASCII_DELAY_MS = 1
OTHER_DELAY_MS = 40
"""xdotool gives each unusual character a key just before it types it; faster than this, programs see the old one."""


class XdotoolInput(DisplayInput):
    """Keyboard and mouse of an X display through xdotool, where XTEST cannot be reached directly."""

    name = "xdotool"

    def __init__(self, display: str | None = None) -> None:
        self._environment = os.environ | ({"DISPLAY": display} if display else {})
        self._run("getdisplaygeometry")
        self._windows = WindowSystem(display)

    def type_text(self, text: str) -> None:
        for part in text.splitlines(keepends=True):
            line = part.rstrip("\n")
            if line:
                delay = ASCII_DELAY_MS if line.isascii() else OTHER_DELAY_MS
                self._run("type", "--delay", str(delay), "--file", "-", given=line)
            if part.endswith("\n"):
                self._run("key", "Return")

    def key_combo(self, *keys: str) -> None:
        *modifiers, last = keys
        self._run("key", "--delay", "0", "+".join([*modifiers, canonical_key(last) or last]))

    def mouse_move_click(self, x: int, y: int) -> None:
        self._run("mousemove", str(x), str(y), "click", "1")

    def close(self) -> None:
        self._windows.close()

    def _run(self, *arguments: str, given: str = "") -> str:
        try:
            done = subprocess.run(
                ["xdotool", *arguments],
                env=self._environment,
                input=given.encode(),
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError:
            raise InputError("xdotool is not installed", todo="Install Debian's xdotool.") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"xdotool failed ({error})") from error
        if done.returncode:
            raise InputError(f"xdotool failed ({done.stderr.decode(errors='replace').strip()})")
        return done.stdout.decode()
