"""How every command ends: an error is one line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

from ..core import InterlockError
from .interrupt import INTERRUPTED
from .output import say_error


def exit_with(command: Callable[[], object]) -> NoReturn:
    """Call the command and exit with the status that it returns; an InterlockError becomes one line and its status."""
    try:
        status = command()
    except InterlockError as error:
        say_error(str(error))
        raise SystemExit(error.exit_status) from None
    except BrokenPipeError:
        # The reader of our output is gone (| head).
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None
    except OSError as error:
        # The disk, the current folder or the output is gone: not a bug, so no traceback.
        where = f"{error.filename}: " if error.filename else ""
        say_error(f"{where}{error.strerror or error}. Check the disk, the folder and the permissions")
        raise SystemExit(4) from None
    raise SystemExit(status if isinstance(status, int) else 0)
