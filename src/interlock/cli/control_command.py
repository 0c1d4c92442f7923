"""The commands that steer runs, made of their word and their help: all of them take the same options."""

from __future__ import annotations

import typer

from ..control import Command
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
    StepOption,
    TimeoutOption,
    VerboseOption,
    WhereOption,
    control_run,
)


def command_to_runs(command: Command, about: str) -> typer.Typer:
    """A command to one run or to many."""
    app = new_app()

    @app.command(command, help=about)
    def send(
        run: RunArgument = None,
        every: AllOption = False,
        where: WhereOption = None,
        reason: ReasonOption = None,
        timeout: TimeoutOption = TIMEOUT_S,
        hub: HubOption = None,
        json: JsonOption = False,
        verbose: VerboseOption = False,
    ) -> None:
        choice = RunChoice(
            run=run, every=every, where=tuple(where or ()), hub=hub, timeout=timeout, json=json, verbose=verbose
        )
        control_run(command, choice, reason=reason)

    return app


def answer_to_step(command: Command, about: str) -> typer.Typer:
    """An answer to the step of a run that waits for a person."""
    app = new_app()

    @app.command(command, help=about)
    def answer(
        run: RunArgument = None,
        step: StepOption = None,
        reason: ReasonOption = None,
        timeout: TimeoutOption = TIMEOUT_S,
        hub: HubOption = None,
        json: JsonOption = False,
        verbose: VerboseOption = False,
    ) -> None:
        def payload(place: LocalRuns, run_id: str) -> dict[str, object]:
            if step is not None:
                return {"step": step, **({"reason": reason} if reason is not None else {})}
            call = place.waiting_call(run_id)
            given = {"step": call.step, "digest": call.digest or None, "reason": reason}
            return {key: value for key, value in given.items() if value is not None}

        control_run(command, RunChoice(run=run, hub=hub, timeout=timeout, json=json, verbose=verbose), payload, reason)

    return app
