"""interlock pause, resume, cancel, approve, reject and escalate: the help and the options of each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer
from typer import Option

from ..control import Command
from .app import new_app
from .control_requests import LocalRuns, Payload, ReasonOption, RunChoice, StepOption, control_run


def answer_to_step(command: Command, about: str) -> typer.Typer:
    """An answer to the step of a run that needs approval."""

    def own(step: StepOption = None, reason: ReasonOption = None) -> Payload:
        def payload(runs: LocalRuns, run_id: str) -> dict[str, object]:
            if step is not None:
                return {"step": step, **({"reason": reason} if reason is not None else {})}
            call = runs.waiting_call(run_id)
            given = {"step": call.step, "digest": call.digest or None, "reason": reason}
            return {key: value for key, value in given.items() if value is not None}

        return payload

    return new_command(command, about, own, many=False)


def new_command(
    command: Command, about: str, own: Callable[..., Payload | None] = lambda: None, *, many: bool = True
) -> typer.Typer:
    """A command to one run or to `many`. `own` has the command's own options and returns what makes the payload."""
    app = new_app()
    shared = {name: each for name, each in _parameters(RunChoice).items() if many or name not in ("every", "where")}
    mine = _parameters(own)
    reason = inspect.Parameter("reason", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=ReasonOption)

    def send(**given: object) -> None:
        why = given["reason"] if isinstance(given["reason"], str) else None
        payload = own(**{name: given[name] for name in mine})
        choice = RunChoice(**{name: given[name] for name in shared})  # type: ignore[arg-type]
        control_run(command, choice, payload, why)

    first = [shared[name] for name in ("run", "every", "where") if name in shared]
    named = {each.name: each for each in (*first, *mine.values(), reason, *shared.values())}
    send.__signature__ = inspect.Signature(list(named.values()))  # type: ignore[attr-defined]
    app.command(command, help=about)(send)
    return app


def _parameters(of: Callable[..., object]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(of, eval_str=True).parameters
    return {name: each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for name, each in found.items()}


def _pause_now(
    now: Annotated[bool, Option("--now", help="Freeze at once, even in the middle of a step.")] = False,
) -> Payload:
    return lambda runs, run_id: {"now": True} if now else {}


pause = new_command(
    "pause",
    """Let the current step finish, then freeze all processes of the run. No further step starts.

    Also works without the run's owner. An agent whose processes Interlock did not start is not frozen: its next step
    waits, and the answer is "steps held".

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock pause fix-tests --now
    """,
    _pause_now,
)


resume = new_command(
    "resume",
    """Resume a paused run.

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock resume fix-tests
    """,
)


cancel = new_command(
    "cancel",
    """Cancel a run: end its agent and all its processes.

    Exit status: 0 done, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock cancel --where status=paused
    """,
)


approve = answer_to_step(
    "approve",
    """Approve a step that needs approval.

    Exit status: 0 done, 3 no such live run, 4 no such pending step, 5 outcome unknown.

    Example: interlock approve fix-tests --step 12
    """,
)


reject = answer_to_step(
    "reject",
    """Reject a step that needs approval; the agent receives the reason.

    Exit status: 0 done, 3 no such live run, 4 no such pending step, 5 outcome unknown.

    Example: interlock reject fix-tests --step 12
    """,
)


def _to_model(
    model: Annotated[str, Option(help="The stronger model.")],
    force: Annotated[
        bool, Option("--force", help="Switch even if it is unknown whether the model is stronger.")
    ] = False,
    reason: ReasonOption = None,
) -> Payload:
    given = {"model": model, "reason": reason, "force": force or None}
    return lambda runs, run_id: {key: value for key, value in given.items() if value is not None}


escalate = new_command(
    "escalate",
    """Switch a run's agent to a stronger model.

    Exit status: 0 done, 2 unknown model, 3 no such live run, 4 not possible in this state, 5 outcome unknown.

    Example: interlock escalate fix-tests --model opus --reason "it goes in circles"
    """,
    _to_model,
)
