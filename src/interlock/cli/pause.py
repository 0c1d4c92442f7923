"""interlock pause."""

from __future__ import annotations

from .app import new_app
from .steering import (
    TIMEOUT_S,
    AllOption,
    Choice,
    HubOption,
    JsonOption,
    ReasonOption,
    RunArgument,
    TimeoutOption,
    WhereOption,
    control_run,
)

app = new_app()


@app.command()
def pause(
    run: RunArgument = None,
    every: AllOption = False,
    where: WhereOption = None,
    reason: ReasonOption = None,
    timeout: TimeoutOption = TIMEOUT_S,
    hub: HubOption = None,
    json: JsonOption = False,
) -> None:
    """Let the current iteration finish, and start no further one.

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock pause fix-tests
    """
    choice = Choice(run=run, every=every, where=tuple(where or ()), hub=hub, timeout=timeout, json=json)
    control_run("pause", choice, reason=reason)
