"""Errors for people: what happened, where, and what to do; and text from outside made safe for a terminal."""

from __future__ import annotations


class InterlockError(Exception):
    """Raised when something cannot continue. The message is one line for a person; `exit_status` is for the shell."""

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
    """The command that adds an optional extra to this installation."""
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
    """What to install from: the clone or file that this installation came from, otherwise the package name."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import unquote, urlsplit

    try:
        origin = json.loads(distribution("interlock").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        origin = {}
    url = urlsplit(origin.get("url", ""))
    path = Path(unquote(url.path))
    if url.scheme != "file" or not path.exists():
        return ["interlock"]
    return ["--editable", str(path)] if origin.get("dir_info", {}).get("editable") else [str(path)]


class NotFound(InterlockError):
    """Raised when no such run, checkpoint or incident exists."""

    exit_status = 3


class InvalidState(InterlockError):
    """Raised when a request does not fit the current state of its target."""


class Unknown(InterlockError):
    """Raised when the outcome is unknown: neither done nor failed."""

    exit_status = 5


CONTROL = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
BIDIRECTIONAL = (0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
HARMLESS = dict.fromkeys((*CONTROL, *BIDIRECTIONAL), "\N{REPLACEMENT CHARACTER}")
"""Characters that control a terminal, or change text direction to disguise a text; tabs and newlines are kept."""

ESCAPED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *BIDIRECTIONAL)}
"""The same for JSON, which escapes characters below the space anyway."""


def printable(text: str) -> str:
    """The text with every control character replaced."""
    return text if text.isascii() and text.isprintable() else _surrogates(text).translate(HARMLESS)


def printable_path(path: str) -> str:
    """A path on one line: a line break in a name must not look like a line of ours. The workspace itself is a dot."""
    return printable(path).replace("\n", "\N{REPLACEMENT CHARACTER}") or "."


def _surrogates(text: str) -> str:
    """Replace surrogates: file names may contain bytes that are not text, which no stream accepts."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
