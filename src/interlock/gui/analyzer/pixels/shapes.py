"""Shapes: filled blocks, dimmed backgrounds and empty pages."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from ...screenshot.frame import TILE_HEIGHT, TILE_WIDTH, Frame
from .boxes import VIVID, Box, runs

DIMMED = (60, 190)
"""No theme's background is that grey; a white one under a modal's shade is."""

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
    # The window's own frame and title are always there.
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
