"""Tests whether bubblewrap can create namespaces on this machine."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from ..core import pin_programs, verified

TRY_S = 10.0

INSTALL = "Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap)"
NAMESPACES = Path("/proc/sys/user/max_user_namespaces")
APPARMOR = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
CLONE = Path("/proc/sys/kernel/unprivileged_userns_clone")


def find_bubblewrap() -> str | None:
    """The path of bwrap, which the sandbox protects; None if it is missing or was replaced."""
    try:
        return verified("bwrap")
    except OSError:
        return None


def base_words(program: str, *, fenced: bool = False, read_only: bool = False) -> tuple[str, ...]:
    """The bubblewrap command with its namespaces: as root without a user namespace, so that apt, chown and su work."""
    user = () if os.geteuid() == 0 else ("--unshare-user",)
    network = ("--unshare-net", "--unshare-ipc") if fenced else ()
    return (program, *user, "--unshare-pid", "--as-pid-1", *network, "--ro-bind" if read_only else "--bind", "/", "/")


def why_not(*, fenced: bool = False) -> str:
    """Why namespaces cannot be created, and how to fix it; empty if it works."""
    pin_programs("bwrap", protected=True)
    program = find_bubblewrap()
    if program is None:
        return f"bubblewrap is not installed. {INSTALL}"
    words = [*base_words(program, fenced=fenced, read_only=fenced), "--proc", "/proc", "--", "/bin/sh", "-c", ":"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRY_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap cannot be run ({error})"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return f"{said[-1] if said else 'bubblewrap failed'}. {_advice()}"


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
