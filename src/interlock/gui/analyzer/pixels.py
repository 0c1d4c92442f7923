"""Pixel analysis: boxes, blocks, dimmed backgrounds, empty pages, and text by OCR."""

from __future__ import annotations

import io
import subprocess
from typing import Any

import numpy as np
from msgspec import Struct

from ...core import find_program, run_program
from ..screenshot.frame import TILE_HEIGHT, TILE_WIDTH, Frame

STEP = 10
"""A border differs at least this much in brightness from both of its sides."""

EVEN = 24
"""A border has one colour, up to this much in each channel (JPEG is not exact)."""

MIN_WIDTH, MIN_HEIGHT = 40, 14

CORNER = 8
"""Rounded corners shorten the sides by up to this much."""

VIVID = 60
"""From this difference between channels, a colour is not a grey."""

MAX_LINES = 1500
"""With more horizontal lines than this it is a picture, not a user interface."""


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


def _has_sides(pixels: Any, edges: tuple[int, int, int, int], colour: tuple[int, int, int]) -> bool:
    """Whether lines of the same colour connect top and bottom on both sides."""
    top, bottom, left, right = edges
    wanted = np.array(colour, dtype=np.int16)
    for low, high in ((max(left - CORNER, 0), left + CORNER - 2), (right - CORNER + 2, right + CORNER)):
        band = pixels[top + 4 : bottom - 3, low:high].astype(np.int16)
        if not band.size or (np.abs(band - wanted).max(axis=2) <= EVEN + 16).mean(axis=0).max() < 0.6:
            return False
    return True


def _alike(one: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) <= EVEN


DIMMED = (60, 190)
"""No theme has a background in this range; a white one behind a modal dialog has."""

DARK = 45
"""Backgrounds up to this brightness are those of dark themes."""


class ScreenBackground(Struct, frozen=True):
    """The most frequent brightness, how much of the screen has it, and how many tiles show anything else."""

    brightness: int
    share: float
    busy_tiles: float
    is_grey: bool


def background(frame: Frame) -> ScreenBackground:
    """What most of the screen looks like."""
    small = frame.lightness()[::4, ::4]
    counts = np.bincount(small.ravel(), minlength=256)
    # Neighbouring values are one colour: JPEG and gradients are not exact.
    smooth = np.convolve(counts, (1, 1, 1), "same")
    level = int(smooth.argmax())
    sample = frame.channels()[::4, ::4].astype(np.int16)[np.abs(small - level) <= 1]
    grey = bool((sample.max(axis=1) - sample.min(axis=1)).mean() < 25)
    return ScreenBackground(level, float(smooth[level] / small.size), _busy_tiles(frame, level), grey)


def _busy_tiles(frame: Frame, level: int) -> float:
    differs = np.abs(frame.lightness() - level) > 12
    rows, columns = frame.height // TILE_HEIGHT, frame.width // TILE_WIDTH
    if rows < 5 or columns < 5:
        return 1.0
    tiles = differs[: rows * TILE_HEIGHT, : columns * TILE_WIDTH].reshape(rows, TILE_HEIGHT, columns, TILE_WIDTH)
    # Without the window's own frame and title, which are always there.
    return float((tiles.mean(axis=(1, 3)) > 0.02)[2:-1, 1:-1].mean())


def bright_box(frame: Frame, level: int) -> Box | None:
    """The large, filled, bright rectangle in front of a dimmed background."""
    bright = frame.lightness() > level + 50
    wide = runs(bright[::2], 120)
    best: tuple[int, Box] | None = None
    groups: dict[tuple[int, int], list[int]] = {}
    for row, start, end in wide:
        groups.setdefault((start // 8, end // 8), []).append(row * 2)
    for (left, right), rows in groups.items():
        if len(rows) < 15 or (right - left) * 8 > 0.97 * frame.width:
            continue
        box = Box(left * 8, min(rows), right * 8 + 8, max(rows) + 2, (255, 255, 255))
        size = len(rows) * box.width
        if best is None or size > best[0]:
            best = (size, box)
    return best[1] if best else None


def has_filled_button(frame: Frame, box: Box) -> bool:
    """Whether the lower part of a box holds a button filled with an accent colour."""
    top = box.top + box.height // 3
    part = frame.channels()[top : box.bottom, box.left : box.right].astype(np.int16)
    if not part.size:
        return False
    vivid = part.max(axis=2) - part.min(axis=2) >= VIVID
    rows: dict[int, int] = {}
    for _, start, _end in runs(vivid, 30):
        rows[start // 6] = rows.get(start // 6, 0) + 1
    return any(6 <= count <= 60 for count in rows.values())


def has_red_icon(frame: Frame, box: Box) -> bool:
    """Whether the upper left of a box holds something red of an icon's size."""
    part = frame.channels()[box.top : box.top + 48, box.left : box.left + 48].astype(np.int16)
    if not part.size:
        return False
    red = (part[:, :, 2] - np.maximum(part[:, :, 0], part[:, :, 1])) >= 70
    return 15 <= int(red.sum()) <= 450


def solid_cursor(frame: Frame, panel: Box) -> Box | None:
    """A filled block of a character's size in a panel: how a terminal draws its cursor while it has keyboard focus."""
    part = frame.lightness()[panel.top + 2 : panel.bottom - 2, panel.left + 2 : panel.right - 2]
    if part.size == 0:
        return None
    level = int(np.bincount(part.ravel(), minlength=256).argmax())
    filled = np.abs(part - level) >= 90
    for row, start, end in runs(filled, 7):
        if end - start > 16:
            continue
        height = _height(filled, row, start, end)
        if not 13 <= height <= 30 or not 1.3 <= height / (end - start) <= 3.2:
            continue
        if _stands_alone(filled, row, height, start, end) and _is_one_colour(part, row, height, start, end):
            left, top = panel.left + 2 + start, panel.top + 2 + row
            return Box(left, top, left + end - start, top + height, (0, 0, 0))
    return None


def _height(filled: Any, row: int, start: int, end: int) -> int:
    """How many rows from here down are filled over the whole width; 0 if the row above is filled too."""
    if row and filled[row - 1, start:end].all():
        return 0
    full = filled[row : row + 40, start:end].all(axis=1)
    return int(full.argmin()) if not full.all() else len(full)


def _stands_alone(filled: Any, row: int, height: int, start: int, end: int) -> bool:
    around = [
        filled[max(row - 2, 0) : max(row - 1, 1), start:end],
        filled[row + height + 1 : row + height + 2, start:end],
        filled[row : row + height, max(start - 1, 0) : start],
        filled[row : row + height, end : end + 6],
    ]
    return all(not side.size or side.mean() < 0.15 for side in around)


def _is_one_colour(part: Any, row: int, height: int, start: int, end: int) -> bool:
    block = part[row + 1 : row + height - 1, start + 1 : end - 1]
    return bool(block.size and block.max() - block.min() <= 30)


TIMEOUT_S = 5.0
MAX_PIXELS = 1_000_000
"""OCR of a full screen takes half a second and is full of errors; parts are read at twice their size."""


def read_text(frame: Frame, box: Box) -> str:
    """The text in a part of the screen; empty if there is none or tesseract is not installed."""
    if find_program("tesseract") is None or box.width * box.height > MAX_PIXELS:
        return ""
    image = frame.crop(box.left, box.top, box.width, box.height).to_image().convert("L")
    image = image.resize((image.width * 2, image.height * 2))
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=1)
    try:
        # One thread: more are slower on crops of this size.
        one = {"OMP_THREAD_LIMIT": "1"}
        words = ["tesseract", "stdin", "stdout", "--psm", "6"]
        done = run_program(words, env=one, given=buffer.getvalue(), timeout=TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return " ".join(done.stdout.decode(errors="replace").split()) if done.returncode == 0 else ""
