"""Boxes: rectangles with a thin border, which is how panels, dialogs, input boxes and buttons are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from ...screenshot.frame import Frame

STEP = 10
"""A border differs at least this much in brightness from both of its sides."""

EVEN = 24
"""A border has one colour, up to this much in each channel (JPEG is not exact)."""

MIN_WIDTH, MIN_HEIGHT = 40, 14

CORNER = 8
"""Rounded corners shorten the sides by up to this much."""

VIVID = 60
"""From this difference between the channels on a colour is not a grey."""

MAX_LINES = 1500
"""More horizontal lines than this are a picture, not a user interface."""


class Box(Struct, frozen=True):
    """A rectangle and the colour of its border (red, green, blue)."""

    left: int
    top: int
    right: int
    bottom: int
    colour: tuple[int, int, int]

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def is_vivid(self) -> bool:
        """A ring in the theme's accent colour: what it surrounds has keyboard focus."""
        return max(self.colour) - min(self.colour) >= VIVID

    def contains(self, other: Box, margin: int = 0) -> bool:
        return (
            self.left - margin <= other.left
            and other.right <= self.right + margin
            and self.top - margin <= other.top
            and other.bottom <= self.bottom + margin
        )


def find_boxes(frame: Frame) -> list[Box]:
    """All boxes, from the top down."""
    pixels = frame.channels()[:, :, ::-1]
    lines = _lines(pixels, _thin(frame.lightness()))
    if len(lines) > MAX_LINES:
        return []
    found = []
    for index, (top, left, right, colour) in enumerate(lines):
        for bottom, other_left, other_right, other_colour in lines[index + 1 :]:
            if (
                bottom - top >= MIN_HEIGHT
                and abs(left - other_left) <= CORNER
                and abs(right - other_right) <= CORNER
                and _alike(colour, other_colour)
                and _has_sides(pixels, (top, bottom, left, right), colour)
            ):
                found.append(Box(left, top, right, bottom, colour))
                break
    return found


def runs(mask: Any, shortest: int) -> list[tuple[int, int, int]]:
    """Row, start and end of every horizontal run of set pixels."""
    padded = np.zeros((mask.shape[0], mask.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = mask
    change = np.diff(padded, axis=1)
    rows, starts = np.nonzero(change == 1)
    ends = np.nonzero(change == -1)[1]
    long = ends - starts >= shortest
    return list(zip(rows[long].tolist(), starts[long].tolist(), ends[long].tolist(), strict=True))


def _thin(brightness: Any) -> Any:
    """Pixels that differ from what is three above and three below."""
    found = np.zeros(brightness.shape, dtype=bool)
    middle, above, below = brightness[3:-3], brightness[:-6], brightness[6:]
    found[3:-3] = (np.abs(middle - above) >= STEP) & (np.abs(middle - below) >= STEP)
    return found


def _lines(pixels: Any, thin: Any) -> list[tuple[int, int, int, tuple[int, int, int]]]:
    """Thin horizontal lines of one colour."""
    found = []
    for row, start, end in runs(thin, MIN_WIDTH):
        part = pixels[row, start:end].astype(np.int16)
        colour = np.median(part, axis=0)
        if (np.abs(part - colour).max(axis=1) <= EVEN).mean() >= 0.9:
            red, green, blue = (int(each) for each in colour)
            found.append((row, start, end, (red, green, blue)))
    return found


def _has_sides(pixels: Any, place: tuple[int, int, int, int], colour: tuple[int, int, int]) -> bool:
    """Whether lines of the same colour join top and bottom on both sides."""
    top, bottom, left, right = place
    wanted = np.array(colour, dtype=np.int16)
    for low, high in ((max(left - CORNER, 0), left + CORNER - 2), (right - CORNER + 2, right + CORNER)):
        band = pixels[top + 4 : bottom - 3, low:high].astype(np.int16)
        if not band.size or (np.abs(band - wanted).max(axis=2) <= EVEN + 16).mean(axis=0).max() < 0.6:
            return False
    return True


def _alike(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= EVEN
