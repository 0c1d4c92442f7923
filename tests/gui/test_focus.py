"""Where programs say that the keyboard is: in the text, or in a box over it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from interlock.gui.accessibility import Accessibility, Dialog, Node, Reference
from interlock.gui.analyzer.evidence import ScreenSituation
from interlock.gui.analyzer.layers import AccessibilityLayer
from interlock.gui.windows import Rectangle

PLACE = Rectangle(300, 100, 800, 20)


class OneFocus(Accessibility):
    """A screen on which one thing has keyboard focus."""

    def __init__(self, node: Node) -> None:
        super().__init__()
        self._node = node

    def frames(self) -> list[Reference]:
        return [("bus", "/frame")]

    def dialogs_and_focus(self, frames: Sequence[Reference]) -> tuple[list[Dialog], list[Node]]:
        return [], [self._node]


def inspect(name: str, title: str, place: Rectangle | None = PLACE) -> str:
    layer = AccessibilityLayer(OneFocus(Node(("bus", "/node"), "entry", name, place)), title=lambda: title)
    return layer.inspect(None, ScreenSituation()).verdict


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("notes.md", "notes.md - work - code-server"),
        ("notes.md", "● notes.md - work - Visual Studio Code"),
        ("notes.md, Editor Group 2", "notes.md - work - Visual Studio Code"),
        ("notes.md", "/home/a/notes.md | dirty= | view=Text Editor | state= | work | Visual Studio Code"),
        ("The editor is not accessible at this time.", "notes.md - work - code-server"),
    ],
)
def test_a_text_is_named_as_its_file(name: str, title: str) -> None:
    assert inspect(name, title) == "ok"


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("Search files by name", "notes.md - work - code-server"),
        ("Find", "Finder.md - work - code-server"),
        ("notes.md", ""),
        ("s.md", "notes.md - work - code-server"),
    ],
)
def test_anything_else_with_a_name_and_a_place_is_a_box(name: str, title: str) -> None:
    assert inspect(name, title) == "problem"
