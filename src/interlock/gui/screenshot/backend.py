"""ScreenshotBackend: captures a screen; and the choice of a backend that works."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import closing

from ...core import BadInput, InterlockError, InvalidState
from ..windows import WindowSystem
from .screenshot import Screenshot


class CaptureError(InterlockError):
    """Raised when the screen cannot be captured."""


class ScreenshotBackend(ABC):
    """Captures a screen."""

    name = ""

    @abstractmethod
    def capture_screen(self) -> Screenshot:
        """Capture the whole screen, because dialogs appear outside the window; CaptureError if that fails."""

    @abstractmethod
    def capture_window(self, window_id: int | str) -> Screenshot:
        """Capture the part of the screen that a window covers."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether a capture works right now."""

    def close(self) -> None:
        """Close connections, if any."""
        return


Area = dict[str, int]
"""Left, top, width and height, in this order."""


class XBackend(ScreenshotBackend):
    """Captures an X display or a part of it."""

    def __init__(self, display: str | None = None) -> None:
        self._display = display

    @abstractmethod
    def capture(self, area: Area | None) -> Screenshot:
        """Capture a part of the screen, or all of it."""

    def capture_screen(self) -> Screenshot:
        return self.capture(None)

    def capture_window(self, window_id: int | str) -> Screenshot:
        with closing(WindowSystem(self._display)) as windows:
            bounds = windows.visible_bounds(int(str(window_id), 0))
        if bounds is None:
            raise CaptureError(f"window {window_id} is not on the screen")
        return self.capture({"left": bounds.left, "top": bounds.top, "width": bounds.width, "height": bounds.height})

    def is_available(self) -> bool:
        try:
            self.capture_screen()
        except CaptureError:
            return False
        return True


NAMES = ("auto", "mss", "scrot", "wayland")


def create_screenshot_backend(config: object = None, *, display: str | None = None) -> ScreenshotBackend:
    """The configured backend, else the first that works.

    `config` is {"backend": NAME}, {"intervention": {"screenshot_backend": NAME}}, the same under "gui", or a section.
    """
    name = _name(config)
    if name not in NAMES:
        raise BadInput(f"there is no screenshot backend {name!r}", todo=f"Known: {', '.join(NAMES)}")
    if name != "auto":
        return _make(name, display)
    tried = []
    for candidate in ("mss", "scrot", "wayland"):
        backend = _make(candidate, display)
        if backend.is_available():
            return backend
        backend.close()
        tried.append(candidate)
    raise InvalidState(
        f"no screenshot backend works here (tried {', '.join(tried)})",
        todo="Set DISPLAY or WAYLAND_DISPLAY, install scrot or grim, and see interlock gui doctor.",
    )


def _make(name: str, display: str | None) -> ScreenshotBackend:
    if name == "mss":
        from .x_backends import MSSBackend

        return MSSBackend(display)
    if name == "scrot":
        from .x_backends import ScrotBackend

        return ScrotBackend(display)
    from .wayland_backend import WaylandBackend

    return WaylandBackend()


def _name(config: object) -> str:
    if config is None:
        return "auto"
    if isinstance(config, str):
        return config
    if isinstance(config, Mapping):
        for section in ("intervention", "gui"):
            if section in config:
                return _name(config[section])
        return str(config.get("screenshot_backend") or config.get("backend") or "auto")
    return str(getattr(config, "screenshot_backend", "auto"))
