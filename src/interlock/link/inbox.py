"""The inbox of a run: a folder for requests while there is no owner."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from ..control import MAX_MESSAGE
from ..core import open_regular
from ..journal import write_whole
from .peer import user_name

SUFFIX = ".json"


class InboxRequest(Struct, frozen=True):
    """A request in the inbox, its age by the file system's clock, and its sender."""

    path: Path
    data: bytes
    age: float
    actor: str


def leave_request(inbox: Path, request_id: str, attempt: int, data: bytes) -> Path:
    """Leave one copy of a request, written atomically."""
    inbox.mkdir(mode=0o700, exist_ok=True)
    from _blake2 import blake2b  # hashlib loads a library of ciphers

    name = f"{blake2b(request_id.encode(), digest_size=12).hexdigest()}.{attempt}"
    path = inbox / f"{name}{SUFFIX}"
    write_whole(path, data)
    return path


def collect_requests(inbox: Path) -> Iterator[InboxRequest]:
    """The requests in the inbox, the oldest first. The receiver removes the files."""
    try:
        files = [path for path in inbox.iterdir() if path.suffix == SUFFIX and not path.name.startswith(".")]
    except FileNotFoundError:
        return
    found = []
    for path in files:
        # A sender removes its request when it reaches the owner after all.
        with contextlib.suppress(OSError), open_regular(path) as file:
            info = os.fstat(file.fileno())
            # One byte too many shows that it is too long.
            found.append((info.st_mtime, path, file.read(MAX_MESSAGE + 1), info.st_uid))
    for mtime, path, data, uid in sorted(found):
        yield InboxRequest(path, data, max(0.0, time.time() - mtime), f"{user_name(uid)} (inbox)")
