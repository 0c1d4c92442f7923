"""Whether there is such a program: found out before anything is made for it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from ..core import BadInput, RunSpec


def refuse_missing_program(spec: RunSpec, env: Mapping[str, str]) -> None:
    """Raise BadInput where `spec.argv` cannot be started in `spec.cwd`, as far as looking tells."""
    if not spec.argv:
        raise BadInput("there is no command to start", todo="Give one after --.")
    name = spec.argv[0]
    places = [""] if os.path.dirname(name) else os.get_exec_path(env)  # noqa: PTH120  ./x has a folder, x has none
    found = [path for place in places if (path := Path(spec.cwd or "", place, name)).exists()] if name else []
    if any(path.is_file() and os.access(path, os.X_OK) for path in found):
        return
    number = errno.EACCES if found else errno.ENOENT
    raise cannot_start(spec, OSError(number, os.strerror(number), name))


def cannot_start(spec: RunSpec, error: Exception) -> BadInput:
    """What a person reads where the system refuses to start the command."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, OSError) and spec.cwd and error.filename == spec.cwd:
        return BadInput(f"cannot start in this folder ({reason})", where=spec.cwd, todo="Name one that exists.")
    todo = "Is it installed, and spelled like this?"
    if Path(spec.cwd or "", spec.argv[0]).is_dir():
        todo = "Name a program, not a folder."
    elif isinstance(error, PermissionError):
        todo = "Make it executable with chmod +x, or name the program that runs it."
    return BadInput(f"cannot start {spec.argv[0]!r} ({reason})", todo=todo)
