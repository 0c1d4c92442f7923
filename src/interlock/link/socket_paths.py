"""Paths of sockets: in the user's runtime directory, short enough for the kernel."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from ..core import InterlockError, read_small, write_whole

MAX_SOCKET_PATH = 107
"""Bytes of a socket's path; the kernel allows 108 with the terminating NUL."""

LONGEST_NAME = len("/0123456789abcdef/egress.4194304")
"""The longest name in the folder: a run's socket while it is being created, with the process id."""

SOCKET_NOTE = "socket"
"""The file in a run's folder that says where its socket is."""


def runtime_dir() -> Path:
    """Our private directory for sockets, created if needed."""
    choices = _choices()
    for choice in choices:
        if (
            choice.parent.is_dir()
            and len(os.fsencode(choice)) + LONGEST_NAME <= MAX_SOCKET_PATH
            and _make_private(choice)
        ):
            return choice
    raise InterlockError(
        f"no directory for sockets: {choices[-1]} is accessible to others",
        todo="Set XDG_RUNTIME_DIR to a private directory.",
    )


def socket_folders() -> tuple[Path, ...]:
    """Every folder that may contain our sockets: a process with another environment uses another one."""
    return tuple(path for path in _choices() if _is_private(path))


def socket_path(folder: Path) -> Path:
    """The path of a run's socket, which is always the same."""
    from _blake2 import blake2b  # hashlib loads a library of ciphers

    name = blake2b(os.fsencode(folder.resolve()), digest_size=8).hexdigest()
    return runtime_dir() / f"{name}.sock"


def listen(path: Path, backlog: int = 128) -> socket.socket:
    """A listening socket that only this user can connect to; replaces an earlier one."""
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise InterlockError(f"the path is longer than {MAX_SOCKET_PATH} bytes", where=str(path))
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    draft = path.with_name(f"{path.name[:12]}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        listener.bind(str(draft))
        draft.chmod(0o600)
        listener.listen(backlog)
        # Renamed once ready, so that a client that finds it can connect.
        draft.replace(path)
    except OSError as error:
        listener.close()
        raise InterlockError(f"cannot listen ({error.strerror})", where=str(path)) from error
    return listener


def note_socket(folder: Path, path: Path) -> None:
    """Record in the run's folder where its socket is."""
    write_whole(folder / SOCKET_NOTE, f"{path}\n".encode())


def noted_socket(folder: Path) -> Path | None:
    """The recorded path of a run's socket; None if it never had one."""
    try:
        return Path(os.fsdecode(read_small(folder / SOCKET_NOTE)).strip())
    except OSError:
        return None


def serve_socket() -> Path:
    """Where installed hooks find the resident supervisor."""
    return runtime_dir() / "serve.sock"


def gates_folder() -> Path:
    """Where installed hooks find the gate of their session."""
    return runtime_dir() / "gates"


def is_served(path: Path) -> bool:
    """Whether a process listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        return sock.connect_ex(str(path)) == 0


def _choices() -> list[Path]:
    base = os.environ.get("XDG_RUNTIME_DIR")
    user = os.geteuid()
    return [
        *([Path(base) / "interlock"] if base else []),
        Path(f"/run/user/{user}/interlock"),
        Path(f"/tmp/interlock-{user}"),
    ]


def _make_private(path: Path) -> bool:
    """Create a private directory; False if it belongs to or is open to others."""
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return False
    return _is_private(path)


def _is_private(path: Path) -> bool:
    try:
        info = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(info.st_mode) and info.st_uid == os.geteuid() and not info.st_mode & 0o077
