"""interlock pause."""

from __future__ import annotations

from typing import Annotated

import typer

from .control_command import command_to_runs
from .control_requests import Payload


def _carries(
    now: Annotated[bool, typer.Option("--now", help="Stop at once, even in the middle of a step.")] = False,
) -> Payload:
    return lambda place, run_id: {"now": True} if now else {}


app = command_to_runs(
    "pause",
    """Let the current step finish, then stop all processes of the run. No further step starts.

    Also works without the run's owner. An agent whose processes Interlock did not start is not stopped: its next step
    waits, and the answer is "steps held".

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock pause fix-tests --now
    """,
    _carries,
)
