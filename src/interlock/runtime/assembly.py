"""Assembles a supervisor: configuration, store, run, workspace, adapter, channels."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import msgspec
from msgspec.structs import replace

from ..config import Config, load, nearest
from ..core import (
    ISSUE_TYPES,
    Adapter,
    Applied,
    BadInput,
    Capability,
    Clock,
    Context,
    Contract,
    Directive,
    InterlockError,
    RunSpec,
    check_glob,
    from_plain,
    read_small,
)
from ..journal import RunFolder, Store, new_run_id, open_store
from ..journal_records import Fault
from ..redact import one_line, redact_argv, redact_text, redact_tree
from .alerts import Alerts, DeliveryFailure, Notifier, apprise_channel
from .approvals import Approvals
from .directive_executor import DirectiveExecutor, ProcessControl
from .ending import CHANNEL
from .metrics import Metrics
from .mutes import read_mutes
from .pipeline_values import Plugins
from .replay import replay
from .run import Run
from .run_control import CommandExecutor, RunControl
from .supervisor import Supervisor
from .surroundings import read_task_files

if TYPE_CHECKING:
    from ..intervene import Templates
    from ..review import Level


class Options(TypedDict, total=False):
    """The options of `Supervisor.open`; all are optional.

    task: what the agent was asked to do. workspace: the folder that it works in, with checkpoints. name: for lists.
    model: the agent's model, if its steps do not name it. issue_id: the issue that it works on.
    config: by default, the configuration that `interlock config show` shows.
    context: more than the task. contract: what the run may and must do. adapter: how the agent is reached.
    plugins: detectors, strategies, interventions, templates. incident: the id of an emergency stop, and the option to
    continue its run with. store: where the run is stored. listener: the control socket, if someone else created it.
    level: how the agent is contained.
    """

    task: str
    workspace: str | Path
    name: str
    model: str
    issue_id: str
    config: Config
    context: Context
    contract: Contract
    adapter: Adapter
    plugins: Plugins
    incident: tuple[str, str]
    store: Store
    clock: Clock
    notifier: Notifier
    processes: ProcessControl
    metrics: Metrics
    spec: RunSpec
    checkpoint_store: Path | None
    approvals: Approvals
    listener: socket.socket
    level: Level


SILENT = "process"
"""The adapter of a command that may never report a step: what steps need is created when the first one arrives."""


def open_supervisor(options: Options) -> Supervisor:
    """A supervisor for a new run."""
    _refuse_unknown(options)
    config = options.get("config") or load()
    adapter = options.get("adapter") or DirectAdapter()
    where = options.get("workspace")
    spec = options.get("spec") or RunSpec(
        run_id=new_run_id(),
        name=options.get("name", ""),
        task=options.get("task", ""),
        workspace=str(Path(where).resolve()) if where is not None else None,
        model=options.get("model"),
        issue_id=options.get("issue_id"),
        adapter=adapter.name,
    )
    spec = redact_spec(spec)
    store = options.get("store") or open_store(config)
    wanted = options.get("incident")
    if wanted is not None:
        spec, config, options = _continue_incident(wanted, spec, config, store, options)
    run = Run.create(spec, store, options.get("clock"))
    try:
        supervisor = _assemble(run, config, adapter, options)
        if run.folder is not None:
            _listen(supervisor, run.folder, options.get("listener"))
    except BaseException:
        # The run never began: lists would show it as one that lost its owner.
        run.close()
        store.discard(spec.run_id)
        raise
    if wanted is not None:
        from .incidents import Incidents

        incidents = Incidents(store)
        incidents.settle(incidents.find(wanted[0]), "continued", wanted[1], spec.run_id)
    supervisor.checkpoint(cause="start", step=0)
    supervisor.record_contract()
    return supervisor


def _continue_incident(
    wanted: tuple[str, str], spec: RunSpec, config: Config, store: Store, options: Options
) -> tuple[RunSpec, Config, Options]:
    """Set up a run that continues a stopped one, under the rules of the chosen option."""
    from .continuation import choose, continue_run
    from .incidents import Incidents

    stored = Incidents(store).find(wanted[0])
    chosen = choose(stored, wanted[1])
    if chosen.name == "abort":
        raise BadInput("abort ends a run; it does not continue one", todo=f"Run: {chosen.command}")
    continuation = continue_run(store, stored, chosen, config, relaunch=False)
    old = continuation.spec
    spec = replace(
        spec, continues=old.continues, name=spec.name or old.name, task=spec.task or old.task,
        workspace=spec.workspace or old.workspace, issue_id=spec.issue_id or old.issue_id,
    )  # fmt: skip
    given = Options(**options)
    given["approvals"] = Approvals(continuation.needs_approval, frozenset(continuation.removed_actions))
    given["context"] = options.get("context") or stored.incident.context
    return spec, continuation.config, given


def reopen_supervisor(folder: RunFolder, options: Options) -> Supervisor:
    """A supervisor for a run whose owner is gone; it continues where its predecessor stopped."""
    _refuse_unknown(options)
    config = options.get("config") or load()
    run = Run.reopen(folder, options.get("clock"))
    supervisor = _assemble(run, config, options.get("adapter") or DirectAdapter(), options)
    supervisor.count_from(replay(supervisor.pipeline, run.journal.reader()))
    supervisor.stop_gate.recall(run.journal.reader())
    run.steady.continue_from(max(supervisor.pipeline.ledger.last, run.summary.updated))
    _listen(supervisor, folder, options.get("listener"))
    return supervisor


def redact_spec(spec: RunSpec) -> RunSpec:
    """Redact a run's spec. The command is redacted as one line, because `--token X` is two words."""
    argv, name = tuple(redact_argv(spec.argv)), one_line(redact_text(spec.name))
    return replace(spec, task=redact_text(spec.task), name=name, argv=argv)


def redact_context(context: Context) -> Context:
    """Redact a run's context."""
    return from_plain(redact_tree(msgspec.to_builtins(context)), Context)


def _refuse_unknown(options: Options) -> None:
    """Raise for unknown options: a misspelled limit must not be silently ignored."""
    for name in options:
        if name not in Options.__annotations__:
            near = nearest(name, Options.__annotations__)
            raise TypeError(f"there is no option {name!r}" + (f"; did you mean {near!r}?" if near else ""))


def open_notifier(config: Config, on_failure: Callable[[DeliveryFailure], None] | None = None) -> Notifier | None:
    """The alert channels; None if there are none."""
    settings = config.notifications
    channels = {name: apprise_channel(url) for name, url in settings.channels.items()}
    if not channels:
        return None
    return Notifier(channels, on_failure=on_failure, repeat_s=settings.repeat_seconds)


def open_alerts(run: Run, config: Config, given: Notifier | None) -> Alerts | None:
    """The alerts of a run; failures of a channel are recorded in the journal."""

    def note(failure: DeliveryFailure) -> None:
        with suppress(InterlockError):
            run.record(Fault(f"{CHANNEL}{failure.channel}", failure.why))

    notifier = given or open_notifier(config, note)
    if config.notifications.heartbeat:
        from .heartbeat import Heartbeat

        def missed(why: str) -> None:
            note(DeliveryFailure("heartbeat", "heartbeat", redact_text(why)))

        run.on_close(Heartbeat(config.notifications.heartbeat, missed).close)
    return Alerts(notifier, config, run) if notifier is not None else None


def _assemble(run: Run, config: Config, adapter: Adapter, options: Options) -> Supervisor:
    from .workspace import open_workspace

    spec = run.spec
    files = None
    if spec.workspace is not None:
        store = options.get("checkpoint_store")
        files = open_workspace(Path(spec.workspace), config, spec.run_id, store, run.clock, name=spec.name)
        run.on_close(files.close)
    run.metrics = options.get("metrics", run.metrics)
    executor = DirectiveExecutor(
        adapter,
        workspace=files,
        processes=options.get("processes"),
        notifier=open_alerts(run, config, options.get("notifier")),
    )
    hints = config.interventions.soft_correction.custom_prompts_path
    plugins = options.get("plugins") or Plugins(
        templates=read_templates(hints) if hints is not None else None,
        muted=read_mutes(Path(spec.workspace)) if spec.workspace is not None else frozenset(),
    )
    context = options.get("context") or Context(original_prompt=spec.task, workspace=spec.workspace)
    context = _with_contract(context, options.get("contract"))
    context = redact_context(read_task_files(context, spec.cwd or spec.workspace))
    supervisor = Supervisor(
        run,
        config,
        executor,
        context=context,
        plugins=plugins,
        approvals=options.get("approvals"),
        level=options.get("level", "off"),
        late=adapter.name == SILENT and "plugins" not in options and _is_plain(config),
    )
    if adapter.name != SILENT:
        supervisor.pipeline.warm()
    return supervisor


def _is_plain(config: Config) -> bool:
    """Whether judging uses default settings only: custom settings may be invalid, which is reported at the start."""
    usual = Config()
    return (config.review, config.detect, config.interventions) == (usual.review, usual.detect, usual.interventions)


def _with_contract(context: Context, contract: Contract | None) -> Context:
    """Add this run's contract to the context; an invalid glob is an error."""
    contract = contract or context.contract
    for glob in (*contract.may_change, *contract.protect):
        check_glob(glob)
    return replace(context, contract=contract)


def _listen(supervisor: Supervisor, folder: RunFolder, listener: socket.socket | None = None) -> None:
    """Accept control commands: pause, resume, cancel, escalate, approve, reject, rollback."""
    run = supervisor.run
    steering = RunControl(run, folder, supervisor.config, supervisor.executor.adapter, listener)
    steering.orders = CommandExecutor(supervisor)
    run.steering = steering
    steering.start()
    run.on_close(steering.close)
    if supervisor.config.hub.url:
        from ..link import HubLink

        link = HubLink(supervisor.config.hub, steering.endpoint, run.journal)
        link.start()
        run.on_close(link.close)


def read_templates(path: str | None, issue_types: Iterable[str] = ISSUE_TYPES) -> Templates:
    """The built-in templates, overridden by those in `soft_correction.custom_prompts_path`."""
    from ..intervene import BUILT_IN, parse_templates

    if path is None:
        return BUILT_IN
    file = Path(path).expanduser()
    try:
        text = read_small(file, links=True).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"the hint file cannot be read: {error.strerror if isinstance(error, OSError) else error}",
            where=str(file),
            todo="See interventions.soft_correction.custom_prompts_path.",
        ) from None
    return parse_templates(text, str(file), issue_types)


class DirectAdapter:
    """For callers that apply decisions themselves; has no conversation, and cannot relaunch the agent."""

    name = "direct"
    capabilities: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage"))

    def apply(self, directive: Directive) -> Applied:
        return Applied(True, "part of the decision")
