"""Signals as they have to be from the start: Ctrl-C while modules are imported, which Python loses there, with a
traceback, so that we leave by ourselves; and the ends of children, which whoever called us may ignore."""

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


def see_children_end() -> None:
    """Be told how our children end: where that is ignored, the kernel says of none of them how it ended, to us or to
    bubblewrap. A process is started with it ignored by programs that do not care for their own."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
