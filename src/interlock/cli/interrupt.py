"""Ctrl-C while modules are imported: Python loses it there, with a traceback, so we leave by ourselves."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # bare: this is imported before anything else
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130


def leave_quietly() -> None:
    """From now on Ctrl-C ends us at once, for nothing has been started yet. If it is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def listen_again() -> None:
    """From now on Ctrl-C is a KeyboardInterrupt, which the running code can clean up after."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
