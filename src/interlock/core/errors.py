"""Errors that a person reads: what happened, where, and what to do; and text from outside that steers no terminal."""

from __future__ import annotations


class InterlockError(Exception):
    """Raised when something cannot continue. One line for a person; `exit_status` for the shell."""

    exit_status = 4

    def __init__(self, what: str, *, where: str = "", todo: str = "") -> None:
        self.what, self.where, self.todo = what, where, todo
        line = f"{where}: {what}" if where else what
        stop = "" if line.endswith((".", "?", "!", ":")) else "."
        super().__init__(f"{line}{stop} {todo}" if todo else line)


class BadInput(InterlockError):
    """Raised when input or usage is wrong."""

    exit_status = 2


class MissingExtra(BadInput):
    """Raised when packages of an optional part are not installed; names the command that installs them."""

    def __init__(self, what: str, extra: str, *, where: str = "") -> None:
        super().__init__(f"{what} not installed", where=where, todo=f"Run: {install_command(extra)}")


def install_command(extra: str) -> str:
    """The command that adds an extra to this installation."""
    import os
    import shlex
    import shutil
    import sys
    from importlib.util import find_spec

    if shutil.which("pip") == os.path.join(sys.prefix, "bin", "pip"):  # noqa: PTH118  the very words
        words = ["pip", "install"]
    elif find_spec("pip") is not None:
        words = [sys.executable, "-m", "pip", "install"]
    else:
        words = ["uv", "pip", "install", "--python", sys.executable]
    *options, source = _source()
    return shlex.join([*words, *options, f"{source}[{extra}]"])


def _source() -> list[str]:
    """What to install from: the clone or file that this installation came from, otherwise the package's name."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    try:
        origin = json.loads(distribution("interlock").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    url = urlsplit(origin.get("url", ""))
    place = Path(unquote(url.path))
    if url.scheme != "file" or not place.exists():
        return ["interlock"]
    return ["--editable", str(place)] if origin.get("dir_info", {}).get("editable") else [str(place)]


class NotFound(InterlockError):
    """Raised when no such run, checkpoint or incident exists."""

    exit_status = 3


class InvalidState(InterlockError):
    """Raised when the thing asked for does not fit the state that it is in."""


class Unknown(InterlockError):
    """Raised when the outcome is not known: neither done nor failed."""

    exit_status = 5


CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
TURNING = (0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
HARMLESS = dict.fromkeys((*CONTROL, *TURNING), "\N{REPLACEMENT CHARACTER}")
"""What would steer a terminal, or turn the direction of a text so that it reads as another; tabs and new lines stay."""

ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *TURNING)}
"""The same within JSON, where what is below a space is escaped anyway."""


def printable(text: str) -> str:
    """A text with every control character replaced."""
    return text if text.isascii() and text.isprintable() else _surrogates(text).translate(HARMLESS)


def _surrogates(text: str) -> str:
    """File names may have bytes that are not text: no stream takes those."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
