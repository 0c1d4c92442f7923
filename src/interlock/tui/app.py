"""Top: the terminal UI with its pages."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ..config import Models
from ..control import Command
from ..core import Clock, SystemClock
from ..link import Requests, SentRequest
from ..report import RunRow
from .control_keys import KeyBar
from .fleet_page import FleetPage
from .line import DARK, LIGHT, clean, flat
from .pager import Pager, help_lines
from .run_page import RunPage
from .run_reader import RunSource


class Top(App[None]):
    """All runs, or one run. Only reads journals and sends control messages."""

    TITLE = "interlock top"
    CSS_PATH = "style.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark", "help", "Help", key_display="?"),
        Binding("t", "turn_theme", "Light/dark", show=False),
        Binding("ctrl+c", "quit", "Quit", show=False, priority=True),
    ]

    def __init__(self, source: RunSource, *, run_id: str | None = None, clock: Clock | None = None) -> None:
        super().__init__()
        self.source, self.clock = source, clock or SystemClock()
        self.steering = ControlRequests(
            source, timeout=source.timeout, changed=partial(self.call_later, self._show_sent), now=self.clock.time
        )
        self._first = run_id
        # No animation: for slow connections, and for people sensitive to motion.
        self.animation_level = "none"

    def on_mount(self) -> None:
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = LIGHT.name if is_light_terminal(os.environ) else DARK.name
        # A bug in a thread is shown as a notification, not as a traceback across the screen.
        threading.excepthook = self._note_crash
        self.push_screen(FleetPage(self.source))
        if self._first is not None:
            self.open_run(RunRow(run_id=self._first))

    def open_run(self, row: RunRow) -> None:
        """Show one run."""
        self.push_screen(RunPage(self.source, row))

    def send(
        self, command: Command, run: RunRow, payload: dict[str, object] | None = None, reason: str | None = None
    ) -> None:
        """Send a command to a run; its result is shown once it is known."""
        self.steering.send(command, run.run_id, payload, reason)

    def stronger_models(self, model: str | None) -> tuple[str, ...]:
        """Models that the run could be escalated to, the next stronger one first."""
        # Read on demand: the list of models takes longer than the first page.
        models = Models.from_config(self.source.config)
        names = [name for name in models.infos if name not in models.gone]
        if model is not None and models.known(model):
            names = [name for name in names if models.compare(name, model) == "stronger"]
        return tuple(sorted(names, key=lambda name: models.strength(name) or 0))

    def complain(self, words: str) -> None:
        """Show an error."""
        self.notify(clean(words), severity="error", timeout=10, markup=False)

    def action_help(self) -> None:
        if not isinstance(self.screen, Pager):
            self.push_screen(Pager("Keys", help_lines))

    def action_turn_theme(self) -> None:
        self.theme = LIGHT.name if self.current_theme.dark else DARK.name
        for screen in self.screen_stack:
            screen.refresh(layout=True)

    def on_unmount(self) -> None:
        threading.excepthook = threading.__excepthook__

    def _note_crash(self, crash: threading.ExceptHookArgs) -> None:
        name = crash.thread.name if crash.thread is not None else "a thread"
        self.call_later(self.complain, f"{name} failed: {crash.exc_type.__name__}: {crash.exc_value}")

    def _show_sent(self, sent: SentRequest) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, FleetPage | RunPage) and screen.is_mounted:
                screen.redraw()
        words = clean(f"{sent.command}: {sent.message or sent.notice or 'done'}")
        if sent.state == "failure":
            self.notify(words, severity="error", timeout=10, markup=False)
        elif sent.state == "unknown":
            title = "Outcome unknown: neither done nor failed"
            self.notify(words, title=title, severity="warning", timeout=15, markup=False)
        elif sent.state == "success":
            for bar in self.screen_stack[-1].query(KeyBar):
                bar.say(flat(words))
        elif sent.notice:
            self.notify(words, severity="warning", markup=False)

    def get_default_screen(self) -> Screen[None]:
        return Screen(id="_default")


def is_light_terminal(environment: dict[str, str] | os._Environ[str]) -> bool:
    """Whether the terminal reports a light background."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdigit() and int(background) in (7, 15)


DOING: dict[str, str] = {
    "pause": "pausing…", "resume": "resuming…", "cancel": "ending…", "escalate": "escalating",
    "approve": "approving", "reject": "rejecting…", "rollback": "rolling back",
}  # fmt: skip
"""What is shown while a run has not answered: never the requested state."""


class ControlRequests(Requests):
    """The requests of the terminal UI."""

    def doing(self, run_id: str) -> str:
        """A word for the last unanswered request to a run; empty if there is none."""
        waiting = [sent for sent in self.of(run_id) if sent.state == "sent"]
        return DOING[waiting[-1].command] if waiting else ""
