"""Screenshot: a picture of the screen, encoded on demand, and its unique file name."""

from __future__ import annotations

import base64
import io
import itertools
import os
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

    from .frame import Frame


MAX_WIDTH, MAX_HEIGHT = 1920, 1080
JPEG_QUALITY = 85
MAX_BYTES = 500_000
"""A larger picture is encoded again at lower quality."""

SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp"}


class Screenshot:
    """A picture: encoded bytes with their type and size, the screen's size, and when it was taken.

    `width` and `height` are the picture's; `screen_width` and `screen_height` the screen's, which differ if the
    picture was scaled down. `frame` has the raw pixels if the backend provides them.
    """

    __slots__ = ("_image_data", "frame", "height", "media_type", "screen_height", "screen_width", "timestamp", "width")

    def __init__(
        self,
        image_data: bytes | None = None,
        media_type: str = "image/jpeg",
        width: int = 0,
        height: int = 0,
        timestamp: float = 0.0,
        screen_width: int | None = None,
        screen_height: int | None = None,
        frame: Frame | None = None,
    ) -> None:
        self._image_data = image_data
        self.media_type, self.width, self.height, self.timestamp = media_type, width, height, timestamp
        self.screen_width = width if screen_width is None else screen_width
        self.screen_height = height if screen_height is None else screen_height
        self.frame = frame

    @classmethod
    def of_frame(cls, frame: Frame, timestamp: float) -> Screenshot:
        """A picture of raw pixels; encoded when needed."""
        width, height = fit(frame.width, frame.height)
        return cls(None, "image/jpeg", width, height, timestamp, frame.width, frame.height, frame)

    @classmethod
    def of_image(cls, image: Image, timestamp: float) -> Screenshot:
        """A picture of a decoded image; always JPEG."""
        from .frame import Frame

        return cls.of_frame(Frame.from_image(image), timestamp)

    @property
    def image_data(self) -> bytes:
        """The encoded picture."""
        if self._image_data is None:
            self._image_data = encode(self.frame.to_image()) if self.frame is not None else b""
        return self._image_data

    def to_base64(self) -> str:
        return base64.b64encode(self.image_data).decode("ascii")

    def save(self, path: str | Path) -> Path:
        """Write the picture and return its path: a time-stamped name in a folder, else the given name.

        `~` is expanded, folders are created, and the extension follows the picture's type.
        """
        target = Path(path).expanduser()
        suffix = SUFFIXES.get(self.media_type, ".bin")
        if target.is_dir() or str(path).endswith("/"):
            target = free_path(target, self.timestamp, suffix)
        elif target.suffix.lower() not in ((".jpg", ".jpeg") if suffix == ".jpg" else (suffix,)):
            target = target.with_name(target.name + suffix) if not target.suffix else target.with_suffix(suffix)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(self.image_data)
        return target

    def to_image(self) -> Image:
        """The picture as an image, at the picture's size."""
        from PIL import Image

        if self._image_data is None and self.frame is not None:
            return self.frame.to_image()
        return Image.open(io.BytesIO(self.image_data)).convert("RGB")

    def to_screen(self, x: float, y: float) -> tuple[int, int]:
        """A position in the picture as a position on the screen."""
        if not self.width or not self.height:
            return round(x), round(y)
        return round(x * self.screen_width / self.width), round(y * self.screen_height / self.height)


def fit(width: int, height: int) -> tuple[int, int]:
    """The size of a screenshot of a screen of this size."""
    scale = min(1.0, MAX_WIDTH / max(width, 1), MAX_HEIGHT / max(height, 1))
    return max(1, round(width * scale)), max(1, round(height * scale))


def encode(image: Image) -> bytes:
    """JPEG of at most 1920x1080 at quality 85, lower if that would exceed 500 KB."""
    size = fit(image.width, image.height)
    if size != image.size:
        from PIL import Image as Images

        image = image.resize(size, Images.Resampling.LANCZOS)
    data = b""
    for quality in (JPEG_QUALITY, 70, 55, 40):
        buffer = io.BytesIO()
        image.convert("RGB").save(buffer, "JPEG", quality=quality)
        data = buffer.getvalue()
        if len(data) <= MAX_BYTES:
            break
    return data


NAME = re.compile(r"screen-\d{8}T\d{12}Z-\d+-[0-9a-f]+\.(jpg|png|webp|bin)")
"""The names of our own pictures; nothing else is ever removed."""

_numbers = itertools.count(1)


def free_path(folder: Path, timestamp: float, suffix: str) -> Path:
    """A unique name in this folder: time, process and sequence number, a random part."""
    stamp = datetime.fromtimestamp(timestamp, UTC).strftime("%Y%m%dT%H%M%S%f")
    return folder / f"screen-{stamp}Z-{os.getpid() % 1000:03d}{next(_numbers):05d}-{secrets.token_hex(2)}{suffix}"
