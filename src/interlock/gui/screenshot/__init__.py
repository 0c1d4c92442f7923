"""Screenshots: the screen as a picture, by whatever way works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._lazy import lazy
from .backend import CaptureError, ScreenshotBackend, create_screenshot_backend
from .screenshot import Screenshot

if TYPE_CHECKING:
    from .mss_backend import MSSBackend
    from .scrot_backend import ScrotBackend
    from .wayland_backend import WaylandBackend

__all__ = [
    "CaptureError", "MSSBackend", "Screenshot", "ScreenshotBackend", "ScrotBackend", "WaylandBackend",
    "create_screenshot_backend",
]  # fmt: skip

__getattr__ = lazy(
    __name__,
    {"mss_backend": ("MSSBackend",), "scrot_backend": ("ScrotBackend",), "wayland_backend": ("WaylandBackend",)},
)
