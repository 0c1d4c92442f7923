"""`interlock run` in a fork of the warm start, on behalf of a thin process that has imported nothing."""

from __future__ import annotations

import sys
import traceback

from ..adapters.command import ThinCaller
from . import exit_status, run_start  # noqa: F401  imported ahead
from .plain_run import read_plain, run_plain


def run_warm(caller: ThinCaller, arguments: list[str]) -> None:
    """Run this command line for its caller, which exits like the run. Returns in the run's owner, at its end."""
    options = read_plain(arguments)
    if options is None:
        caller.refuse()
    sys.argv = ["interlock", *arguments]
    status: object = 1
    try:
        run_plain(options)
        return
    except SystemExit as left:
        status = left.code
    except BaseException:  # noqa: BLE001  like Python at the top level
        traceback.print_exc()
    caller.leave(f"exit {status if isinstance(status, int) else 0 if status is None else 1}")
