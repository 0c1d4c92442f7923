"""interlock reject."""

from __future__ import annotations

from .control_command import answer_to_step

app = answer_to_step(
    "reject",
    """Refuse a step that waits for a person; the agent is told why.

    Exit status: 0 done, 3 no such live run, 4 no such step waits, 5 outcome unknown.

    Example: interlock reject fix-tests --step 12
    """,
)
