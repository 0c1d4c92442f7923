"""Screens of an editor, drawn afresh: themes, sizes and places differ from picture to picture."""

from __future__ import annotations

import random

from PIL import Image, ImageDraw, ImageFont

from interlock.gui import Screenshot

Colour = tuple[int, int, int]


class Theme:
    """The colours of a theme."""

    def __init__(self, dark: bool) -> None:
        self.dark = dark
        self.ground: Colour = (31, 31, 31) if dark else (255, 255, 255)
        self.panel: Colour = (24, 24, 24) if dark else (248, 248, 248)
        self.border: Colour = (60, 60, 60) if dark else (220, 220, 220)
        self.text: Colour = (204, 204, 204) if dark else (40, 40, 40)
        self.accent: Colour = (0, 120, 212) if dark else (0, 95, 184)


class Drawn:
    """An editor's window with a file list and text; more can be laid over it."""

    def __init__(self, seed: int, *, dark: bool = False, terminal: bool = False) -> None:
        self.chance = random.Random(seed)
        self.theme = Theme(dark)
        self.width, self.height = self.chance.choice([(1920, 1080), (1600, 900), (1440, 900)])
        self.image = Image.new("RGB", (self.width, self.height), self.theme.ground)
        self.draw = ImageDraw.Draw(self.image)
        self.font = ImageFont.load_default(size=15)
        self._layout()
        self.terminal_top = int(self.height * 0.66)
        if terminal:
            self._terminal(focused=False)

    def shot(self) -> Screenshot:
        return Screenshot.of_image(self.image, 1.0)

    def focus_terminal(self) -> None:
        self._terminal(focused=True)

    def dialog(self) -> None:
        """A modal: everything is dimmed, a bright box with buttons in the middle."""
        shade = Image.new("RGB", self.image.size, (0, 0, 0))
        self.image = Image.blend(self.image, shade, 0.4)
        self.draw = ImageDraw.Draw(self.image)
        left, top = self.width // 2 - 240 + self.chance.randint(-40, 40), self.height // 3
        self._box(left, top, 480, 170, self.theme.ground, self.theme.border)
        self._words(left + 30, top + 30, "Do you want to save the changes?")
        self._button(left + 40, top + 110, "Save")
        self._button(left + 190, top + 110, "Cancel")

    def input_box(self) -> None:
        """A box at the top with a ring around the line that is typed into."""
        left = self.width // 2 - 300
        self._box(left, 30, 600, 220, self.theme.panel, self.theme.border)
        self._box(left + 8, 36, 584, 26, self.theme.ground, self.theme.accent)
        for line in range(6):
            self._words(left + 20, 74 + line * 26, f"main_{line}.py")

    def notification(self) -> None:
        """An error in the lower right corner."""
        left, top = self.width - 480, self.height - 170
        self._box(left, top, 450, 110, self.theme.panel, self.theme.border)
        self.draw.ellipse((left + 12, top + 14, left + 28, top + 30), outline=(229, 20, 0), width=3)
        self._words(left + 40, top + 14, "Failed to save main.py: the file is newer.")
        self._button(left + 300, top + 70, "Compare")

    def foreign_window(self) -> None:
        """A window of another program, with the window manager's dark border."""
        left, top = self.width // 2 - 180, self.height // 2 - 100
        edge: Colour = (210, 210, 210) if self.theme.dark else (60, 60, 60)
        self._box(left, top, 360, 180, (236, 236, 236), edge)
        self._words(left + 30, top + 40, "Unlock keyring?", (30, 30, 30))

    def crash(self) -> None:
        """A page that is empty but for a message."""
        self.image = Image.new("RGB", (self.width, self.height), (255, 255, 255))
        self.draw = ImageDraw.Draw(self.image)
        self._words(self.width // 3, self.height // 3, "Aw, Snap! Something went wrong.", (60, 60, 60))

    def _layout(self) -> None:
        theme = self.theme
        side = self.chance.randint(220, 320)
        self.draw.rectangle((0, 0, self.width, 34), fill=theme.panel)
        self.draw.rectangle((0, 34, side, self.height - 24), fill=theme.panel)
        self.draw.rectangle((0, self.height - 24, self.width, self.height), fill=theme.panel)
        self.draw.line((side, 34, side, self.height - 24), fill=theme.border)
        for line in range(self.chance.randint(4, 12)):
            self._words(28, 60 + line * 22, self.chance.choice(["main.py", "notes.md", "data.yaml", "README"]))
        for line in range(self.chance.randint(25, 36)):
            words = " ".join(self.chance.choice(WORDS) for _ in range(self.chance.randint(2, 8)))
            self._words(side + 60, 80 + line * 19, words)

    def _terminal(self, *, focused: bool) -> None:
        theme, top = self.theme, self.terminal_top
        self._box(330, top, self.width - 334, self.height - 26 - top, theme.panel, theme.border)
        self._words(345, top + 40, "user@host:~/work$")
        box = (500, top + 40, 509, top + 57)
        if focused:
            self.draw.rectangle(box, fill=theme.text)
        else:
            self.draw.rectangle(box, outline=theme.text)

    def _box(self, left: int, top: int, width: int, height: int, fill: Colour, border: Colour) -> None:
        self.draw.rectangle((left, top, left + width, top + height), fill=fill, outline=border, width=1)

    def _button(self, left: int, top: int, words: str) -> None:
        self.draw.rectangle((left, top, left + 120, top + 28), fill=self.theme.accent)
        self._words(left + 30, top + 6, words, (255, 255, 255))

    def _words(self, left: int, top: int, words: str, colour: Colour | None = None) -> None:
        self.draw.text((left, top), words, font=self.font, fill=colour or self.theme.text)


WORDS = (
    "def", "return", "value", "Error:", "raise", "failed", "Traceback", "(most", "recent)", "x = 1", "[1, 2]", "#", "save",
    "Don't Save", "Delete", "{", "}", "class", "reconnect",
)  # fmt: skip
