"""The programs that we start: found before an agent can put another in their place, and refused once they changed."""

from __future__ import annotations

import errno
import os
import sys
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The only folders in which our programs find others."""

KEPT = frozenset((
    "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
))  # fmt: skip
"""The variables that our programs get, beside those of the locale and of XDG: none makes a program load another."""


class Program:
    """A program as it was when it was found: its path without links, and its fingerprint.

    `writable`: an agent that runs as this user could replace it.
    """

    def __init__(self, path: str, *, protected: bool = False) -> None:
        self.path = os.path.realpath(path)
        self._fingerprint = fingerprint(self.path)
        self.writable = not protected and any(map(_is_writable, _and_parents(self.path)))

    def verify(self) -> str:
        """The path; PermissionError if another program is there now, or one that the agent could write."""
        if self.writable and _refuses_writable:
            raise PermissionError(errno.EPERM, "the agent could replace this program", self.path)
        if fingerprint(self.path) != self._fingerprint:
            raise PermissionError(errno.EPERM, "the program was replaced", self.path)
        return self.path


_refuses_writable = False


def refuse_writable_programs() -> None:
    """From now on, start nothing that an agent of this user could have written: for guard and fence."""
    global _refuses_writable
    _refuses_writable = True


def find_program(name: str, *, protected: bool = False) -> Program | None:
    """The program of this name as it is now; one that the agent cannot write comes first.

    `protected`: the sandbox keeps the agent from writing it, wherever it is.
    """
    folders = [folder for folder in os.get_exec_path() if folder.startswith("/")]
    paths = [name] if "/" in name else [os.path.join(folder, name) for folder in folders]  # noqa: PTH118  as it is called
    runnable = [path for path in dict.fromkeys(paths) if os.access(path, os.X_OK) and not os.path.isdir(path)]  # noqa: PTH112
    found = [Program(path, protected=protected) for path in runnable]
    return next((program for program in found if not program.writable), found[0] if found else None)


def run_program(
    words: Sequence[str],
    *,
    program: Program | None = None,
    env: Mapping[str, str] | None = None,
    given: bytes = b"",
    timeout: float | None = None,
    cwd: str | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, with `given` as its input, in a fixed environment and `env`: `program`, or else the one
    that had this name when it was first used. OSError if it is missing or was replaced, TimeoutExpired after that."""
    import subprocess

    return subprocess.run(
        words,
        executable=program.verify() if program is not None else verified(words[0]),
        env={**clean_environment(), **(env or {})},
        input=given,
        capture_output=True,
        timeout=timeout,
        cwd=cwd,
        check=False,
    )


def verified(name: str) -> str:
    """The path of a program that may be started now; OSError if it is missing, or was replaced since it was pinned, at
    the latest with its first use."""
    if name not in _used:
        pin_programs(name)
    program = _used[name]
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return program.verify()


def pin_programs(*names: str, protected: bool = False) -> None:
    """Find the programs that a run will need, as they are now, before its command starts."""
    _used.update({name: find_program(name, protected=protected) for name in names})


_used: dict[str, Program | None] = {}


def clean_environment() -> dict[str, str]:
    """Our environment without what makes programs load or start others."""
    kept = {key: value for key, value in os.environ.items() if key in KEPT or key.startswith(("LC_", "XDG_"))}
    return {**kept, "PATH": SYSTEM_PATH}


START = """\
import sys
sys.path[:] = eval(sys.argv[2])
module = sys.argv[1]
sys.argv[:] = [module, *sys.argv[3:]]
__import__(module, fromlist=["main"]).main()
"""


def own_command(module: str, *arguments: str) -> list[str]:
    """The command that calls the `main` of one of our modules, with the arguments in sys.argv[1:], in an isolated
    interpreter: nothing that an agent wrote is imported in place of our own modules."""
    return [sys.executable or "python3", "-I", "-S", "-c", START, module, ascii(import_folders()), *arguments]


_folders: list[str] = []


def import_folders() -> list[str]:
    """The folders that our modules come from, as of the first call: sys.path without the working directory, and without
    what PYTHONPATH adds unless packages are installed there."""
    if not _folders:
        # An isolated interpreter has the path that another process of ours chose.
        given = "" if sys.flags.isolated else os.environ.get("PYTHONPATH", "")
        added = {os.path.abspath(path) for path in given.split(os.pathsep)} if given else set()  # noqa: PTH100
        added -= {path for path in added if path.startswith((sys.prefix, sys.base_prefix))}
        foreign = {path for path in added if not any(map(_is_package, _names_in(path)))}
        folders = [os.path.abspath(path) for path in (sys.path if sys.flags.safe_path else sys.path[1:])]  # noqa: PTH100
        own = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
        # Our own folder is last: an editable installation may use import hooks, which -I -S does not load.
        _folders.extend([*(path for path in folders if path not in foreign), own])
    return _folders


def _is_package(name: str) -> bool:
    """Whether a folder with this name in it has us, what we need, or packages that somebody installed."""
    return name in ("interlock", "msgspec") or name.endswith((".dist-info", ".egg-info"))


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208  no imports
    except OSError:
        return []


def fingerprint(path: str) -> str:
    """A digest of a file's inode. Each write changes it, as the kernel sets the time of the last change (ctime), which
    nobody can set back; reading 4 MB of git would take longer than the start of a run may."""
    info = os.stat(path)  # noqa: PTH116  before each start
    parts = (info.st_dev, info.st_ino, info.st_mode, info.st_uid, info.st_size, info.st_mtime_ns, info.st_ctime_ns)
    return sha256(repr(parts).encode()).hexdigest()


def _and_parents(path: str) -> Iterator[str]:
    while path != "/":
        yield path
        path = os.path.dirname(path)  # noqa: PTH120  as above


def _is_writable(path: str) -> bool:
    """Whether a process of our user could replace this; as root, which could replace all, whether others could."""
    info, user = os.stat(path), os.geteuid()  # noqa: PTH116
    if user == 0:
        return info.st_uid != 0 or bool(info.st_mode & 0o022)
    return info.st_uid == user or os.access(path, os.W_OK)
