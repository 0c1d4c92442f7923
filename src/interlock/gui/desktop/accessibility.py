"""Accessibility: dialogs, buttons and the focus as programs describe them to a screen reader (AT-SPI over D-Bus)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ...core import InterlockError
from .windows import Place

TIMEOUT_S = 1.0
"""A program that does not answer in this time is stuck, which is itself worth knowing."""

MATCH_ALL, MATCH_ANY = 1, 2

STATES = {"active": 1, "editable": 7, "enabled": 8, "focused": 12, "modal": 16, "showing": 25}

ROLES = {
    "alert": 2, "check box": 7, "combo box": 11, "dialog": 16, "file chooser": 19, "frame": 23, "label": 29,
    "list item": 32, "menu": 33, "panel": 39, "password text": 40, "push button": 43, "status bar": 54, "terminal": 60,
    "text": 61, "toggle button": 62, "window": 69, "paragraph": 73, "entry": 79, "section": 85, "tree item": 91,
    "document web": 95, "list box": 98, "notification": 101, "info bar": 102, "static": 116,
}  # fmt: skip
ROLE_NAMES = {number: name for name, number in ROLES.items()}

ACCESSIBLE = "org.a11y.atspi.Accessible"
DIALOGS = ("alert", "dialog", "file chooser")

REGISTRY = ("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")

Reference = tuple[str, str]


class NoAccessibility(InterlockError):
    """Raised when the accessibility bus cannot be reached or does not answer."""


class Node(Struct, frozen=True):
    """Something on the screen: what it is, what it is called, where it lies."""

    reference: Reference
    role: str
    name: str
    place: Place | None = None


class Dialog(Struct, frozen=True):
    """A dialog or an alert with its buttons; `is_window` says that it is a window of its own."""

    node: Node
    text: str
    buttons: tuple[Node, ...]
    is_window: bool = False


class Accessibility:
    """A connection to the accessibility bus that belongs to a session bus; thread-safe, reconnects by itself."""

    def __init__(self, session_bus: str | None = None) -> None:
        self._session_bus = session_bus
        self._lock = threading.RLock()
        self._connection: Any = None

    def close(self) -> None:
        with self._lock:
            kept, self._connection = self._connection, None
            if kept is not None:
                kept.close()

    def frames(self) -> list[Reference]:
        """The top-level windows of all programs."""
        with self._lock:
            found = []
            for application in self._children(REGISTRY):
                try:
                    found += self._children(application)
                except NoAccessibility:
                    continue
            return found

    def dialogs(self, frames: Sequence[Reference] | None = None) -> list[Dialog]:
        """Every dialog and alert that shows, in all programs; `frames` where they are known already."""
        with self._lock:
            found = []
            for frame in self.frames() if frames is None else frames:
                references = self._matches(frame, ("showing",), DIALOGS)
                if self._role(frame) in DIALOGS:
                    references.insert(0, frame)
                found += [self._dialog(each, is_window=each == frame) for each in references]
            return found

    def focused(self, frames: Sequence[Reference] | None = None) -> list[Node]:
        """What has the keyboard, as each program says; more than one when programs disagree."""
        with self._lock:
            found = []
            for frame in self.frames() if frames is None else frames:
                found += [self._node(each) for each in self._matches(frame, ("focused", "showing"), ())]
            return found

    def _dialog(self, reference: Reference, *, is_window: bool) -> Dialog:
        buttons = [self._node(each) for each in self._matches(reference, ("showing",), ("push button",))]
        node = self._node(reference)
        return Dialog(node, node.name, tuple(b for b in buttons if b.name and b.place), is_window)

    def _node(self, reference: Reference) -> Node:
        return Node(reference, self._role(reference), self._name(reference), self._place(reference))

    def _matches(self, reference: Reference, states: Sequence[str], roles: Sequence[str]) -> list[Reference]:
        rule: tuple[object, ...] = (
            _bits([STATES[state] for state in states], 2), MATCH_ALL, {}, MATCH_ALL,
            _bits([ROLES[role] for role in roles], 5), MATCH_ANY if roles else MATCH_ALL, [], MATCH_ALL, False,
        )  # fmt: skip
        body = (rule, 1, 0, True)
        answer = self._call(reference, "org.a11y.atspi.Collection", "GetMatches", "(aiia{ss}iaiiasib)uib", body)
        return [(str(bus), str(path)) for bus, path in answer[0]]

    def _children(self, reference: Reference) -> list[Reference]:
        answer = self._call(reference, ACCESSIBLE, "GetChildren", None, ())
        return [(str(bus), str(path)) for bus, path in answer[0]]

    def _name(self, reference: Reference) -> str:
        answer = self._call(reference, "org.freedesktop.DBus.Properties", "Get", "ss", (ACCESSIBLE, "Name"))
        return str(answer[0][1])

    def _role(self, reference: Reference) -> str:
        number = int(self._call(reference, ACCESSIBLE, "GetRole", None, ())[0])
        return ROLE_NAMES.get(number, str(number))

    def _place(self, reference: Reference) -> Place | None:
        try:
            answer = self._call(reference, "org.a11y.atspi.Component", "GetExtents", "u", (0,))
        except NoAccessibility:
            return None
        left, top, width, height = (int(each) for each in answer[0])
        return Place(left, top, width, height) if width > 0 and height > 0 else None

    def _call(self, reference: Reference, interface: str, method: str, signature: str | None, body: Any) -> Any:
        from jeepney import DBusAddress, MessageType, new_method_call

        if self._connection is None:
            self._connection = self._connect()
        bus, path = reference
        message = new_method_call(DBusAddress(path, bus, interface), method, signature, body)
        try:
            answer = self._connection.send_and_get_reply(message, timeout=TIMEOUT_S)
        except (TimeoutError, OSError, EOFError) as error:
            # An answer that comes late would be taken for the next one's.
            self.close()
            raise NoAccessibility(f"{method} got no answer ({error or type(error).__name__})") from error
        if answer.header.message_type is MessageType.error:
            raise NoAccessibility(f"{method} failed ({answer.body})")
        return answer.body

    def _connect(self) -> Any:
        from jeepney import DBusAddress, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        try:
            with open_dbus_connection(bus=self._session_bus or "SESSION") as session:
                where = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
                answer = session.send_and_get_reply(new_method_call(where, "GetAddress"), timeout=5 * TIMEOUT_S)
            return open_dbus_connection(bus=str(answer.body[0]))
        except (OSError, KeyError, ValueError, TimeoutError, EOFError, IndexError) as error:
            raise NoAccessibility(
                f"there is no accessibility bus ({error})", todo="Install Debian's at-spi2-core and dbus."
            ) from error


def enable_accessibility(session_bus: str) -> None:
    """Say that somebody listens; a browser that was started before does not describe itself."""
    from jeepney import DBusAddress, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    status = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.freedesktop.DBus.Properties")
    body = ("org.a11y.Status", "IsEnabled", ("b", True))
    try:
        with open_dbus_connection(bus=session_bus) as session:
            session.send_and_get_reply(new_method_call(status, "Set", "ssv", body), timeout=5 * TIMEOUT_S)
    except (OSError, ValueError, TimeoutError, EOFError) as error:
        raise NoAccessibility(f"accessibility cannot be switched on ({error})") from error


def _bits(numbers: Sequence[int], words: int) -> list[int]:
    """Numbers as set bits of signed 32-bit words; no words where nothing is asked for."""
    values = [0] * words
    for number in numbers:
        values[number // 32] |= 1 << (number % 32)
    return [value - (1 << 32) if value >= 1 << 31 else value for value in values]
