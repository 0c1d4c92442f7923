"""Steered: the keys that steer a run, the same on every page; and the bar with the keys that work now."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from ..control import Command, Waiting
from ..report import RunRow
from .background_tasks import run_in_background
from .drawing import Drawing
from .line import Line, Piece, line_width
from .question import Field, FieldValues, Question
from .run_rows import short_model

if TYPE_CHECKING:
    from .app import Top


T = TypeVar("T")

REASON = Field("reason", "Reason (recorded)", "optional")

LIVE = ("running", "pausing", "paused", "lost", "unknown")
HELD = ("pausing", "paused")


class Steered(Screen[None]):
    """A page with a run to steer: the one under the cursor, or the one that it shows."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "pause", "Pause"),
        Binding("r", "resume", "Resume"),
        Binding("c", "cancel", "Cancel"),
        Binding("e", "escalate", "Escalate"),
        Binding("a", "approve", "Approve"),
        Binding("x", "reject", "Reject"),
    ]

    @property
    def top(self) -> Top:
        from .app import Top

        assert isinstance(self.app, Top)
        return self.app

    def chosen(self) -> RunRow | None:
        """The run that the keys steer."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what the run's state allows; the run itself has the last word."""
        if action not in ("pause", "resume", "cancel", "escalate", "approve", "reject"):
            return True
        run = self.chosen()
        if run is None or run.status not in LIVE:
            return False
        if action in ("approve", "reject"):
            return bool(run.waiting)
        if action == "resume":
            return run.status != "running"
        return True

    def shows(self, action: str) -> bool:
        """Whether the key bar lists an available action: not one that another key covers, nor one that would only say
        why it is impossible."""
        run = self.chosen()
        if run is None:
            return True
        if action == "pause":
            return run.status not in HELD
        return action != "escalate" or not run.cannot_switch

    def action_pause(self) -> None:
        """Pause, or resume what is paused, as in the dashboard."""
        run = self.chosen()
        if run is not None:
            self.top.send("resume" if run.status in HELD else "pause", run)

    def action_resume(self) -> None:
        run = self.chosen()
        if run is not None:
            self.top.send("resume", run)

    def action_cancel(self) -> None:
        run = self.chosen()
        if run is None:
            return
        text = "The agent and all its processes are ended. Its files stay as they are; checkpoints remain."
        question = Question(
            f"Cancel {run.name or run.run_id}?", text, yes="Cancel the run", no="Keep it", fields=(REASON,), hurts=True
        )
        self.top.push_screen(question, lambda answers: self._order("cancel", run, answers))

    def action_escalate(self) -> None:
        run = self.chosen()
        if run is None:
            return
        if run.cannot_switch:
            self.top.complain(f"Cannot escalate: {run.cannot_switch}.")
            return
        known = self.top.stronger_models(run.model)
        names = ", ".join(known[:8]) or "none known"
        text = f"Now: {short_model(run.model)}. Stronger: {names}."
        fields = (Field("model", "Model", known[0] if known else "", required=True, known=known), REASON)
        question = Question(f"Escalate {run.name or run.run_id}", text, yes="Escalate", no="Not now", fields=fields)
        self.top.push_screen(question, lambda answers: self._order("escalate", run, answers))

    def action_approve(self) -> None:
        self._answer("approve")

    def action_reject(self) -> None:
        self._answer("reject")

    def _answer(self, command: Command) -> None:
        run = self.chosen()
        if run is None:
            return

        def read_waiting() -> Waiting | None:
            with self.top.source.open(run.run_id) as story:
                return story.waiting

        def ask(waiting: Waiting | None) -> None:
            if waiting is None or waiting.kind != "approval":
                self.top.notify("No step of this run needs approval any more.", severity="warning", markup=False)
                return
            verb = "Approve" if command == "approve" else "Reject"
            self.top.push_screen(
                Question(f"{verb} step {waiting.step}?", waiting.text, yes=verb, no="Not now", fields=(REASON,)),
                lambda answers: self._order(command, run, answers, **call_of(waiting)),
            )

        self.in_background("interlock-waiting", read_waiting, ask)

    def in_background(self, name: str, work: Callable[[], T], done: Callable[[T], object]) -> None:
        """Do slow work in a thread, then call `done` in the page's own; an error is shown."""
        top = self.top
        run_in_background(
            name, work, lambda made: top.call_later(done, made), lambda error: top.call_later(top.complain, str(error))
        )

    def _order(self, command: Command, run: RunRow, answers: FieldValues | None, **more: object) -> None:
        if answers is None:
            return
        reason = answers.get("reason") or None
        payload: dict[str, object] = dict(more)
        if "model" in answers:
            payload["model"] = answers["model"]
        if reason is not None and command in ("escalate", "approve", "reject"):
            payload["reason"] = reason
        self.top.send(command, run, payload, reason)


def call_of(waiting: Waiting) -> dict[str, object]:
    """The step and digest of the call that the user saw."""
    return {"step": waiting.step, **({"digest": waiting.digest} if waiting.digest else {})}


MESSAGE_S = 4.0


class KeyBar(Drawing):
    """Drawn from the bindings of the page; what does not fit is left to the help. A click presses the key.

    A success is shown here for a moment, before the keys, where it covers nothing.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._row, id=id)
        self._message = ""
        self._timer: Timer | None = None

    def say(self, words: str) -> None:
        """Show a message for a few seconds."""
        if self._timer is not None:
            self._timer.stop()
        self._message = words
        self._timer = self.set_timer(MESSAGE_S, self._forget)
        self.redraw()

    def _forget(self) -> None:
        self._message = ""
        self.redraw()

    def on_click(self, event: events.Click) -> None:
        at = line_width(self._message_pieces())
        for binding, pieces in self._shown(self.content_size.width):
            at += line_width(pieces)
            if event.x < at:
                self.app.simulate_key(binding.key)
                return

    def _row(self, width: int) -> list[Line]:
        return [(*self._message_pieces(), *(piece for _, pieces in self._shown(width) for piece in pieces))]

    def _message_pieces(self) -> Line:
        return ((f"✓ {self._message}   ", "good"),) if self._message else ()

    def _shown(self, width: int) -> list[tuple[Binding, tuple[Piece, ...]]]:
        offered = {
            active.binding.action: active.binding
            for active in self.screen.active_bindings.values()
            if active.binding.show and active.enabled and _is_shown(self.screen, active.binding)
        }
        width -= line_width(self._message_pieces())
        bindings = sorted(offered.values(), key=_rank)
        drawn = [(each, _draw(each)) for each in bindings]
        while len(drawn) > 1 and sum(line_width(pieces) for _, pieces in drawn) > width:
            # The help lists the rest, so it stays.
            drawn.pop(-2)
        return drawn


def _is_shown(screen: Screen[object], binding: Binding) -> bool:
    return not isinstance(screen, Steered) or screen.shows(binding.action)


_ORDER = ("pause", "resume", "approve", "reject", "escalate", "cancel", "incident", "open", "go_back", "diff", "back",
          "search", "filter", "app.quit", "help")  # fmt: skip


def _rank(binding: Binding) -> int:
    return _ORDER.index(binding.action) if binding.action in _ORDER else len(_ORDER) - 3


def _draw(binding: Binding) -> tuple[Piece, ...]:
    key = binding.key_display or {"escape": "Esc", "enter": "Enter"}.get(binding.key, binding.key)
    return ((key, "link!"), (f" {binding.description}  ", ""))
