"""DisplayInput: what every input of an X display does alike, for it goes through the windows."""

from __future__ import annotations

from ..desktop.windows import WindowSystem
from .backend import InputBackend, InputError


class DisplayInput(InputBackend):
    """Keyboard and mouse of an X display whose windows are known."""

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
