"""interlock escalate."""

from __future__ import annotations

from typing import Annotated

import typer

from .control_command import command_to_runs
from .control_requests import Payload, ReasonOption


def _carries(
    model: Annotated[str, typer.Option("--model", help="The stronger model.")],
    force: Annotated[
        bool, typer.Option("--force", help="Switch even if it is unknown whether the model is stronger.")
    ] = False,
    reason: ReasonOption = None,
) -> Payload:
    given = {"model": model, "reason": reason, "force": force or None}
    return lambda place, run_id: {key: value for key, value in given.items() if value is not None}


app = command_to_runs(
    "escalate",
    """Switch a run's agent to a stronger model.

    Exit status: 0 done, 2 unknown model, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock escalate fix-tests --model opus --reason "it goes in circles"
    """,
    _carries,
)
