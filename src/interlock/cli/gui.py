"""interlock gui: replay, watch, verify, analyze, doctor, chaos."""

from __future__ import annotations

from .app import new_app
from .gui_analyze import analyze
from .gui_chaos import chaos
from .gui_doctor import doctor
from .gui_replay import replay
from .gui_verify import verify
from .gui_watch import watch

app = new_app(
    "GUI sessions: see the screen, recover, verify.\n\n"
    "Example: interlock gui replay demo.json --workspace . --start-editor"
)


@app.callback()
def prepare() -> None:
    """What goes wrong on the way is told on stderr, one line each."""
    import logging
    import sys

    import structlog

    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        # Asked for anew each time: a progress bar puts its own in the place of stderr.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )


for command in (replay, watch, verify, analyze, doctor, chaos):
    app.command()(command)
