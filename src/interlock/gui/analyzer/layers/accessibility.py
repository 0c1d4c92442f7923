"""The accessibility layer: dialogs, notifications and the keyboard's place as programs describe them."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...desktop.accessibility import Accessibility, Dialog, NoAccessibility, Node
from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, nothing, ok, problem
from ..result import ReplayStatus, ScreenSituation

DIALOG, ERROR, TERMINAL = ReplayStatus.DIALOG_BLOCKING, ReplayStatus.ERROR_STATE, ReplayStatus.TERMINAL_FOCUS

NOTIFICATION = "Clear Notification"
"""A button that only the editor's notifications have."""

QUIET_NOTIFICATION = re.compile(r"^Info(rmation)?:", re.IGNORECASE)

FIND_BOX = "find / replace"

RECONNECT = re.compile(r"reconnect|reload window", re.IGNORECASE)


class AccessibilityLayer:
    """Asks the accessibility bus.

    `is_behind` knows whether a window with a title is behind the session's; `title` is what the active window says.
    """

    name = "accessibility"

    def __init__(
        self,
        accessibility: Accessibility,
        is_behind: Callable[[str], bool] = lambda title: False,
        title: Callable[[], str] = lambda: "",
    ) -> None:
        self._accessibility, self._is_behind, self._title = accessibility, is_behind, title

    def look(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            frames = self._accessibility.frames()
            if not frames:
                return nothing(self.name, "no program is accessible")
            dialogs, focused = self._accessibility.look(frames)
        except NoAccessibility as error:
            if "no answer" in error.what:
                return problem(self.name, ERROR, "stalled", "error", 0.6, f"a program does not respond ({error.what})")
            return nothing(self.name, error.what)
        found = [evidence for dialog in dialogs if (evidence := self._judge(dialog, focused))]
        if found:
            return max(found, key=lambda each: each.confidence)
        return self._focus(focused)

    def _judge(self, dialog: Dialog, focused: list[Node]) -> Evidence | None:
        """What a dialog means; None for one that takes nothing from the session."""
        names = [button.name for button in dialog.buttons]
        words = f"{dialog.text[:120]!r} ({', '.join(names[:4])})"
        if any(name.startswith(NOTIFICATION) for name in names):
            if QUIET_NOTIFICATION.match(dialog.text):
                return None
            status = ERROR if dialog.text.startswith("Error") else DIALOG
            return problem(self.name, status, "notification", "error", 0.95, f"notification {words}")
        if dialog.text.casefold() == FIND_BOX:
            inside = any(node.role == "entry" and node.name in ("Find", "Replace") for node in focused)
            return (
                problem(self.name, DIALOG, "input_box", "focus", 0.9, "the find box has keyboard focus")
                if inside
                else None
            )
        if any(RECONNECT.search(name) for name in names):
            return problem(self.name, ERROR, "disconnected", "error", 0.97, f"the editor lost its server: {words}")
        if names == ["Reload"] and not dialog.text:
            return problem(self.name, ERROR, "crashed", "error", 0.95, "the editor's page has crashed")
        if any("Close Modal Editor" in name for name in names):
            return problem(self.name, DIALOG, "modal_editor", "dialog", 0.95, "another editor covers the session's")
        if not names or (dialog.is_window and self._is_behind(dialog.text)):
            return None
        return problem(self.name, DIALOG, "dialog", "dialog", 0.95, f"dialog {words}")

    def _focus(self, focused: list[Node]) -> Evidence:
        for node in focused:
            if node.role == "list item":
                return problem(
                    self.name, DIALOG, "input_box", "focus", 0.9, f"a list has keyboard focus: {node.name[:60]!r}"
                )
            if node.role == "entry" and node.name.startswith("Terminal"):
                return problem(self.name, TERMINAL, "terminal", "focus", 0.9, "a terminal has keyboard focus")
            if node.role in ("entry", "text", "password text") and _is_box(node, self._title):
                says = f"an input box has keyboard focus: {node.name[:60]!r}"
                return problem(self.name, DIALOG, "input_box", "focus", 0.88, says)
        if any(node.role == "entry" for node in focused):
            return ok(self.name, "no dialog, keyboard focus is in an editor", 0.9, "dialog", "error", "focus")
        return ok(self.name, "no dialog", 0.8, "dialog", "error")


def _is_box(node: Node, title: Callable[[], str]) -> bool:
    """A box to type into, other than the text editor, which says that it is not accessible or is named as its file."""
    if not node.name or "editor is not accessible" in node.name.casefold() or node.place is None:
        return False
    file = node.name.partition(", ")[0]
    return not re.search(rf"(?:^|[\s/\\●]){re.escape(file)}(?:\s|$)", title())
