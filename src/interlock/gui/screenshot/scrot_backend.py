"""ScrotBackend: capture through the program scrot, where mss cannot."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ...core import Clock, SystemClock
from ..desktop.windows import WindowSystem
from .backend import CaptureError, ScreenshotBackend
from .screenshot import Screenshot

TIMEOUT_S = 10


class ScrotBackend(ScreenshotBackend):
    """An X display through scrot."""

    name = "scrot"

    def __init__(self, display: str | None = None, clock: Clock | None = None) -> None:
        self._display = display
        self._clock = clock or SystemClock()

    def capture_screen(self) -> Screenshot:
        return self._capture(())

    def capture_window(self, window_id: int | str) -> Screenshot:
        with WindowSystem.open(self._display) as windows:
            place = windows.visible_place(int(str(window_id), 0))
        if place is None:
            raise CaptureError(f"window {window_id} is not on the screen")
        return self._capture(("--autoselect", f"{place.left},{place.top},{place.width},{place.height}"))

    def is_available(self) -> bool:
        try:
            self.capture_screen()
        except CaptureError:
            return False
        return True

    def _capture(self, options: tuple[str, ...]) -> Screenshot:
        from PIL import Image

        environment = os.environ | ({"DISPLAY": self._display} if self._display else {})
        with tempfile.TemporaryDirectory(prefix="interlock-scrot-") as folder:
            file = Path(folder) / "screen.png"
            try:
                done = subprocess.run(
                    ["scrot", "--overwrite", *options, str(file)],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=TIMEOUT_S,
                    check=False,
                )
                if done.returncode:
                    raise CaptureError(done.stderr.decode(errors="replace").strip() or "scrot failed", where="scrot")
                with Image.open(file) as image:
                    return Screenshot.of_image(image, self._clock.time())
            except FileNotFoundError:
                raise CaptureError("scrot is not installed", where="scrot", todo="Install Debian's scrot.") from None
            except (OSError, subprocess.TimeoutExpired) as error:
                raise CaptureError(f"the screen cannot be captured ({error})", where="scrot") from error
