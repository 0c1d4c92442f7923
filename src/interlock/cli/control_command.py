"""The commands that steer runs: each has its word, its help and options of its own; they share the others."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import typer

from ..control import Command
from .app import new_app
from .control_requests import LocalRuns, Payload, ReasonOption, RunChoice, StepOption, control_run


def command_to_runs(command: Command, about: str, own: Callable[..., Payload | None] = lambda: None) -> typer.Typer:
    """A command to one run or to many. `own` has the command's own options and says what its request carries."""
    return _command(command, about, own, many=True)


def answer_to_step(command: Command, about: str) -> typer.Typer:
    """An answer to the step of a run that waits for a person."""

    def own(step: StepOption = None, reason: ReasonOption = None) -> Payload:
        def payload(place: LocalRuns, run_id: str) -> dict[str, object]:
            if step is not None:
                return {"step": step, **({"reason": reason} if reason is not None else {})}
            call = place.waiting_call(run_id)
            given = {"step": call.step, "digest": call.digest or None, "reason": reason}
            return {key: value for key, value in given.items() if value is not None}

        return payload

    return _command(command, about, own, many=False)


def _command(command: Command, about: str, own: Callable[..., Payload | None], *, many: bool) -> typer.Typer:
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
