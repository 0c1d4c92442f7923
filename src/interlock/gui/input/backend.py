"""InputBackend: keyboard and mouse, and the choice of the way that works."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ...core import BadInput, InterlockError, InvalidState


class InputError(InterlockError):
    """Raised when a key, a text or a click cannot be sent."""


class InputBackend(ABC):
    """Sends keys, text and clicks to whatever has the focus, and finds windows."""

    name = ""

    @abstractmethod
    def type_text(self, text: str) -> None:
        """Type a text exactly; a line end is Return, a tab is Tab."""

    @abstractmethod
    def key_press(self, key: str) -> None:
        """Press and release one key by name: Escape, Return, F1, a."""

    @abstractmethod
    def key_combo(self, *keys: str) -> None:
        """Press keys together: key_combo("ctrl", "shift", "p")."""

    @abstractmethod
    def mouse_move_click(self, x: int, y: int) -> None:
        """Move the pointer and click the left button there."""

    @abstractmethod
    def search_window(self, name: str) -> int | None:
        """The topmost window whose title has this text."""

    @abstractmethod
    def activate_window(self, window_id: int) -> None:
        """Bring a window to the front and give it the keyboard."""

    def screen_size(self) -> tuple[int, int] | None:
        """The screen's size; None if it is not known."""
        return None

    def close(self) -> None:
        """Close what was kept open, and restore what was changed."""
        return


NAMES = ("auto", "xtest", "xdotool")


def create_input_backend(name: str = "auto", display: str | None = None) -> InputBackend:
    """The named backend, else the first that works here."""
    if name not in NAMES:
        raise BadInput(f"there is no input backend {name!r}", todo=f"Known: {', '.join(NAMES)}")
    from .xdotool import XdotoolInput
    from .xtest import XTestInput

    problems = []
    for kind in (XTestInput, XdotoolInput):
        if name in ("auto", kind.name):
            try:
                return kind(display)
            except InterlockError as error:
                problems.append(f"{kind.name}: {error.what}")
    raise InvalidState(
        f"keys cannot be sent ({'; '.join(problems)})",
        todo="Input needs an X display (XWayland works); see interlock gui doctor.",
    )
