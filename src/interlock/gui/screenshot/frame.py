"""Frame: the raw pixels of a screen, and which tiles of it changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from PIL.Image import Image

TILE_WIDTH, TILE_HEIGHT = 32, 20
"""A 1920x1080 screen has 60 by 54 of them."""

CARET_TILES = 4
"""Up to this many changed tiles are a blinking caret or a clock; a new toast changes more than a hundred."""


class Frame:
    """A screen as BGRX pixels: `pixels` is a (height, width) array with one 32-bit number per pixel."""

    __slots__ = ("_lightness", "height", "pixels", "width")

    def __init__(self, width: int, height: int, bgrx: bytes | bytearray | memoryview) -> None:
        self.width, self.height = width, height
        self.pixels: Any = np.frombuffer(bgrx, dtype="<u4").reshape(height, width)
        self._lightness: Any = None

    @classmethod
    def from_image(cls, image: Image) -> Frame:
        return cls(image.width, image.height, image.convert("RGB").tobytes("raw", "BGRX"))

    def to_image(self) -> Image:
        from PIL import Image

        return Image.frombuffer("RGB", (self.width, self.height), self.pixels.tobytes(), "raw", "BGRX", 0, 1)

    def channels(self) -> Any:
        """The pixels as a (height, width, 3) array of blue, green, red."""
        return self.pixels.view("u1").reshape(self.height, self.width, 4)[:, :, :3]

    def lightness(self) -> Any:
        """Brightness of every pixel, 0 to 255, as signed numbers that can be subtracted; computed once."""
        if self._lightness is None:
            self._lightness = np.asarray(self.to_image().convert("L"), dtype=np.int16)
        return self._lightness

    def crop(self, left: int, top: int, width: int, height: int) -> Frame:
        part = np.ascontiguousarray(self.pixels[top : top + height, left : left + width])
        return Frame(part.shape[1], part.shape[0], part.tobytes())


def changed_tiles(before: Frame, after: Frame) -> Any:
    """Which tiles differ, as a grid of booleans; every tile where the sizes differ."""
    rows, columns = -(-after.height // TILE_HEIGHT), -(-after.width // TILE_WIDTH)
    if (before.width, before.height) != (after.width, after.height):
        return np.ones((rows, columns), dtype=bool)
    differs = before.pixels != after.pixels
    down, across = rows * TILE_HEIGHT - after.height, columns * TILE_WIDTH - after.width
    if down or across:
        differs = np.pad(differs, ((0, down), (0, across)))
    return differs.reshape(rows, TILE_HEIGHT, columns, TILE_WIDTH).any(axis=(1, 3))


def is_unchanged(before: Frame | None, after: Frame | None) -> bool:
    """True when nothing more than a caret moved."""
    if before is None or after is None:
        return False
    if (before.width, before.height) == (after.width, after.height) and np.array_equal(before.pixels, after.pixels):
        return True
    return int(changed_tiles(before, after).sum()) <= CARET_TILES
