"""Tests whether bubblewrap can create namespaces on this machine."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

from ..core import open_memory_file

TRY_S = 10.0
MOST_SAID = 10_000

INSTALL = "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)"
NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")


def find_bubblewrap() -> str | None:
    """The path of bwrap."""
    paths = (os.path.join(folder, "bwrap") for folder in os.get_exec_path() if folder)  # noqa: PTH118  as it is called
    return next((path for path in paths if os.access(path, os.X_OK) and os.path.isfile(path)), None)  # noqa: PTH113


def base_words(program: str, *, fenced: bool = False) -> tuple[str, ...]:
    """The bubblewrap command with its namespaces: as root without a user namespace, so that apt, chown and su work."""
    user = () if os.geteuid() == 0 else ("--unshare-user",)
    more = ("--unshare-net", "--unshare-ipc", "--ro-bind", "/", "/") if fenced else ("--bind", "/", "/")
    return (program, *user, "--unshare-pid", "--as-pid-1", *more)


def why_not(*, fenced: bool = False) -> str:
    """Why namespaces cannot be created, and how to fix it; empty if it works."""
    program = find_bubblewrap()
    if program is None:
        return f"bubblewrap is not installed. {INSTALL}"
    try:
        status, words = (_pop_early(fenced) or _Trial(program, fenced)).end()
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run ({error})"
    if status == 0:
        return ""
    said = words.decode("utf-8", "replace").strip().splitlines()
    return f"{said[-1] if said else 'bubblewrap failed'}. {_advice()}"


class _Trial:
    """Namespaces for a program that does nothing. Its stderr is a memory file, which survives our forks."""

    def __init__(self, program: str, fenced: bool) -> None:
        self._said = open_memory_file("bubblewrap")
        words = [*base_words(program, fenced=fenced), "--proc", "/proc", "--", "/bin/sh", "-c", ":"]
        nothing = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(words, stdin=nothing, stdout=nothing, stderr=self._said)
        except BaseException:
            os.close(self._said)
            raise

    def end(self) -> tuple[int, bytes]:
        """Its exit status and stderr."""
        try:
            return self._process.wait(TRY_S), os.pread(self._said, MOST_SAID, 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            os.close(self._said)


_early: dict[bool, _Trial] = {}


def try_early(*, fenced: bool) -> None:
    """Start the test for `why_not` now, while the process does other work."""
    program = find_bubblewrap()
    if program is not None:
        with contextlib.suppress(OSError):
            _early[fenced] = _Trial(program, fenced)


def forget_early() -> None:
    """Wait for tests that were started early and are not needed."""
    while _early:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            _early.popitem()[1].end()


def _pop_early(fenced: bool) -> _Trial | None:
    early = _early.pop(fenced, None)
    forget_early()
    return early


def _advice() -> str:
    if os.geteuid() == 0:
        return "This container may not create namespaces: allow it CAP_SYS_ADMIN, or run as an ordinary user"
    if _number(NAMESPACES) == 0:
        return "User namespaces are off: set sysctl user.max_user_namespaces to 10000"
    if _number(CLONE) == 0:
        return "User namespaces are off: set sysctl kernel.unprivileged_userns_clone=1"
    if _number(APPARMOR) == 1:
        return "AppArmor restricts user namespaces: add a profile for bwrap that allows userns"
    return "User namespaces are not available here"


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
