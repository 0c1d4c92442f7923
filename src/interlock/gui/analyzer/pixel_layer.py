"""The pixel layer: what the picture alone shows, for screens that expose nothing else."""

from __future__ import annotations

import re
from pathlib import PurePath

from ..screenshot.frame import Frame
from ..screenshot.screenshot import Screenshot
from . import pixels
from .evidence import Evidence, ReplayStatus, ScreenSituation, nothing, ok, problem
from .pixels import Box, ScreenBackground

DIALOG, ERROR, TERMINAL = ReplayStatus.DIALOG_BLOCKING, ReplayStatus.ERROR_STATE, ReplayStatus.TERMINAL_FOCUS

ERROR_WORDS = re.compile(
    r"reconnect|aw, ?snap|went wrong|crash|failed to|fatal|unable to|not respond|disconnected", re.IGNORECASE
)

PANEL_SHARE = 0.28
"""A box of at least this share of the screen's height is part of the layout."""

STARK = 80
"""A border that differs this much from the background belongs to a window manager, not to a theme."""

EMPTY_TILES = 0.08
"""A page with fewer busy tiles is empty except for a message; an editor with an empty file has twice as many."""


class PixelLayer:
    """Examines boxes, shades and blocks; reads text only where it found something."""

    name = "pixels"

    def __init__(self, over: str = "the editor") -> None:
        self._over = over

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        if screenshot is None:
            return nothing(self.name, "no screenshot")
        frame = screenshot.frame or Frame.from_image(screenshot.to_image())
        if frame.width < 320 or frame.height < 200:
            return nothing(self.name, "the screenshot is too small")
        background = pixels.background(frame)
        boxes = pixels.find_boxes(frame)
        panels = [box for box in boxes if box.height >= PANEL_SHARE * frame.height and not box.is_vivid]
        return (
            self._modal(frame, background, boxes)
            or self._ring(frame, boxes)
            or self._floating(frame, background, boxes, panels)
            or self._empty_page(frame, background, panels)
            or self._terminal(frame, panels)
            or self._wrong_file(frame, situation)
            or ok(self.name, f"nothing covers {self._over}", 0.6, "dialog")
        )

    def _modal(self, frame: Frame, background: ScreenBackground, boxes: list[Box]) -> Evidence | None:
        """A dimmed screen with something bright on it."""
        if not background.is_grey or background.share < 0.2:
            return None
        if not pixels.DIMMED[0] <= background.brightness <= pixels.DIMMED[1]:
            return self._shaded(frame, background, boxes)
        box = pixels.bright_box(frame, background.brightness)
        return (
            self._with_text(frame, box, "dialog", "dialog", 0.95, "the screen is dimmed behind a dialog")
            if box
            else None
        )

    def _shaded(self, frame: Frame, background: ScreenBackground, boxes: list[Box]) -> Evidence | None:
        """A large modal dialog hides most of the shade: look for the shade around it."""
        for box in boxes:
            if box.width < 0.3 * frame.width or box.height < 0.3 * frame.height or box.left < 40 or box.is_vivid:
                continue
            around = pixels.background(frame.crop(0, box.top, box.left - 8, box.height))
            within = pixels.background(frame.crop(box.left + 8, box.top + 8, box.width - 16, box.height - 16))
            dimmed = around.is_grey and pixels.DIMMED[0] <= around.brightness <= pixels.DIMMED[1]
            if dimmed and within.brightness > around.brightness + 50:
                return problem(
                    self.name, DIALOG, "modal_editor", "dialog", 0.9, "a large dialog covers a dimmed screen"
                )
        return None

    def _ring(self, frame: Frame, boxes: list[Box]) -> Evidence | None:
        """A ring in the accent colour: what it surrounds has keyboard focus, and the text has not."""
        ring = next((box for box in boxes if box.is_vivid and box.height <= 0.25 * frame.height), None)
        if ring is None:
            return None
        around = next((box for box in boxes if box is not ring and not box.is_vivid and box.contains(ring, 4)), None)
        if around and around.height <= 0.6 * frame.height and pixels.has_filled_button(frame, around):
            return self._with_text(frame, around, "dialog", "dialog", 0.9, "a button of a dialog has keyboard focus")
        where = f"at {ring.left},{ring.top}"
        return problem(self.name, DIALOG, "input_box", "focus", 0.88, f"an input box {where} has keyboard focus")

    def _floating(
        self, frame: Frame, background: ScreenBackground, boxes: list[Box], panels: list[Box]
    ) -> Evidence | None:
        """A box on top of the layout: another window, a notification, a dialog without shade."""
        for box in boxes:
            if box.is_vivid or box.width < 150 or not 80 <= box.height <= 0.7 * frame.height or box in panels:
                continue
            if box.width > 0.9 * frame.width or any(p.contains(box) and box.width > 0.8 * p.width for p in panels):
                continue
            stark = abs(sum(box.colour) / 3 - background.brightness) >= STARK
            if pixels.has_red_icon(frame, box):
                return self._with_text(frame, box, "notification", "error", 0.9, "an error notification", ERROR)
            if stark:
                return self._with_text(frame, box, "foreign_dialog", "window", 0.88, "another window is in front")
            if pixels.has_filled_button(frame, box):
                return self._with_text(frame, box, "dialog", "dialog", 0.88, "a box with buttons covers the editor")
        return None

    def _empty_page(self, frame: Frame, background: ScreenBackground, panels: list[Box]) -> Evidence | None:
        if panels or background.busy_tiles > EMPTY_TILES or background.brightness <= pixels.DARK:
            return None
        middle = Box(frame.width // 4, frame.height // 5, frame.width * 3 // 4, frame.height * 3 // 5, (0, 0, 0))
        words = pixels.read_text(frame, middle)
        says = f"the page is empty except for a message {words[:100]!r}"
        return problem(self.name, ERROR, "crashed", "error", 0.88, says)

    def _terminal(self, frame: Frame, panels: list[Box]) -> Evidence | None:
        for panel in panels:
            if panel.top > 0.2 * frame.height and panel.width > 0.4 * frame.width and pixels.solid_cursor(frame, panel):
                return problem(self.name, TERMINAL, "terminal", "focus", 0.86, "a terminal's cursor is filled")
        return None

    def _wrong_file(self, frame: Frame, situation: ScreenSituation) -> Evidence | None:
        """Read the tabs, if it is known which file should be open."""
        if situation.expected_file is None:
            return None
        expected = PurePath(situation.expected_file).name
        words = pixels.read_text(frame, Box(0, 0, frame.width, min(120, frame.height // 6), (0, 0, 0)))
        if not words or expected.casefold() in words.casefold():
            return None
        others = re.findall(r"[\w-]+\.[a-z]{1,4}\b", words)
        if not others:
            return None
        says = f"{others[0]} is open, not {expected}"
        return problem(self.name, ReplayStatus.WRONG_FILE, "wrong_file", "file", 0.7, says, others[0])

    def _with_text(
        self, frame: Frame, box: Box, kind: str, topic: str, confidence: float, says: str, status: ReplayStatus = DIALOG
    ) -> Evidence:
        """A problem with the text in its box."""
        words = pixels.read_text(frame, box)
        if ERROR_WORDS.search(words):
            status = ERROR
        full = f"{says}: {words[:160]!r}" if words else says
        return problem(self.name, status, kind, topic, confidence, full)  # type: ignore[arg-type]
