"""KeyBar: the keys that do something here and now, in one row."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.screen import Screen
from textual.timer import Timer

from .control_keys import Steered
from .drawing import Drawing
from .line import Line, Piece, line_width

SAID_S = 4.0


class KeyBar(Drawing):
    """Drawn from the bindings of the page; what does not fit is left to the help. A click presses the key.

    What went well is said here, for a moment and before the keys: nothing that is read is covered by it.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._row, id=id)
        self._said = ""
        self._timer: Timer | None = None

    def say(self, words: str) -> None:
        """Say something for a few seconds."""
        if self._timer is not None:
            self._timer.stop()
        self._said = words
        self._timer = self.set_timer(SAID_S, self._forget)
        self.redraw()

    def _forget(self) -> None:
        self._said = ""
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        at = line_width(self._words())
        for binding, pieces in self._shown(self.content_size.width):
            at += line_width(pieces)
            if event.x < at:
                self.app.simulate_key(binding.key)
                return

    def _row(self, width: int) -> list[Line]:
        return [(*self._words(), *(piece for _, pieces in self._shown(width) for piece in pieces))]

    def _words(self) -> Line:
        return ((f"✓ {self._said}   ", "good"),) if self._said else ()

    def _shown(self, width: int) -> list[tuple[Binding, tuple[Piece, ...]]]:
        offered = {
            active.binding.action: active.binding
            for active in self.screen.active_bindings.values()
            if active.binding.show and active.enabled and _is_shown(self.screen, active.binding)
        }
        width -= line_width(self._words())
        bindings = sorted(offered.values(), key=_place)
        drawn = [(each, _draw(each)) for each in bindings]
        while len(drawn) > 1 and sum(line_width(pieces) for _, pieces in drawn) > width:
            # The help says the rest, so it stays.
            drawn.pop(-2)
        return drawn


def _is_shown(screen: Screen[object], binding: Binding) -> bool:
    return not isinstance(screen, Steered) or screen.shows(binding.action)


_ORDER = ("pause", "resume", "approve", "reject", "escalate", "cancel", "incident", "open", "go_back", "diff", "back",
          "search", "filter", "app.quit", "help")  # fmt: skip


def _place(binding: Binding) -> int:
    return _ORDER.index(binding.action) if binding.action in _ORDER else len(_ORDER) - 3


def _draw(binding: Binding) -> tuple[Piece, ...]:
    key = binding.key_display or {"escape": "Esc", "enter": "Enter"}.get(binding.key, binding.key)
    return ((key, "link!"), (f" {binding.description}  ", ""))
