"""The server layer: whether the editor's server still answers; the window shows its loss only 40 seconds later."""

from __future__ import annotations

from collections.abc import Callable

from ....core import Clock, SystemClock
from ...screenshot.screenshot import Screenshot
from ..evidence import Evidence, ok, problem
from ..result import ReplayStatus, ScreenSituation

EVERY_S = 0.5
"""A server that has just answered is not asked again for so long: it has other work to do."""


class ServerLayer:
    """Asks whether the server is there."""

    name = "server"

    def __init__(self, answers: Callable[[], bool], clock: Clock | None = None) -> None:
        self._answers, self._clock = answers, clock or SystemClock()
        self._answered: float | None = None

    def look(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        if self._is_there():
            return ok(self.name, "the server responds", 0.3, "server")
        says = "the editor's server does not respond"
        return problem(self.name, ReplayStatus.ERROR_STATE, "server_gone", "server", 0.95, says)

    def _is_there(self) -> bool:
        now = self._clock.monotonic()
        if self._answered is None or now - self._answered >= EVERY_S:
            self._answered = now if self._answers() else None
        return self._answered is not None
