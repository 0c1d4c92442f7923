"""interlock gui: replay, watch, verify, analyze, doctor, chaos."""

from __future__ import annotations

import functools
from collections.abc import Callable

from ..core import MissingExtra
from .app import new_app
from .gui_analyze import analyze
from .gui_chaos import chaos
from .gui_doctor import doctor
from .gui_replay import replay
from .gui_verify import verify
from .gui_watch import watch

app = new_app(
    "GUI sessions: watch the screen, recover, verify.\n\n"
    "Example: interlock gui replay demo.json --workspace . --start-editor"
)
EXTRA = frozenset(("PIL", "Xlib", "cydifflib", "jeepney", "mss", "numpy", "websocket"))
"""What the extra `gui` installs."""


def with_extra(command: Callable[..., None]) -> Callable[..., None]:
    """A command that names the extra where one of its packages is missing."""

    @functools.wraps(command)
    def run(*args: object, **options: object) -> None:
        try:
            command(*args, **options)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in EXTRA:
                raise
            raise MissingExtra(f"GUI sessions need {error.name}, which is", "gui") from None

    return run


for command in (replay, watch, verify, analyze, doctor, chaos):
    app.command()(with_extra(command))
