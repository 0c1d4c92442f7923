"""interlock run: supervise any command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .app import new_app

app = new_app()


class ContainOption(StrEnum):
    """How the agent is kept from its supervisor."""

    off = "off"
    auto = "auto"
    guard = "guard"
    fence = "fence"


class StepsFrom(StrEnum):
    """Where the steps of a command without hooks come from."""

    auto = "auto"
    stdout = "stdout"
    off = "off"


@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False})
def run(
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments, after --.", metavar="COMMAND...")
    ],
    task: Annotated[str, typer.Option("--task", help="What the command should do; helps to judge it.")] = "",
    name: Annotated[str, typer.Option("--name", help="A name for lists and control commands.")] = "",
    issue: Annotated[
        str | None,
        typer.Option("--issue", metavar="ID", help="The issue that it works on; control requests may refer to it."),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="LABEL", help="A label for budgets; may be repeated.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    hub: Annotated[
        str | None, typer.Option("--hub", metavar="URL", help="Connect to a hub, for other machines: nats://...")
    ] = None,
    observe: Annotated[bool, typer.Option("--observe", help="Watch, never act.")] = False,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, metavar="USD", help="The most that models may cost, in dollars."),
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=0, metavar="N", help="Tool calls; results do not count.")
    ] = None,
    max_minutes: Annotated[
        float | None,
        typer.Option("--max-minutes", min=0, metavar="N", help="The most minutes it may take, without pauses."),
    ] = None,
    attended: Annotated[bool, typer.Option("--attended", help="Ask you before writes, deletes and commands.")] = False,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="The folder to checkpoint; default: the current one.")
    ] = None,
    checkpoints: Annotated[bool, typer.Option("--checkpoints/--no-checkpoints", help="Snapshot the workspace.")] = True,
    proxy: Annotated[
        bool | None,
        typer.Option(
            "--proxy/--no-proxy",
            help="Use the model proxy; default: if the environment has the API's key or address.",
        ),
    ] = None,
    steps: Annotated[
        StepsFrom,
        typer.Option(
            "--steps",
            help="stdout: read JSON step lines that the command prints; auto: if its first line is one; off: never.",
        ),
    ] = StepsFrom.auto,
    contain: Annotated[
        ContainOption | None,
        typer.Option(
            "--contain", help="Isolate the agent from its supervisor; auto (the default): guard if it works here."
        ),
    ] = None,
    leave_running: Annotated[
        bool,
        typer.Option("--leave-running", help="Do not end what the command has left running when it ends."),
    ] = False,
    may_change: Annotated[
        list[str] | None,
        typer.Option("--may-change", metavar="GLOB", help="The only files in the workspace that may change."),
    ] = None,
    protect: Annotated[
        list[str] | None, typer.Option("--protect", metavar="GLOB", help="Files that must not change.")
    ] = None,
    done_when: Annotated[
        list[str] | None,
        typer.Option("--done-when", metavar="COMMAND", help="A command that must pass at the end; Interlock runs it."),
    ] = None,
    constraint: Annotated[
        list[str] | None, typer.Option("--constraint", metavar="TEXT", help="A rule that the agent is reminded of.")
    ] = None,
    goal: Annotated[
        list[str] | None, typer.Option("--goal", metavar="TEXT", help="What progress is measured against.")
    ] = None,
    contract: Annotated[
        Path | None, typer.Option("--contract", metavar="FILE", help="A YAML file with the section contract.")
    ] = None,
    summary: Annotated[Path | None, typer.Option("--summary", help="Write a summary as JSON to this file.")] = None,
) -> None:
    """Run a command under supervision: its own exit status, or 123 (not proven done), 124 (limit), 125 (emergency
    stop), 130 (cancelled).

    Example: interlock run --name fix --max-minutes 30 -- python agent.py
    """
    from .run_start import RunOptions, start_run

    start_run(
        RunOptions(
            command=tuple(command),
            task=task,
            name=name,
            issue=issue,
            label=tuple(label or ()),
            config=config,
            hub=hub,
            observe=observe,
            max_cost=max_cost,
            max_steps=max_steps,
            max_minutes=max_minutes,
            attended=attended,
            workspace=workspace,
            checkpoints=checkpoints,
            proxy=proxy,
            steps=steps.value,
            contain=contain.value if contain is not None else None,
            leave_running=leave_running,
            may_change=tuple(may_change or ()),
            protect=tuple(protect or ()),
            done_when=tuple(done_when or ()),
            constraint=tuple(constraint or ()),
            goal=tuple(goal or ()),
            contract=contract,
            summary=summary,
        )
    )
