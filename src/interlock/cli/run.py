"""interlock run: supervise any command."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .app import new_app
from .output import say_error

if TYPE_CHECKING:
    from ..config import Config

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
    from ..adapters.process import Launch
    from ..config import load
    from ..core import BadInput, Context, RunSpec, needs_linux
    from ..journal import new_run_id, open_store
    from .contract_options import read_options, with_hosts
    from .run_result import launch_and_exit

    needs_linux("interlock run")
    if summary is not None:
        check_writable(summary)
    folder = (workspace or Path()).resolve()
    for what, words in (
        ("name", name),
        ("task", task),
        ("command", " ".join(command)),
        ("folder", str(folder)),
        ("label", " ".join(label or ())),
    ):
        check_text(what, words)
    if issue is not None:
        check_text("issue", issue)
        if not 1 <= len(issue) <= 512:
            raise BadInput("--issue must have 1 to 512 characters")
    if not folder.is_dir():
        raise BadInput("the workspace is not a folder", where=str(folder))
    settings = _with_hub(_with_options(load(config, tell=say_error), observe, max_cost, max_steps, max_minutes), hub)
    settings = _with_runtime(settings, contain, leave_running)
    spec = RunSpec(
        run_id=new_run_id(),
        name=name,
        task=task,
        workspace=str(folder) if checkpoints else None,
        argv=tuple(command),
        cwd=str(Path.cwd()),
        adapter="process",
        issue_id=issue,
        labels=tuple(label or ()),
    )
    given = {
        "may_change": may_change,
        "protect": protect,
        "done_when": done_when,
        "constraints": constraint,
        "goals": goal,
    }
    agreed = read_options(given, contract, folder, settings)
    settings = with_hosts(settings, agreed)
    context = Context(original_prompt=task, workspace=str(folder), contract=agreed)
    root = open_store(settings).root
    if steps is StepsFrom.stdout and not settings.store.output_bytes:
        raise BadInput("--steps stdout reads the kept output", where="store.output_bytes: 0", todo="Set it above 0.")
    launch = Launch(spec=spec, config=settings, context=context, store=root, needs_approval=attended, steps=steps.value)
    launch_and_exit(launch, summary, proxy=proxy)


def _with_runtime(config: Config, contain: ContainOption | None, leave_running: bool) -> Config:
    from msgspec.structs import replace

    runtime = config.runtime
    if contain is not None:
        runtime = replace(runtime, contain=contain.value)
    if leave_running:
        runtime = replace(runtime, left_running="leave")
    return replace(config, runtime=runtime)


def _with_hub(config: Config, url: str | None) -> Config:
    from importlib.util import find_spec

    from msgspec.structs import replace

    from ..core import MissingExtra
    from ..link import check_urls, look_for_hub

    if url is not None:
        config = replace(config, hub=replace(config.hub, url=url))
    if config.hub.url and find_spec("nats") is None:
        raise MissingExtra("the hub's client is", "hub", where=config.hub.url)
    if config.hub.url and (why := look_for_hub(check_urls(config.hub.url))) is not None:
        say_error(f"the hub cannot be reached ({why}). The run continues and appears there once the hub can be reached")
    return config


def check_text(what: str, words: str) -> None:
    """Say in one line that bytes which are not text cannot be kept in a journal."""
    from ..core import BadInput

    try:
        words.encode()
    except UnicodeEncodeError:
        raise BadInput(f"the {what} is not UTF-8", where=ascii(words), todo="Give it as UTF-8 text.") from None


def check_writable(summary: Path) -> None:
    """Say now, and not after hours of work, that the summary cannot be written."""
    import os

    from ..core import BadInput

    folder = summary.absolute().parent
    if not folder.is_dir():
        raise BadInput("the folder of the summary does not exist", where=str(summary))
    if summary.is_dir() or not os.access(summary if summary.exists() else folder, os.W_OK):
        raise BadInput("the summary cannot be written", where=str(summary), todo="Choose a writable file.")


def _with_options(
    config: Config, observe: bool, max_cost: float | None, max_steps: int | None, max_minutes: float | None
) -> Config:
    import math

    from msgspec.structs import replace

    from ..core import BadInput, Limits

    for option, value in (("--max-cost", max_cost), ("--max-minutes", max_minutes)):
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{option} {value} is not a limit", todo="Use a number, or leave it out.")
    given = Limits(
        max_cost_usd=max_cost,
        max_steps=max_steps,
        max_execution_time=max_minutes * 60 if max_minutes is not None else None,
    )
    changes = {name: value for name in given.__struct_fields__ if (value := getattr(given, name)) is not None}
    config = replace(config, limits=config.limits.replace(**changes))
    if observe:
        config = replace(config, interventions=replace(config.interventions, observe=True))
    return config
