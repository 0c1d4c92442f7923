"""Proves that what is typed on a display arrives: into a window of our own that reads the keys back."""

from __future__ import annotations

import threading
import time

from .desktop.windows import DisplayGone, WindowSystem, connect, lost_errors
from .input.backend import create_input_backend
from .wait import wait_until

SAMPLE = "def f(a, b): return {'k': [a ** 2, \"x\"]}  # ~`$! é→✓"
"""Brackets, quotes, shifted and unusual characters."""

ARRIVE_S = 10.0


def type_and_read(display: str, backend: str) -> str:
    """Type the sample with this backend into a small window; what the window got."""
    catcher = Catcher(display)
    try:
        keyboard = create_input_backend(backend, display)
        try:
            keyboard.type_text(SAMPLE)
            wait_until(lambda: len(catcher.text) >= len(SAMPLE), ARRIVE_S)
            return catcher.text
        finally:
            keyboard.close()
    finally:
        catcher.close()


class Catcher:
    """A window that has keyboard focus and writes down what is typed."""

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
        with WindowSystem.open(display) as windows:
            # A window manager gives the keyboard in its own time; what is typed before goes elsewhere.
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
        try:
            self._window.destroy()
            self._display.close()
        except lost_errors():
            return

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
