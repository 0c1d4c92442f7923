"""ScrotBackend: capture through the program scrot, where mss cannot."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from ...core import Clock, SystemClock
from .backend import Area, CaptureError, XBackend
from .screenshot import Screenshot

TIMEOUT_S = 10


class ScrotBackend(XBackend):
    """An X display through scrot."""

    name = "scrot"

    def __init__(self, display: str | None = None, clock: Clock | None = None) -> None:
        super().__init__(display)
        self._clock = clock or SystemClock()

    def capture(self, area: Area | None) -> Screenshot:
        from PIL import Image

        options = ("--autoselect", ",".join(map(str, area.values()))) if area else ()
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
