"""interlock resume."""

from __future__ import annotations

from .control_command import command_to_runs

app = command_to_runs(
    "resume",
    """Resume a paused run.

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock resume fix-tests
    """,
)
