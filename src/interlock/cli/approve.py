"""interlock approve."""

from __future__ import annotations

from .control_command import answer_to_step

app = answer_to_step(
    "approve",
    """Approve a step that needs approval.

    Exit status: 0 done, 3 no such live run, 4 no such pending step, 5 outcome unknown.

    Example: interlock approve fix-tests --step 12
    """,
)
