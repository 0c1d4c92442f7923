"""InputBackend: keyboard and mouse, key names, and the choice of a backend that works; xdotool is one."""

from __future__ import annotations

import subprocess
from abc import ABC, abstractmethod

from ..core import BadInput, InterlockError, InvalidState, run_program
from .windows import WindowSystem


class InputError(InterlockError):
    """Raised when a key, a text or a click cannot be sent."""


class InputBackend(ABC):
    """Sends keys, text and clicks to whatever has keyboard focus, and finds windows."""

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
        """Bring a window to the front and give it keyboard focus."""

    def screen_size(self) -> tuple[int, int] | None:
        """The screen's size; None if it is not known."""
        return None

    def close(self) -> None:
        """Close connections, and restore what was changed."""
        return


NAMES = ("auto", "xtest", "xdotool")


def create_input_backend(name: str = "auto", display: str | None = None) -> InputBackend:
    """The named backend, else the first that works here."""
    if name not in NAMES:
        raise BadInput(f"there is no input backend {name!r}", todo=f"Known: {', '.join(NAMES)}")
    from .xtest_input import XTestInput

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


class DisplayInput(InputBackend):
    """Keyboard and mouse of an X display with a window system."""

    _windows: WindowSystem

    def key_press(self, key: str) -> None:
        self.key_combo(key)

    def search_window(self, name: str) -> int | None:
        return self._windows.search(name)

    def activate_window(self, window_id: int) -> None:
        if not self._windows.activate(window_id):
            raise InputError(f"window {window_id} is gone")

    def screen_size(self) -> tuple[int, int]:
        return self._windows.screen_size()


MODIFIERS = {
    "ctrl": "ctrl", "control": "ctrl", "shift": "shift", "alt": "alt", "super": "super", "meta": "super",
    "win": "super", "cmd": "super",
}  # fmt: skip

NAMED = (
    "Escape", "Return", "Tab", "BackSpace", "Delete", "Insert", "Home", "End", "Prior", "Next", "Up", "Down", "Left",
    "Right", "space", "plus", "minus", "equal", "comma", "period", "slash", "backslash", "semicolon", "apostrophe",
    "grave", "bracketleft", "bracketright", *(f"F{number}" for number in range(1, 13)),
)  # fmt: skip
"""X keysym names, alongside letters and digits."""

ALIASES = {
    "esc": "Escape", "enter": "Return", "backspace": "BackSpace", "del": "Delete", "ins": "Insert", "pageup": "Prior",
    "page_up": "Prior", "pgup": "Prior", "pagedown": "Next", "page_down": "Next", "pgdn": "Next", "spacebar": "space",
    "+": "plus", "-": "minus", "=": "equal", ",": "comma", ".": "period", "/": "slash", "\\": "backslash",
    ";": "semicolon", "'": "apostrophe", "`": "grave", "backtick": "grave", "[": "bracketleft", "]": "bracketright",
    "arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left", "arrowright": "Right",
}  # fmt: skip

_CANONICAL = {name.lower(): name for name in NAMED} | ALIASES


def canonical_key(name: str) -> str | None:
    """The keysym name of a key, or None if it is unknown; letters become lower case."""
    if len(name) == 1 and name.isascii() and name.isalnum():
        return name.lower()
    return _CANONICAL.get(name.lower())


def split_combo(text: str) -> tuple[str, ...] | None:
    """`ctrl+shift+p` as modifiers and key in their canonical names; `ctrl++` is a plus. None if a part is unknown."""
    parts = text.split("+")
    if text.endswith("+"):
        parts = [*text[:-1].rstrip("+").split("+"), "+"] if len(text) > 1 else ["+"]
    *modifiers, key = [part.strip() for part in parts]
    names = [MODIFIERS.get(part.lower()) for part in modifiers]
    last = canonical_key(key)
    if last is None or None in names:
        return None
    return (*(name for name in names if name), last)


TIMEOUT_S = 30

ASCII_DELAY_MS = 1
OTHER_DELAY_MS = 40
"""xdotool remaps a key just before it types an unusual character; faster than this, programs see the old mapping."""


class XdotoolInput(DisplayInput):
    """Keyboard and mouse of an X display through xdotool, where XTEST cannot be used directly."""

    name = "xdotool"

    def __init__(self, display: str | None = None) -> None:
        self._environment = {"DISPLAY": display} if display else None
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
            words = ["xdotool", *arguments]
            done = run_program(words, env=self._environment, given=given.encode(), timeout=TIMEOUT_S)
        except FileNotFoundError:
            raise InputError("xdotool is not installed", todo="Install Debian's xdotool.") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InputError(f"xdotool failed ({error})") from error
        if done.returncode:
            raise InputError(f"xdotool failed ({done.stderr.decode(errors='replace').strip()})")
        return done.stdout.decode()
