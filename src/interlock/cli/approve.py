"""interlock approve."""

from __future__ import annotations

from .app import new_app
from .steering import (
    TIMEOUT_S,
    Choice,
    HubOption,
    JsonOption,
    Place,
    ReasonOption,
    RunArgument,
    StepOption,
    TimeoutOption,
    control_run,
)

app = new_app()


@app.command()
def approve(
    run: RunArgument = None,
    step: StepOption = None,
    reason: ReasonOption = None,
    timeout: TimeoutOption = TIMEOUT_S,
    hub: HubOption = None,
    json: JsonOption = False,
) -> None:
    """Let a step go on that waits for a person.

    Exit status: 0 done, 3 no such live run, 4 no such step waits, 5 outcome unknown.

    Example: interlock approve fix-tests --step 12
    """

    def payload(place: Place, run_id: str) -> dict[str, object]:
        chosen = place.waiting_step(run_id) if step is None else step
        return {"step": chosen} if reason is None else {"step": chosen, "reason": reason}

    control_run("approve", Choice(run=run, hub=hub, timeout=timeout, json=json), payload, reason)
