"""The server layer: whether the editor's server still answers; the window shows its loss only 40 seconds later."""

from __future__ import annotations

from collections.abc import Callable

from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, ok, problem
from ..result import ReplayStatus, Situation


class ServerLayer:
    """Asks whether the server is there."""

    name = "server"

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers

    def look(self, screenshot: Screenshot | None, situation: Situation) -> Evidence:
        if self._answers():
            return ok(self.name, "the server answers", 0.3, "server")
        says = "the editor's server does not answer"
        return problem(self.name, ReplayStatus.ERROR_STATE, "server_gone", "server", 0.95, says)
