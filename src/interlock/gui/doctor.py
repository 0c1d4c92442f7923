"""Checks of what a GUI session needs, each with its finding and remedy."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from msgspec import Struct

from ..core import InterlockError, find_program
from .accessibility import Accessibility
from .display import Programs, VirtualDisplay, wait_until
from .input import create_input_backend
from .windows import DisplayGone, WindowSystem, connect, lost_errors

State = Literal["ok", "missing", "broken"]

PROGRAMS = {
    "Xvfb": ("xvfb", "a display of its own"),
    "openbox": ("openbox", "a window manager on it"),
    "dbus-daemon": ("dbus-daemon", "the accessibility bus"),
    "chromium": ("chromium", "the window of the editor that --start-editor starts"),
    "xdotool": ("xdotool", "input where XTEST cannot be used directly"),
    "scrot": ("scrot", "screenshots where mss cannot"),
    "tesseract": ("tesseract-ocr", "text in screenshots"),
}
"""Program to Debian package and purpose."""


class GuiCheck(Struct, frozen=True):
    """One check; `missing` affects only some sessions."""

    what: str
    state: State
    found: str
    todo: str = ""


def examine(display: str | None = None) -> Iterator[GuiCheck]:
    """Check a display: the named one, the environment's, else one started for this."""
    yield from _programs()
    yield _editor_installed()
    yield _model()
    with _some_display(display) as opened:
        if isinstance(opened, GuiCheck):
            yield opened
            return
        name, bus, own = opened
        try:
            with closing(WindowSystem(name)) as windows:
                size = windows.screen_size()
                where = f"{name}, {size[0]}x{size[1]}" + (" (started for this check)" if own else "")
                yield GuiCheck("display", "ok", where)
                yield _window_manager(windows)
                yield _title(windows, own)
        except InterlockError as error:
            yield GuiCheck("display", "broken", error.what, error.todo)
            return
        yield from _captures(name)
        yield from _inputs(name)
        yield _accessibility(bus)


def _programs() -> Iterator[GuiCheck]:
    for program, (package, purpose) in PROGRAMS.items():
        found = find_program(program)
        path = found.path if found is not None else None
        todo = "" if path else f"Install Debian's {package}"
        yield GuiCheck(program, "ok" if path else "missing", path or f"not installed; for {purpose}", todo)


def _editor_installed() -> GuiCheck:
    from .editor.install import cache_folder, is_installed

    if is_installed():
        return GuiCheck("editor", "ok", str(cache_folder()))
    return GuiCheck(
        "editor", "missing", "code-server is not installed", "--start-editor installs it once; this takes some minutes"
    )


def _model() -> GuiCheck:
    if os.environ.get("ANTHROPIC_API_KEY", "").strip():
        return GuiCheck("model", "ok", "ANTHROPIC_API_KEY is set; the model is asked where this machine cannot decide")
    return GuiCheck("model", "missing", "no ANTHROPIC_API_KEY; the local analyzer decides alone")


@contextmanager
def _some_display(display: str | None) -> Iterator[tuple[str, str | None, bool] | GuiCheck]:
    """Its name, its session bus, and whether we started it."""
    name = display or os.environ.get("DISPLAY")
    if name:
        yield name, os.environ.get("DBUS_SESSION_BUS_ADDRESS"), False
        return
    with tempfile.TemporaryDirectory(prefix="interlock-doctor-", ignore_cleanup_errors=True) as folder:
        try:
            own = VirtualDisplay(Programs(Path(folder)), 800, 600)
        except InterlockError as error:
            yield GuiCheck("display", "broken", f"none is set, and none can be started ({error.what})", error.todo)
            return
        with closing(own):
            yield own.name, own.environment["DBUS_SESSION_BUS_ADDRESS"], True


def _window_manager(windows: WindowSystem) -> GuiCheck:
    name = windows.window_manager()
    if name is None:
        return GuiCheck("window manager", "broken", "none is running: focus and titles are guesswork", "Start openbox")
    return GuiCheck("window manager", "ok", name)


def _title(windows: WindowSystem, own: bool) -> GuiCheck:
    from .editor.profile import parse_title

    if any(parse_title(window.title) for window in windows.listed()):
        return GuiCheck("title template", "ok", "an editor's title shows file, unsaved text and focus")
    editors = [window for window in windows.listed() if "visual studio code" in window.title.casefold()]
    if editors:
        todo = "Write the settings with interlock gui doctor --profile DIR, and open the window again"
        return GuiCheck(
            "title template", "broken", f"the title {editors[0].title[:60]!r} does not show its state", todo
        )
    todo = "" if own else "--start-editor opens one that does"
    return GuiCheck("title template", "missing", "no editor window is open", todo)


def _captures(display: str) -> Iterator[GuiCheck]:
    from .screenshot.backend import NAMES, create_screenshot_backend

    for name in NAMES[1:]:
        try:
            backend = create_screenshot_backend(name, display=display)
            works = backend.is_available()
            backend.close()
        except (InterlockError, ImportError) as error:
            yield GuiCheck(f"pictures by {name}", "missing", str(error))
            continue
        found = "a screenshot was taken" if works else "no screenshot"
        yield GuiCheck(f"pictures by {name}", "ok" if works else "missing", found)


def _inputs(display: str) -> Iterator[GuiCheck]:
    exact = False
    for name in ("xtest", "xdotool"):
        what = f"typing by {name}"
        try:
            read = type_and_read(display, name)
        except InterlockError as error:
            yield GuiCheck(what, "missing", error.what, error.todo)
            continue
        if read == SAMPLE:
            exact = True
            yield GuiCheck(what, "ok", f"{len(SAMPLE)} characters came out exactly")
        else:
            state: State = "missing" if exact else "broken"
            yield GuiCheck(what, state, f"{SAMPLE!r} came out as {read!r}", "" if exact else "Use another display")


def _accessibility(bus: str | None) -> GuiCheck:
    if bus is None:
        return GuiCheck("accessibility bus", "missing", "DBUS_SESSION_BUS_ADDRESS is not set", "Start a session bus")
    try:
        with closing(Accessibility(bus)) as tree:
            count = len(tree.frames())
    except InterlockError as error:
        return GuiCheck("accessibility bus", "broken", error.what, error.todo or "Install Debian's at-spi2-core")
    return GuiCheck("accessibility bus", "ok", f"{count} windows are accessible")


SAMPLE = "def f(a, b): return {'k': [a ** 2, \"x\"]}  # ~`$! é→✓"
"""Brackets, quotes, shifted and unusual characters."""

ARRIVE_S = 10.0


def type_and_read(display: str, backend: str) -> str:
    """Type the sample with this backend into a small window; returns what the window received."""
    with closing(Catcher(display)) as catcher, closing(create_input_backend(backend, display)) as keyboard:
        keyboard.type_text(SAMPLE)
        wait_until(lambda: len(catcher.text) >= len(SAMPLE), ARRIVE_S)
        return catcher.text


class Catcher:
    """A window with keyboard focus that records what is typed."""

    def __init__(self, display: str) -> None:
        from Xlib import X

        self.text = ""
        self._display = connect(display)
        screen = self._display.screen()
        self._window = screen.root.create_window(
            0, 0, 200, 40, 0, screen.root_depth, X.InputOutput, background_pixel=screen.white_pixel,
            event_mask=X.KeyPressMask | X.StructureNotifyMask,
        )  # fmt: skip
        self._window.set_wm_name("interlock gui doctor")
        self._window.map()
        self._display.sync()
        self._over = False
        self._thread = threading.Thread(target=self._read, name="interlock-catcher", daemon=True)
        self._thread.start()
        with closing(WindowSystem(display)) as windows:
            # A window manager moves keyboard focus with a delay; what is typed before goes elsewhere.
            windows.activate(self._window.id)
            focused = wait_until(lambda: self._has_keyboard(windows), ARRIVE_S)
        if not focused:
            self.close()
            raise DisplayGone(
                "no window receives keyboard input", todo="Another program has grabbed it: close its menus."
            )

    def _has_keyboard(self, windows: WindowSystem) -> bool:
        active = windows.active()
        return active is not None and active.id == self._window.id and windows.has_focus(self._window.id)

    def close(self) -> None:
        self._over = True
        self._thread.join(2)
        with suppress(*lost_errors()):
            self._window.destroy()
            self._display.close()

    def _read(self) -> None:
        from Xlib import X

        try:
            while not self._over:
                if not self._display.pending_events():
                    time.sleep(0.005)
                    continue
                event = self._display.next_event()
                if event.type == X.MappingNotify:
                    self._display.refresh_keyboard_mapping(event)
                elif event.type == X.KeyPress:
                    self._record_key(event.detail, bool(event.state & X.ShiftMask))
        except lost_errors():
            return

    def _record_key(self, code: int, shifted: bool) -> None:
        symbol = self._display.keycode_to_keysym(code, 1 if shifted else 0)
        if symbol >= 0x1000000:
            self.text += chr(symbol & 0xFFFFFF)
        elif 0x20 <= symbol < 0x100:
            self.text += chr(symbol)
        elif not 0xFFE1 <= symbol <= 0xFFEE:
            self.text += f"<{symbol:x}>"
