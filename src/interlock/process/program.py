"""Checks whether a program exists and can be run, before anything is created for it."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from ..core import BadInput, RunSpec, open_regular

NOT_EXECUTABLE, NOT_FOUND = 126, 127
"""The exit statuses of a shell for a command that it cannot start."""

FIRST_LINE = 256
"""Bytes of a file that the kernel reads to determine how to run it."""

SCRIPT = b"#!"
FORMATS = Path("/proc/sys/fs/binfmt_misc")
"""Additional binary formats of this kernel, one file each next to two control files."""


class CannotStart(BadInput):
    """Raised if the command does not exist or cannot be run; the exit status is the shell's."""

    def __init__(self, what: str, *, where: str = "", todo: str = "", found: bool = False) -> None:
        super().__init__(what, where=where, todo=todo)
        self.exit_status = NOT_EXECUTABLE if found else NOT_FOUND


def refuse_missing_program(spec: RunSpec, env: Mapping[str, str]) -> None:
    """Raise BadInput if `spec.argv` cannot be started in `spec.cwd`, as far as that is known in advance."""
    if not spec.argv:
        raise BadInput("there is no command to start", todo="Put one after --.")
    name = spec.argv[0]
    folders = [""] if os.path.dirname(name) else os.get_exec_path(env)  # noqa: PTH120  ./x has a folder, x has none
    # Not Path.exists, which raises an error for a folder of PATH that we may not search.
    places = [Path(spec.cwd or "", folder, name) for folder in folders if name]
    found = [path for path in places if os.path.exists(path)]  # noqa: PTH110
    runnable = [path for path in found if path.is_file() and os.access(path, os.X_OK)]
    problems = [problem_of(path) for path in runnable]
    if None in problems:
        return
    number = errno.EACCES if found else errno.ENOENT
    raise cannot_start(spec, next(filter(None, problems), OSError(number, os.strerror(number), name)))


def problem_of(program: Path) -> OSError | None:
    """Why the kernel would refuse an executable file, according to its first bytes; None if unknown."""
    try:
        with open_regular(program, links=True) as file:
            begin = file.read(FIRST_LINE)
    except OSError:
        # An unreadable file may still be executable.
        return None
    if begin.startswith(SCRIPT):
        words = begin[len(SCRIPT) :].partition(b"\n")[0].split()
        interpreter = Path(os.fsdecode(words[0])) if words else Path()
        if words and interpreter.is_absolute() and not interpreter.exists():
            return FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)}: {interpreter}", str(program))
    elif b"\0" not in begin and not runs_by_name():
        return OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC), str(program))
    return None


def runs_by_name() -> bool:
    """Whether this kernel runs files by their extension, so that a text without a #! line may be a program."""
    try:
        formats = [path for path in FORMATS.iterdir() if path.name not in ("register", "status")]
        return any("extension" in path.read_text(errors="replace") for path in formats)
    except OSError:
        return False


def cannot_start(spec: RunSpec, error: Exception) -> CannotStart:
    """The error message if the system refuses to start the command."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if isinstance(error, OSError) and spec.cwd and error.filename == spec.cwd != spec.argv[0]:
        return CannotStart(f"cannot start in this folder ({reason})", where=spec.cwd, todo="Choose one that exists.")
    todo = "Check that it is installed and spelled correctly."
    found = isinstance(error, PermissionError)
    if spec.argv[0] and Path(spec.cwd or "", spec.argv[0]).is_dir():
        todo = "Specify a program, not a folder."
    elif isinstance(error, PermissionError):
        todo = "Make it executable with chmod +x, or put its interpreter first."
    elif isinstance(error, OSError) and error.errno == errno.ENOEXEC:
        found, todo = True, "Add a first line such as #!/bin/sh, or put its interpreter first."
    return CannotStart(f"cannot start {spec.argv[0]!r} ({reason})", todo=todo, found=found)
