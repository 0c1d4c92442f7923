"""Accessibility: dialogs, buttons and keyboard focus as programs expose them to screen readers (AT-SPI over D-Bus)."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..core import InterlockError
from .windows import Rectangle

TIMEOUT_S = 1.0
"""A program that does not reply within this time hangs, which is worth reporting."""

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

BusCall = tuple[str, str, str, str, str | None, tuple[object, ...]]
"""Bus name, path, interface, method, signature, arguments."""


class NoAccessibility(InterlockError):
    """Raised when the accessibility bus cannot be reached or does not answer."""


class Node(Struct, frozen=True):
    """A widget on the screen: its role, name and bounds."""

    reference: Reference
    role: str
    name: str
    bounds: Rectangle | None = None


class Dialog(Struct, frozen=True):
    """A dialog or an alert with its buttons; `is_window`: it has a window of its own."""

    node: Node
    text: str
    buttons: tuple[Node, ...]
    is_window: bool = False


class Accessibility:
    """A connection to the accessibility bus of a session bus; thread-safe, reconnects by itself."""

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
            applications = _references(self._wanted([_children(REGISTRY)])[0])
            answers = self._ask([_children(each) for each in applications])
            # A program that has just ended has none.
            return [frame for answer in answers if not isinstance(answer, Exception) for frame in _references(answer)]

    def dialogs(self) -> list[Dialog]:
        """Every dialog and alert that shows, in all programs."""
        with self._lock:
            return self._dialogs(*self._query(self.frames())[:2])

    def focused(self) -> list[Node]:
        """What has keyboard focus according to each program; several when programs disagree."""
        with self._lock:
            return self._nodes(self._query(self.frames())[2])

    def dialogs_and_focus(self, frames: Sequence[Reference]) -> tuple[list[Dialog], list[Node]]:
        """Dialogs and focus together, in half the time: a busy program delays the queries only once."""
        with self._lock:
            windows, dialogs, focused = self._query(frames)
            return self._dialogs(windows, dialogs), self._nodes(focused)

    def _query(self, frames: Sequence[Reference]) -> tuple[list[Reference], list[Reference], list[Reference]]:
        """Frames that are dialogs themselves, dialogs within frames, and what has keyboard focus."""
        shown, focus = (("showing",), DIALOGS), (("focused", "showing"), ())
        calls = [call for each in frames for call in (_role(each), _matches(each, *shown), _matches(each, *focus))]
        answers = iter(self._wanted(calls))
        windows, inside, focused = list[Reference](), list[Reference](), list[Reference]()
        for frame in frames:
            windows += [frame] if _role_name(next(answers)) in DIALOGS else []
            inside += _references(next(answers))
            focused += _references(next(answers))
        return windows, inside, focused

    def _dialogs(self, windows: Sequence[Reference], inside: Sequence[Reference]) -> list[Dialog]:
        references = [*windows, *inside]
        answers = self._wanted([_matches(each, ("showing",), ("push button",)) for each in references])
        names = [_references(answer) for answer in answers]
        nodes = iter(self._nodes([*references, *(button for each in names for button in each)]))
        own = [next(nodes) for _ in references]
        found = []
        for index, (node, buttons) in enumerate(zip(own, names, strict=True)):
            shown = [button for button in (next(nodes) for _ in buttons) if button.name and button.bounds]
            found.append(Dialog(node, node.name, tuple(shown), index < len(windows)))
        return found

    def _nodes(self, references: Sequence[Reference]) -> list[Node]:
        """Role, name and bounds of each."""
        calls = [call for each in references for call in (_role(each), _name(each), _extents(each))]
        answers = self._ask(calls)
        found = []
        for index, reference in enumerate(references):
            role, name, bounds = answers[3 * index : 3 * index + 3]
            for answer in (role, name):
                if isinstance(answer, NoAccessibility):
                    raise answer
            found.append(Node(reference, _role_name(role), str(name[0][1]), _bounds_of(bounds)))
        return found

    def _wanted(self, calls: Sequence[BusCall]) -> list[Any]:
        """The replies to calls; raises if one of them failed."""
        answers = self._ask(calls)
        for answer in answers:
            if isinstance(answer, NoAccessibility):
                raise answer
        return answers

    def _ask(self, calls: Sequence[BusCall]) -> list[Any]:
        """The replies to calls that are sent all at once, in order; a failed call has its error instead."""
        from jeepney import HeaderFields

        if not calls:
            return []
        if self._connection is None:
            self._connection = self._connect()
        connection, answers = self._connection, dict[int, Any]()
        serials = [next(connection.outgoing_serial) for _ in calls]
        end = time.monotonic() + TIMEOUT_S
        try:
            for serial, call in zip(serials, calls, strict=True):
                connection.send(_message(call), serial=serial)
            while len(answers) < len(calls):
                answer = connection.receive(timeout=max(0.0, end - time.monotonic()))
                serial = answer.header.fields.get(HeaderFields.reply_serial)
                # Others are late replies to earlier calls.
                if serial in serials:
                    answers[serial] = _unwrap(answer)
        except TimeoutError:
            pass
        except (OSError, EOFError) as error:
            self.close()
            raise NoAccessibility(f"the accessibility bus is gone ({error or type(error).__name__})") from error
        return [
            answers.get(serial, NoAccessibility(f"{call[3]} got no reply"))
            for serial, call in zip(serials, calls, strict=True)
        ]

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
    """Switch accessibility on; a browser that was started before does not expose its widgets."""
    from jeepney import DBusAddress, new_method_call
    from jeepney.io.blocking import open_dbus_connection

    status = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.freedesktop.DBus.Properties")
    body = ("org.a11y.Status", "IsEnabled", ("b", True))
    try:
        with open_dbus_connection(bus=session_bus) as session:
            session.send_and_get_reply(new_method_call(status, "Set", "ssv", body), timeout=5 * TIMEOUT_S)
    except (OSError, ValueError, TimeoutError, EOFError) as error:
        raise NoAccessibility(f"accessibility cannot be switched on ({error})") from error


def _children(reference: Reference) -> BusCall:
    return (*reference, ACCESSIBLE, "GetChildren", None, ())


def _role(reference: Reference) -> BusCall:
    return (*reference, ACCESSIBLE, "GetRole", None, ())


def _name(reference: Reference) -> BusCall:
    return (*reference, "org.freedesktop.DBus.Properties", "Get", "ss", (ACCESSIBLE, "Name"))


def _extents(reference: Reference) -> BusCall:
    return (*reference, "org.a11y.atspi.Component", "GetExtents", "u", (0,))


def _matches(reference: Reference, states: Sequence[str], roles: Sequence[str]) -> BusCall:
    rule: tuple[object, ...] = (
        _bits([STATES[state] for state in states], 2), MATCH_ALL, {}, MATCH_ALL,
        _bits([ROLES[role] for role in roles], 5), MATCH_ANY if roles else MATCH_ALL, [], MATCH_ALL, False,
    )  # fmt: skip
    body = (rule, 1, 0, True)
    return (*reference, "org.a11y.atspi.Collection", "GetMatches", "(aiia{ss}iaiiasib)uib", body)


def _message(call: BusCall) -> Any:
    from jeepney import DBusAddress, new_method_call

    bus, path, interface, method, signature, body = call
    return new_method_call(DBusAddress(path, bus, interface), method, signature, body)


def _unwrap(answer: Any) -> Any:
    from jeepney import MessageType

    failed = answer.header.message_type is MessageType.error
    return NoAccessibility(f"a query was rejected ({answer.body})") if failed else answer.body


def _references(answer: Any) -> list[Reference]:
    return [(str(bus), str(path)) for bus, path in answer[0]]


def _role_name(answer: Any) -> str:
    number = int(answer[0])
    return ROLE_NAMES.get(number, str(number))


def _bounds_of(answer: Any) -> Rectangle | None:
    """The bounds in a reply; None for a widget without any."""
    if isinstance(answer, NoAccessibility):
        return None
    left, top, width, height = (int(each) for each in answer[0])
    return Rectangle(left, top, width, height) if width > 0 and height > 0 else None


def _bits(numbers: Sequence[int], words: int) -> list[int]:
    """Numbers as set bits of signed 32-bit words."""
    values = [0] * words
    for number in numbers:
        values[number // 32] |= 1 << (number % 32)
    return [value - (1 << 32) if value >= 1 << 31 else value for value in values]
