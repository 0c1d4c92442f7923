"""Text recognition on small parts of a screen, where the program tesseract is installed."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from functools import cache

from ...screenshot.frame import Frame
from .boxes import Box

TIMEOUT_S = 5.0
MAX_PIXELS = 1_000_000
"""Reading a full screen takes half a second and is full of errors; parts are read at twice their size."""


def read_text(frame: Frame, box: Box) -> str:
    """The words in a part of the screen; empty if none are found or nothing can read them."""
    program = _tesseract()
    if program is None or box.width * box.height > MAX_PIXELS:
        return ""
    image = frame.crop(box.left, box.top, box.width, box.height).to_image().convert("L")
    image = image.resize((image.width * 2, image.height * 2))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    try:
        done = subprocess.run(
            [program, "stdin", "stdout", "--psm", "6"],
            input=buffer.getvalue(),
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
            # One thread: more are slower on crops of this size.
            env=os.environ | {"OMP_THREAD_LIMIT": "1"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return " ".join(done.stdout.decode(errors="replace").split()) if done.returncode == 0 else ""


@cache
def _tesseract() -> str | None:
    return shutil.which("tesseract")
