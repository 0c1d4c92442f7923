"""interlock run: supervise any command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from ..core import share_heap
from .app import new_app

app = new_app()


class ContainOption(StrEnum):
    """How the agent is isolated from its supervisor."""

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
    command: Annotated[list[str], Argument(help="The command and its arguments, after --.", metavar="COMMAND...")],
    task: Annotated[str, Option(help="What the command should do; helps to judge it.")] = "",
    name: Annotated[str, Option(help="A name for lists and control commands.")] = "",
    issue: Annotated[
        str | None, Option(metavar="ID", help="The issue that it works on; control requests may refer to it.")
    ] = None,
    label: Annotated[list[str] | None, Option(metavar="LABEL", help="A label for budgets; may be repeated.")] = None,
    config: Annotated[Path | None, Option(help="A configuration file.")] = None,
    hub: Annotated[str | None, Option(metavar="URL", help="Connect to a hub, for other machines: nats://...")] = None,
    observe: Annotated[bool, Option("--observe", help="Watch, never act.")] = False,
    max_cost: Annotated[
        float | None, Option(min=0, metavar="USD", help="Maximum cost of the models, in dollars.")
    ] = None,
    max_steps: Annotated[int | None, Option(min=0, metavar="N", help="Maximum number of tool calls.")] = None,
    max_minutes: Annotated[
        float | None, Option(min=0, metavar="N", help="Maximum duration in minutes, not counting pauses.")
    ] = None,
    attended: Annotated[bool, Option("--attended", help="Ask you before writes, deletes and commands.")] = False,
    workspace: Annotated[Path | None, Option(help="The folder to checkpoint; default: the current one.")] = None,
    checkpoints: Annotated[bool, Option("--checkpoints/--no-checkpoints", help="Snapshot the workspace.")] = True,
    proxy: Annotated[
        bool | None,
        Option(
            "--proxy/--no-proxy", help="Use the model proxy; default: if the environment has the API's key or address."
        ),
    ] = None,
    steps: Annotated[
        StepsFrom,
        Option(
            help="stdout: read JSON step lines that the command prints; auto: if its first line is one; off: never."
        ),
    ] = StepsFrom.auto,
    contain: Annotated[
        ContainOption | None,
        Option(help="Isolate the agent from its supervisor; auto (the default): guard if it works here."),
    ] = None,
    write: Annotated[
        list[Path] | None, Option(metavar="PATH", help="A folder or file outside the workspace that it may write.")
    ] = None,
    leave_running: Annotated[
        bool, Option("--leave-running", help="Do not end what the command has left running when it ends.")
    ] = False,
    may_change: Annotated[
        list[str] | None, Option(metavar="GLOB", help="The only files in the workspace that may change.")
    ] = None,
    protect: Annotated[list[str] | None, Option(metavar="GLOB", help="Files that must not change.")] = None,
    done_when: Annotated[
        list[str] | None, Option(metavar="COMMAND", help="A command that must pass at the end; Interlock runs it.")
    ] = None,
    constraint: Annotated[
        list[str] | None, Option(metavar="TEXT", help="A rule that the agent is reminded of.")
    ] = None,
    goal: Annotated[list[str] | None, Option(metavar="TEXT", help="What progress is measured against.")] = None,
    boundary: Annotated[
        list[str] | None, Option(metavar="TEXT", help="What the work must stay within; the agent is reminded of it.")
    ] = None,
    example: Annotated[
        list[str] | None, Option(metavar="TEXT", help="An example of good work, which reminders repeat.")
    ] = None,
    contract: Annotated[Path | None, Option(metavar="FILE", help="A YAML file with the section contract.")] = None,
    fail_on: Annotated[
        str | None,
        Option(
            metavar="ENDINGS", help="Endings with exit status 123, such as broken,refused,unproven; default: broken."
        ),
    ] = None,
    summary: Annotated[Path | None, Option(help="Write a summary as JSON to this file.")] = None,
) -> None:
    """Run a command under supervision: its own exit status, or 123 (see --fail-on), 124 (limit), 125 (emergency
    stop), 130 (cancelled).

    Example: interlock run --name fix --max-minutes 30 -- python agent.py
    """
    given = {name: value for name, value in locals().items() if value is not None}
    share_heap()
    from .run_start import RunOptions, start_run

    start_run(RunOptions(**{name: _plain(value) for name, value in given.items()}))


def _plain(value: Any) -> Any:
    """An option as RunOptions has it."""
    return tuple(value) if isinstance(value, list) else value.value if isinstance(value, StrEnum) else value
