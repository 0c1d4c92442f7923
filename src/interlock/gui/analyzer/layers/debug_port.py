"""The debugging-port layer: the editor's own page says what is open and where the keyboard is."""

from __future__ import annotations

from typing import Any

from ...desktop.debug_port import Blocked, DebugPort, NoAnswer
from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, nothing, ok, problem
from ..result import ReplayStatus, ScreenSituation

DIALOG, ERROR, TERMINAL = ReplayStatus.DIALOG_BLOCKING, ReplayStatus.ERROR_STATE, ReplayStatus.TERMINAL_FOCUS

PROBE = """(() => {
  const shown = e => !!e && e.getClientRects().length > 0;
  const at = document.activeElement, inside = s => !!(at && at.closest(s));
  const one = s => [...document.querySelectorAll(s)].find(shown);
  const box = one('.monaco-dialog-box');
  const toast = one('.notifications-toasts .notification-list-item .codicon-error');
  return {
    dialog: box ? box.innerText.slice(0, 200) : '',
    modal: !!one('.modal-editor-part, .monaco-modal-editor-block'),
    error: toast ? toast.closest('.notification-list-item').innerText.slice(0, 200) : '',
    box: inside('.quick-input-widget') ? 'quick input' : inside('.find-widget') ? 'find box' : '',
    terminal: inside('.xterm, .terminal-wrapper'),
    editor: inside('.editor-instance, .editor-group-container .monaco-editor'),
  };
})()"""


class DebugPortLayer:
    """Asks the page; a page that does not answer is blocked by a native dialog, or dead."""

    name = "debugging port"

    def __init__(self, port: DebugPort) -> None:
        self._port = port

    def look(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        try:
            found = self._port.evaluate(PROBE)
        except Blocked:
            says = "the page does not respond: a native dialog blocks it, or it has crashed"
            return problem(self.name, DIALOG, "native_dialog", "dialog", 0.8, says)
        except NoAnswer as error:
            return nothing(self.name, str(error))
        return self._judge(found) if isinstance(found, dict) else nothing(self.name, "the page reports nothing")

    def _judge(self, found: dict[str, Any]) -> Evidence:
        if found.get("dialog"):
            return problem(self.name, DIALOG, "dialog", "dialog", 0.97, f"dialog {found['dialog']!r}")
        if found.get("error"):
            return problem(self.name, ERROR, "notification", "error", 0.95, f"notification {found['error']!r}")
        if found.get("modal"):
            return problem(self.name, DIALOG, "modal_editor", "dialog", 0.9, "another editor covers the session's")
        if found.get("box"):
            return problem(self.name, DIALOG, "input_box", "focus", 0.95, f"the {found['box']} has keyboard focus")
        if found.get("terminal"):
            return problem(self.name, TERMINAL, "terminal", "focus", 0.95, "a terminal has keyboard focus")
        if found.get("editor"):
            return ok(self.name, "keyboard focus is in the text", 0.9, "dialog", "error", "focus")
        return ok(self.name, "no dialog", 0.7, "dialog", "error")
