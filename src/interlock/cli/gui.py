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
for command in (replay, watch, verify, analyze, doctor, chaos):
    app.command()(command)
