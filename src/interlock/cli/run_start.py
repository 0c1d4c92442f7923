"""Starts a run with the options of `interlock run`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Literal, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from ..adapters.command import Launch
from ..config import Config, load
from ..core import ENDINGS, BadInput, Context, Ending, Limits, MissingExtra, RunSpec, needs_linux
from ..journal import new_run_id, store_root
from .contract_options import read_options, with_hosts
from .output import check_text, say_error
from .run_result import launch_and_exit


class RunOptions(Struct, frozen=True, kw_only=True):
    """The options of `interlock run`; its help says what they mean."""

    command: tuple[str, ...]
    task: str = ""
    name: str = ""
    issue: str | None = None
    label: tuple[str, ...] = ()
    config: Path | None = None
    hub: str | None = None
    observe: bool = False
    max_cost: float | None = None
    max_steps: int | None = None
    max_minutes: float | None = None
    attended: bool = False
    workspace: Path | None = None
    checkpoints: bool = True
    proxy: bool | None = None
    steps: Literal["auto", "stdout", "off"] = "auto"
    contain: Literal["off", "auto", "guard", "fence"] | None = None
    write: tuple[Path, ...] = ()
    leave_running: bool = False
    may_change: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()
    constraint: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    boundary: tuple[str, ...] = ()
    example: tuple[str, ...] = ()
    contract: Path | None = None
    fail_on: str | None = None
    summary: Path | None = None


def start_run(options: RunOptions) -> NoReturn:
    """Run the command under supervision, and exit with its status."""
    needs_linux("interlock run")
    if options.summary is not None:
        check_writable(options.summary)
    folder = (options.workspace or Path()).resolve()
    for what, words in (
        ("name", options.name),
        ("task", options.task),
        ("command", " ".join(options.command)),
        ("folder", str(folder)),
        ("label", " ".join(options.label)),
    ):
        check_text(what, words)
    if options.issue is not None:
        check_text("issue", options.issue)
        if not 1 <= len(options.issue) <= 512:
            raise BadInput("--issue must have 1 to 512 characters")
    if not folder.is_dir():
        raise BadInput("the workspace is not a folder", where=str(folder))
    settings = _with_hub(_with_options(load(options.config, warn=say_error), options), options.hub)
    settings = _with_runtime(settings, options)
    if settings.notifications.channels:
        from ..runtime import find_alert_problem

        if problem := find_alert_problem(settings.notifications.channels):
            say_error(problem)
    spec = RunSpec(
        run_id=new_run_id(),
        name=options.name,
        task=options.task,
        workspace=str(folder) if options.checkpoints else None,
        argv=options.command,
        cwd=str(Path.cwd()),
        adapter="process",
        issue_id=options.issue,
        labels=options.label,
    )
    given = {
        "may_change": options.may_change,
        "protect": options.protect,
        "done_when": options.done_when,
        "constraints": options.constraint,
        "goals": options.goal,
    }
    agreed = read_options(given, options.contract, folder, settings)
    settings = with_hosts(settings, agreed)
    context = Context(
        original_prompt=options.task,
        workspace=str(folder),
        contract=agreed,
        boundaries=options.boundary,
        examples=options.example,
    )
    root = store_root(settings)
    if options.steps == "stdout" and not settings.store.output_bytes:
        raise BadInput("--steps stdout reads the kept output", where="store.output_bytes: 0", todo="Set it above 0.")
    launch = Launch(
        spec=spec, config=settings, context=context, store=root, needs_approval=options.attended, steps=options.steps
    )
    launch_and_exit(launch, options.summary, proxy=options.proxy)


def _with_runtime(config: Config, options: RunOptions) -> Config:
    runtime = config.runtime
    if options.contain is not None:
        runtime = replace(runtime, contain=options.contain)
    if options.leave_running:
        runtime = replace(runtime, left_running="leave")
    contain = replace(config.contain, write=(*config.contain.write, *map(_writable, options.write)))
    return replace(config, runtime=runtime, contain=contain)


def _writable(path: Path) -> str:
    """A path for `contain.write`. Only what exists can be opened in a sandbox, so that a missing folder is created."""
    path = path.expanduser().absolute()
    if not path.exists():
        if path.suffix:
            raise BadInput("--write: the file does not exist", where=str(path), todo="Create it first.")
        path.mkdir(parents=True)
    return str(path)


def _with_hub(config: Config, url: str | None) -> Config:
    if url is not None:
        config = replace(config, hub=replace(config.hub, url=url))
    if not config.hub.url:
        return config
    from importlib.util import find_spec

    from ..link import check_urls, find_hub_problem

    if find_spec("nats") is None:
        raise MissingExtra("the hub's client is", "hub", where=config.hub.url)
    if (why := find_hub_problem(check_urls(config.hub.url))) is not None:
        say_error(f"the hub cannot be reached ({why}). The run continues and appears there once the hub can be reached")
    return config


def _endings(words: str) -> tuple[Ending, ...]:
    """The endings that `--fail-on` names."""
    named = [word.strip() for word in words.split(",") if word.strip()]
    for word in named:
        if word not in ENDINGS:
            raise BadInput(f"--fail-on {word!r} is not an ending", todo=f"Known: {', '.join(ENDINGS)}.")
    return tuple(each for each in ENDINGS if each in named)


def check_writable(summary: Path) -> None:
    """Fail now, not after hours of work, if the summary cannot be written."""
    folder = summary.absolute().parent
    if not folder.is_dir():
        raise BadInput("the folder of the summary does not exist", where=str(summary))
    if summary.is_dir() or not os.access(summary if summary.exists() else folder, os.W_OK):
        raise BadInput("the summary cannot be written", where=str(summary), todo="Choose a writable file.")


def _with_options(config: Config, options: RunOptions) -> Config:
    for option, value in (("--max-cost", options.max_cost), ("--max-minutes", options.max_minutes)):
        if value is not None and not math.isfinite(value):
            raise BadInput(f"{option} {value} is not a limit", todo="Use a number, or leave it out.")
    given = Limits(
        max_cost_usd=options.max_cost,
        max_steps=options.max_steps,
        max_execution_time=options.max_minutes * 60 if options.max_minutes is not None else None,
    )
    changes = {name: value for name in given.__struct_fields__ if (value := getattr(given, name)) is not None}
    config = replace(config, limits=config.limits.replace(**changes))
    if options.fail_on is not None:
        config = replace(config, run=replace(config.run, fail_on=_endings(options.fail_on)))
    if options.observe:
        config = replace(config, interventions=replace(config.interventions, observe=True))
    return config
