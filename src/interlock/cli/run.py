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


class Contain(StrEnum):
    """How the agent is kept from its supervisor."""

    off = "off"
    auto = "auto"
    guard = "guard"
    fence = "fence"


@app.command(context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False})
def run(
    command: Annotated[
        list[str], typer.Argument(help="The command and its arguments, after --.", metavar="COMMAND...")
    ],
    task: Annotated[str, typer.Option("--task", help="What the command is to do, in words; helps judging it.")] = "",
    name: Annotated[str, typer.Option("--name", help="A name for lists and control commands.")] = "",
    issue: Annotated[
        str | None,
        typer.Option("--issue", metavar="ID", help="The issue that it works on; control requests may name it."),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="WORD", help="A label for budgets; may be repeated.")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A configuration file.")] = None,
    hub: Annotated[
        str | None, typer.Option("--hub", metavar="URL", help="Be seen and steered from other machines: nats://...")
    ] = None,
    observe: Annotated[bool, typer.Option("--observe", help="Watch, never act.")] = False,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Dollars that models may cost.")
    ] = None,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=0, metavar="N", help="Tool calls; results do not count.")
    ] = None,
    max_minutes: Annotated[
        float | None,
        typer.Option("--max-minutes", min=0, metavar="N", help="Minutes from start to end, without pauses."),
    ] = None,
    attended: Annotated[
        bool, typer.Option("--attended", help="You are there: writes, deletes and commands wait for your yes or no.")
    ] = False,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="The folder that is checkpointed; default: this one.")
    ] = None,
    checkpoints: Annotated[bool, typer.Option("--checkpoints/--no-checkpoints", help="Snapshot the workspace.")] = True,
    proxy: Annotated[
        bool | None,
        typer.Option(
            "--proxy/--no-proxy",
            help="Stand before the model's API; default: where the environment has its key or its address.",
        ),
    ] = None,
    contain: Annotated[
        Contain | None,
        typer.Option(
            "--contain", help="Keep the agent away from its supervisor; auto (the default): guard where it works."
        ),
    ] = None,
    may_change: Annotated[
        list[str] | None,
        typer.Option("--may-change", metavar="GLOB", help="Files that may change; no other of the workspace may."),
    ] = None,
    protect: Annotated[
        list[str] | None, typer.Option("--protect", metavar="GLOB", help="Files that must not change.")
    ] = None,
    done_when: Annotated[
        list[str] | None,
        typer.Option("--done-when", metavar="COMMAND", help="Must pass at the end; Interlock runs it itself."),
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
    from ..core import BadInput, Context, RunSpec
    from ..journal import new_run_id
    from ..runtime.assembly import open_store
    from .contract_options import read_options, with_hosts
    from .run_result import launch_and_exit

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
    settings = _with_containment(
        _with_hub(_with_options(load(config, tell=say_error), observe, max_cost, max_steps, max_minutes), hub), contain
    )
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
    launch = Launch(spec=spec, config=settings, context=context, store=root, needs_approval=attended)
    launch_and_exit(launch, summary, proxy=proxy)


def _with_containment(config: Config, contain: Contain | None) -> Config:
    from msgspec.structs import replace

    if contain is None:
        return config
    return replace(config, runtime=replace(config.runtime, contain=contain.value))


def _with_hub(config: Config, url: str | None) -> Config:
    from importlib.util import find_spec

    from msgspec.structs import replace

    from ..core import BadInput
    from ..link.hub_address import check_urls, look_for_hub

    if url is not None:
        config = replace(config, hub=replace(config.hub, url=url))
    if config.hub.url and find_spec("nats") is None:
        raise BadInput("the hub's client is not installed", where=config.hub.url, todo='pip install "interlock[hub]"')
    if config.hub.url and (why := look_for_hub(check_urls(config.hub.url))) is not None:
        say_error(f"the hub cannot be reached ({why}). The run goes on, and is seen there as soon as it can be")
    return config


def check_text(what: str, words: str) -> None:
    """Say in one line that bytes which are no text cannot be kept in a journal."""
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
        raise BadInput("the summary cannot be written", where=str(summary), todo="Name a file that may be written.")


def _with_options(
    config: Config, observe: bool, max_cost: float | None, max_steps: int | None, max_minutes: float | None
) -> Config:
    import math

    from msgspec.structs import replace

    from ..core import BadInput, Limits

    for option, value in (("--max-cost", max_cost), ("--max-minutes", max_minutes)):
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{option} {value} is no limit", todo="Give a number, or leave it out.")
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
