"""interlock approve."""

from __future__ import annotations

from .control_command import answer_to_step

app = answer_to_step(
    "approve",
    """Let a step go on that waits for a person.

    Exit status: 0 done, 3 no such live run, 4 no such step waits, 5 outcome unknown.

    Example: interlock approve fix-tests --step 12
    """,
)
