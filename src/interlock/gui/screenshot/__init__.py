"""Screenshots: the screen as a picture, by whatever way works."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def __getattr__(name: str) -> object:
    from importlib import import_module

    modules = {"MSSBackend": "mss_backend", "ScrotBackend": "scrot_backend", "WaylandBackend": "wayland_backend"}
    if name not in modules:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{modules[name]}", __name__), name)
