"""Pictures of a run's screen: listed and given out by name, from the run's own folder only."""

from __future__ import annotations

import os
import re
import stat

from msgspec import Struct

from ..core import NotFound
from ..journal import RunFolder

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.(png|jpe?g|webp)")
TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}
MAX_BYTES = 32 * 1024 * 1024


class StoredPicture(Struct, frozen=True):
    """One picture by its name, with when it was taken."""

    name: str
    time: float
    bytes: int


def list_pictures(folder: RunFolder) -> list[StoredPicture]:
    """All pictures of a run, oldest first."""
    found = []
    try:
        with os.scandir(folder.pictures) as entries:
            for entry in entries:
                if NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    found.append(StoredPicture(entry.name, about.st_mtime, about.st_size))
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda picture: (picture.time, picture.name))


def read_picture(folder: RunFolder, name: str) -> tuple[str, bytes]:
    """A picture's type and content; NotFound for whatever is not a picture of this run."""
    matched = NAME.fullmatch(name)
    if matched is None:
        raise NotFound("there is no such picture")
    try:
        handle = os.open(folder.pictures / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        raise NotFound("there is no such picture", todo="Old screenshots are deleted after a while.") from None
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
        os.close(handle)
        raise NotFound("there is no such picture")
    with os.fdopen(handle, "rb") as file:
        return TYPES[matched[1]], file.read()
