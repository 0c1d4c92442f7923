"""Leaving without tidying up what goes with the process anyway."""

from __future__ import annotations

import os
import sys


def leave_at_once() -> None:
    """End here with the status that is being raised, if everything is said: to free all that was read takes a while."""
    left = sys.exc_info()[1]
    if not isinstance(left, SystemExit) or not isinstance(left.code, int):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Python says so in its own way.
        return
    os._exit(left.code)
