"""WindowSystem: the windows of an X display (EWMH through python-xlib)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ..core import InterlockError


class DisplayGone(InterlockError):
    """Raised when there is no display, or it went away."""


class Rectangle(Struct, frozen=True):
    """A rectangle on the screen."""

    left: int
    top: int
    width: int
    height: int

    @property
    def centre(self) -> tuple[int, int]:
        return self.left + self.width // 2, self.top + self.height // 2

    def overlaps(self, other: Rectangle) -> bool:
        across = self.left < other.left + other.width and other.left < self.left + self.width
        return across and self.top < other.top + other.height and other.top < self.top + self.height


class Window(Struct, frozen=True):
    """A top-level window."""

    id: int
    title: str
    class_name: str


class WindowSystem:
    """A connection to one X display; thread-safe."""

    def __init__(self, display: str | None = None) -> None:
        self.name = display
        self._lock = threading.RLock()
        self._display = connect(display)
        self._root = self._display.screen().root
        self._atoms: dict[str, int] = {}

    def close(self) -> None:
        with contextlib.suppress(*lost_errors()):
            self._display.close()

    def screen_size(self) -> tuple[int, int]:
        with self._guarded():
            geometry = self._root.get_geometry()
            return geometry.width, geometry.height

    def window_manager(self) -> str | None:
        """The running window manager's name; None if there is none."""
        with self._guarded():
            check = self._numbers(self._root, "_NET_SUPPORTING_WM_CHECK")
            if not check:
                return None
            owner = self._display.create_resource_object("window", check[0])
            if self._numbers(owner, "_NET_SUPPORTING_WM_CHECK") != check:
                return None
            return self._title(owner) or "unnamed"

    def active(self) -> Window | None:
        """The window with keyboard focus according to the window manager (without one: the X focus)."""
        with self._guarded():
            numbers = self._numbers(self._root, "_NET_ACTIVE_WINDOW")
            window_id = numbers[0] if numbers else self._focus()
            return self._window(window_id) if window_id else None

    def has_focus(self, window_id: int) -> bool:
        """Whether the X server sends keys to this window; the window manager's information may be outdated."""
        with self._guarded():
            focus = self._display.get_input_focus().focus
            try:
                while getattr(focus, "id", 0) not in (0, self._root.id):
                    if focus.id == window_id:
                        return True
                    focus = focus.query_tree().parent
            except _x_error():
                return False
            return False

    def listed(self) -> list[Window]:
        """All managed windows, the topmost last (without a window manager: the root's viewable children)."""
        with self._guarded():
            return [window for window in map(self._window, self._stacked()) if window is not None]

    def above(self, window_id: int) -> list[Window]:
        """The windows that cover a part of this one."""
        with self._guarded():
            ids = self._stacked()
            return self._touching(window_id, ids[ids.index(window_id) + 1 :] if window_id in ids else [])

    def below(self, window_id: int) -> list[Window]:
        """The windows that this one partly covers."""
        with self._guarded():
            ids = self._stacked()
            return self._touching(window_id, ids[: ids.index(window_id)] if window_id in ids else [])

    def is_dialog(self, window_id: int) -> bool:
        """Whether a window calls itself a dialog."""
        with self._guarded():
            window = self._display.create_resource_object("window", window_id)
            return self._atom("_NET_WM_WINDOW_TYPE_DIALOG") in self._numbers(window, "_NET_WM_WINDOW_TYPE")

    def search(self, title_part: str) -> int | None:
        """The topmost window whose title has this text."""
        wanted = title_part.casefold()
        return next((w.id for w in reversed(self.listed()) if wanted in w.title.casefold()), None)

    def bounds(self, window_id: int) -> Rectangle | None:
        """The bounds of a window's content on the screen; None if it is gone."""
        with self._guarded():
            window = self._display.create_resource_object("window", window_id)
            try:
                geometry = window.get_geometry()
                corner = self._root.translate_coords(window, 0, 0)
            except _x_error():
                return None
            return Rectangle(corner.x, corner.y, geometry.width, geometry.height)

    def visible_bounds(self, window_id: int) -> Rectangle | None:
        """The part of a window that is on the screen."""
        bounds = self.bounds(window_id)
        if bounds is None:
            return None
        width, height = self.screen_size()
        left, top = max(bounds.left, 0), max(bounds.top, 0)
        right, bottom = min(bounds.left + bounds.width, width), min(bounds.top + bounds.height, height)
        return Rectangle(left, top, right - left, bottom - top) if right > left and bottom > top else None

    def activate(self, window_id: int) -> bool:
        """Ask the window manager to bring a window to the front and give it keyboard focus."""
        from Xlib import X, protocol

        with self._guarded():
            window = self._display.create_resource_object("window", window_id)
            try:
                window.get_attributes()
            except _x_error():
                return False
            message = protocol.event.ClientMessage(
                window=window, client_type=self._atom("_NET_ACTIVE_WINDOW"), data=(32, [2, X.CurrentTime, 0, 0, 0])
            )
            self._root.send_event(message, event_mask=X.SubstructureRedirectMask | X.SubstructureNotifyMask)
            if not self._numbers(self._root, "_NET_SUPPORTING_WM_CHECK"):
                window.configure(stack_mode=X.Above)
                window.set_input_focus(X.RevertToParent, X.CurrentTime)
            self._display.sync()
            return True

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """One at a time; a lost connection becomes DisplayGone."""
        with self._lock, display_errors():
            yield

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            self._atoms[name] = self._display.intern_atom(name)
        return self._atoms[name]

    def _property(self, window: Any, name: str) -> Any:
        from Xlib import X

        with contextlib.suppress(_x_error()):
            return window.get_full_property(self._atom(name), X.AnyPropertyType)

    def _numbers(self, window: Any, name: str) -> list[int]:
        found = self._property(window, name)
        return list(found.value) if found is not None and found.format == 32 else []

    def _text(self, window: Any, name: str) -> str:
        found = self._property(window, name)
        if found is None:
            return ""
        return found.value.decode("utf-8", "replace") if isinstance(found.value, bytes) else str(found.value)

    def _title(self, window: Any) -> str:
        return self._text(window, "_NET_WM_NAME") or self._text(window, "WM_NAME")

    def _window(self, window_id: int) -> Window | None:
        window = self._display.create_resource_object("window", window_id)
        try:
            names = window.get_wm_class()
        except _x_error():
            return None
        return Window(window_id, self._title(window), names[1] if names else "")

    def _stacked(self) -> list[int]:
        return self._numbers(self._root, "_NET_CLIENT_LIST_STACKING") or self._viewable_children()

    def _touching(self, window_id: int, others: list[int]) -> list[Window]:
        """The other windows that overlap this one."""
        own = self.bounds(window_id) if others else None
        if own is None:
            return []
        near = [each for each in others if (bounds := self.bounds(each)) is not None and bounds.overlaps(own)]
        return [window for window in map(self._window, near) if window is not None]

    def _focus(self) -> int | None:
        focus = self._display.get_input_focus().focus
        return getattr(focus, "id", None)

    def _viewable_children(self) -> list[int]:
        from Xlib import X

        found = []
        for child in self._root.query_tree().children:
            try:
                if child.get_attributes().map_state == X.IsViewable and child.get_wm_class():
                    found.append(child.id)
            except _x_error():
                continue
        return found


@contextlib.contextmanager
def display_errors() -> Iterator[None]:
    """Turn a lost connection into DisplayGone."""
    try:
        yield
    except lost_errors() as error:
        raise DisplayGone(f"the X display went away ({error})") from error


def connect(display: str | None) -> Any:
    """A connection to an X display; DisplayGone if there is none."""
    from Xlib.display import Display
    from Xlib.error import DisplayError

    try:
        return Display(display)
    except (DisplayError, OSError) as error:
        raise DisplayGone(
            f"there is no X display ({error})", todo="Set DISPLAY, or start one with --start-editor."
        ) from error


def _x_error() -> type[Exception]:
    from Xlib.error import XError

    return XError  # type: ignore[no-any-return]


def lost_errors() -> tuple[type[Exception], ...]:
    from Xlib.error import ConnectionClosedError

    return ConnectionClosedError, OSError, EOFError
