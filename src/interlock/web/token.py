"""The token: one a store, kept beside its runs, so that an open page finds in again after a restart."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from ..core import InterlockError
from ..journal import write_durably

NAME = ".web-token"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{40,}")


def keep_token(store: Path, *, new: bool = False) -> str:
    """The token of a store's dashboard; made if there is none, or if a new one is asked for."""
    path = store / NAME
    try:
        if not new and (known := _read(path)) is not None:
            return known
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        token = secrets.token_urlsafe(32)
        write_durably(path, token.encode() + b"\n")
    except OSError as error:
        raise InterlockError(
            f"the dashboard's token cannot be kept ({error.strerror})", where=str(path), todo="Set store.dir."
        ) from error
    return token


def _read(path: Path) -> str | None:
    """A token that only this user can have read; anything else is replaced."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "r") as file:
        about = os.fstat(handle)
        text = file.read(200).strip()
    return text if about.st_uid == os.getuid() and not about.st_mode & 0o077 and _TOKEN.fullmatch(text) else None
