"""Run ids: twelve characters that sort by time and can be typed."""

from __future__ import annotations

import os
import re
import time

from ..core import BadInput

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no i, l, o or u to misread."""

TICKS = 32
"""Parts of a second that ids tell apart by time; within one part they differ by chance (one in a million)."""

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def new_run_id(now: float | None = None) -> str:
    """A fresh id: eight characters of time, four of chance."""
    moment = int((time.time() if now is None else now) * TICKS)
    return _digits(moment, 8) + _digits(int.from_bytes(os.urandom(3), "big"), 4)


def check_run_id(run_id: str) -> str:
    """The id itself if it can be the name of a folder."""
    if not is_run_id(run_id):
        raise BadInput(
            f"{run_id[:80]!r} cannot be a run id", todo="Use up to 64 letters, digits, dots, dashes and underscores."
        )
    return run_id


def is_run_id(name: str) -> bool:
    """Whether a name can be a run's."""
    return _SAFE.fullmatch(name) is not None


def _digits(number: int, width: int) -> str:
    return "".join(ALPHABET[number >> 5 * place & 31] for place in reversed(range(width)))
