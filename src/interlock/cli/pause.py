"""interlock pause."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .control_requests import (
    TIMEOUT_S,
    AllOption,
    HubOption,
    JsonOption,
    LocalRuns,
    ReasonOption,
    RunArgument,
    RunChoice,
    TimeoutOption,
    VerboseOption,
    WhereOption,
    control_run,
)

app = new_app()


@app.command("pause")
def pause(
    run: RunArgument = None,
    every: AllOption = False,
    where: WhereOption = None,
    now: Annotated[bool, typer.Option("--now", help="Stop at once, even in the middle of a step.")] = False,
    reason: ReasonOption = None,
    timeout: TimeoutOption = TIMEOUT_S,
    hub: HubOption = None,
    json: JsonOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Let the current step finish, then stop all processes of the run. No further step starts.

    Also works without the run's owner. An agent whose processes Interlock did not start is not stopped: its next step
    waits, and the answer is "steps held".

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock pause fix-tests --now
    """

    def payload(place: LocalRuns, run_id: str) -> dict[str, object]:
        return {"now": True} if now else {}

    choice = RunChoice(
        run=run, every=every, where=tuple(where or ()), hub=hub, timeout=timeout, json=json, verbose=verbose
    )
    control_run("pause", choice, payload, reason=reason)
