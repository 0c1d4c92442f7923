"""Backends for X displays: mss, which stays connected between frames, and the program scrot."""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...core import run_program
from .backend import Area, CaptureError, XBackend
from .frame import Frame
from .screenshot import Screenshot


class MSSBackend(XBackend):
    """The primary monitor of an X display."""

    name = "mss"

    def __init__(self, display: str | None = None) -> None:
        super().__init__(display)
        self._lock = threading.Lock()
        self._mss: Any = None

    def close(self) -> None:
        with self._lock:
            self._forget()

    def capture(self, area: Area | None) -> Screenshot:
        try:
            import mss
        except ImportError as error:
            raise CaptureError("mss is not installed", where="mss", todo="Install interlock[gui].") from error
        with self._lock:
            try:
                if self._mss is None:
                    self._mss = mss.MSS(display=self._display) if self._display else mss.MSS()
                shot = self._mss.grab(area or self._primary())
            except (mss.exception.ScreenShotError, OSError, ValueError, ImportError, AssertionError) as error:
                # mss raises AssertionError when the connection is lost.
                self._forget()
                raise CaptureError(f"the screen cannot be captured ({_line(error)})", where="mss") from error
            return Screenshot.of_frame(Frame(shot.width, shot.height, shot.raw), time.time())

    def _primary(self) -> Any:
        """The primary monitor; index 0 of mss is all of them together."""
        monitors = self._mss.monitors[1:] or self._mss.monitors
        return next((monitor for monitor in monitors if monitor.get("is_primary")), monitors[0])

    def _forget(self) -> None:
        """Disconnect, so that the next capture reconnects."""
        kept, self._mss = self._mss, None
        if kept is not None:
            import mss

            with suppress(mss.exception.ScreenShotError, OSError, ValueError, AssertionError):
                kept.close()


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


TIMEOUT_S = 10


class ScrotBackend(XBackend):
    """An X display through scrot."""

    name = "scrot"

    def capture(self, area: Area | None) -> Screenshot:
        from PIL import Image

        options = ("--autoselect", ",".join(map(str, area.values()))) if area else ()
        environment = {"DISPLAY": self._display} if self._display else None
        with tempfile.TemporaryDirectory(prefix="interlock-scrot-") as folder:
            file = Path(folder) / "screen.png"
            try:
                words = ["scrot", "--overwrite", *options, str(file)]
                done = run_program(words, env=environment, timeout=TIMEOUT_S)
                if done.returncode:
                    raise CaptureError(done.stderr.decode(errors="replace").strip() or "scrot failed", where="scrot")
                with Image.open(file) as image:
                    return Screenshot.of_image(image, time.time())
            except FileNotFoundError:
                raise CaptureError("scrot is not installed", where="scrot", todo="Install Debian's scrot.") from None
            except (OSError, subprocess.TimeoutExpired) as error:
                raise CaptureError(f"the screen cannot be captured ({error})", where="scrot") from error
