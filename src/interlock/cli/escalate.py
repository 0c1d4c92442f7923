"""interlock escalate."""

from __future__ import annotations

from typing import Annotated

import typer

from .app import new_app
from .control_requests import (
    TIMEOUT_S,
    AllOption,
    HubOption,
    JsonOption,
    ReasonOption,
    RunArgument,
    RunChoice,
    TimeoutOption,
    VerboseOption,
    WhereOption,
    control_run,
)

app = new_app()


@app.command()
def escalate(
    model: Annotated[str, typer.Option("--model", help="The stronger model.")],
    run: RunArgument = None,
    every: AllOption = False,
    where: WhereOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Switch even if it is unknown whether the model is stronger.")
    ] = False,
    reason: ReasonOption = None,
    timeout: TimeoutOption = TIMEOUT_S,
    hub: HubOption = None,
    json: JsonOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Switch a run's agent to a stronger model.

    Exit status: 0 done, 2 unknown model, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock escalate fix-tests --model opus --reason "it goes in circles"
    """
    choice = RunChoice(
        run=run, every=every, where=tuple(where or ()), hub=hub, timeout=timeout, json=json, verbose=verbose
    )
    payload: dict[str, object] = {"model": model}
    if reason is not None:
        payload["reason"] = reason
    if force:
        payload["force"] = True
    control_run("escalate", choice, lambda place, run_id: payload, reason)
