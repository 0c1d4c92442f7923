"""Question: a dialog that asks for confirmation and input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Button, Input, Label, Static

from .line import clean


class Field(Struct, frozen=True):
    """An input field."""

    name: str
    label: str
    hint: str = ""
    required: bool = False
    known: tuple[str, ...] = ()


FieldValues = dict[str, str]


class Question(ModalScreen[FieldValues | None]):
    """Returns what was typed, or None for no. If `hurts` is set, Enter means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "no", "No"),
        Binding("y", "yes", "Yes", show=False),
        Binding("n", "no", "No", show=False),
        Binding("left,up", "app.focus_previous", show=False),
        Binding("right,down", "app.focus_next", show=False),
    ]

    def __init__(
        self,
        title: str,
        text: str | Content,
        *,
        yes: str,
        no: str = "No",
        fields: Sequence[Field] = (),
        hurts: bool = False,
    ) -> None:
        super().__init__()
        self._title, self._text, self._yes, self._no = title, text, yes, no
        self._fields, self._hurts = tuple(fields), hurts

    def compose(self) -> ComposeResult:
        text = Content(clean(self._text)) if isinstance(self._text, str) else self._text
        with Vertical(id="dialog", classes="hurts" if self._hurts else ""):
            yield Label(Content(clean(self._title)), id="dialog-title")
            with VerticalScroll(id="dialog-body", can_focus=False):
                yield Static(text, id="dialog-text")
            for field in self._fields:
                yield Label(field.label, classes="field-label")
                suggester = SuggestFromList(field.known, case_sensitive=False) if field.known else None
                yield Input(placeholder=field.hint, id=f"field-{field.name}", suggester=suggester)
            yield Label("", id="dialog-problem")
            with Horizontal(id="dialog-buttons"):
                yield Button(self._yes, variant="error" if self._hurts else "primary", id="yes")
                yield Button(self._no, id="no")

    def on_mount(self) -> None:
        required = [field for field in self._fields if field.required]
        if required:
            self.query_one(f"#field-{required[0].name}", Input).focus()
        else:
            self.query_one("#no" if self._hurts else "#yes", Button).focus()

    def action_yes(self) -> None:
        answers = {field.name: self.query_one(f"#field-{field.name}", Input).value.strip() for field in self._fields}
        missing = next((field for field in self._fields if field.required and not answers[field.name]), None)
        if missing is not None:
            self.query_one("#dialog-problem", Label).update(f"{missing.label} is needed.")
            self.query_one(f"#field-{missing.name}", Input).focus()
            return
        self.dismiss(answers)

    def action_no(self) -> None:
        self.dismiss(None)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "yes":
            self.action_yes()
        else:
            self.action_no()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        """Enter goes to the next field, and from the last one to the button."""
        inputs = list(self.query(Input))
        after = inputs[inputs.index(event.input) + 1 :]
        (after[0] if after else self.query_one("#yes", Button)).focus()
