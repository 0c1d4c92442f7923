"""Exit without freeing memory that ends with the process anyway."""

from __future__ import annotations

import os
import sys


def leave_at_once() -> None:
    """Exit at once with the status that is being raised, if the output is flushed: freeing memory takes a while."""
    left = sys.exc_info()[1]
    if not isinstance(left, SystemExit) or not isinstance(left.code, int):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        # Python reports it.
        return
    os._exit(left.code)
