"""Signal handling from the start: Ctrl-C during imports, where Python would print a traceback; and SIGCHLD, which our
parent may have ignored."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # not signal: this is imported before anything else
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130


def leave_quietly() -> None:
    """From now on Ctrl-C exits at once: nothing has been started yet. If it is ignored, it stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def listen_again() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, so that running code can clean up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def see_children_end() -> None:
    """Reset an ignored SIGCHLD: otherwise neither we nor bubblewrap get the exit status of children. Some programs
    ignore it, and their children inherit that."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(INTERRUPTED)
