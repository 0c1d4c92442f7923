"""Title: what the editor's window title says of its state."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from .profile import AUTOMATED

TEXT_EDITOR, TERMINAL = "Text Editor", "Terminal"
"""Names of focused views; the view is empty while a dialog, the palette or the find box has keyboard focus."""

EDITORS = ("visual studio code", "code-server", "vscodium")

_TITLE = re.compile(
    r"(?:(?P<file>.*?) \| )?dirty=(?P<dirty>[^|]*?) \| view=(?P<view>[^|]*?) \| state=(?P<state>[^|]*?) \| "
    rf"(?:(?P<root>.*?) \| )?(?:{AUTOMATED} \| )?Visual Studio Code",
    re.DOTALL,
)


class TitleState(Struct, frozen=True):
    """The open file (absolute path where there is one), whether it has unsaved changes, and what has keyboard focus."""

    file: str
    dirty: bool
    view: str
    state: str = ""
    root: str = ""

    @property
    def is_file(self) -> bool:
        """Whether a file is open; welcome pages and settings are none, and take no text."""
        return self.file.startswith("/")


def is_editors(title: str) -> bool:
    """Whether a title is an editor's, with our template or without it."""
    return any(name in title.casefold() for name in EDITORS)


def parse_title(title: str) -> TitleState | None:
    """The state that a title tells; None if it was not made by our template. The editor writes the home folder as ~."""
    found = _TITLE.search(title.replace("\u200e", ""))
    if found is None:
        return None
    return TitleState(
        os.path.expanduser((found["file"] or "").strip()),  # noqa: PTH111  a title's text, not a path yet
        bool(found["dirty"].strip()),
        found["view"].strip(),
        found["state"].strip(),
        (found["root"] or "").strip(),
    )
