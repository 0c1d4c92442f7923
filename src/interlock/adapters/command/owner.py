"""The owner of one run: journal, control endpoint, step connections, limits, checkpoints. Started by the front.

python -m interlock.adapters.command.owner FRONT: the descriptor of a socket to the front, which sends the listening
sockets (control, steps, proxy, egress) and then the run. If the front dies, the owner stays until the command has
ended.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ...checkpoint import Change
from ...config import Models, parse_hosts
from ...contain import Insiders, missing_paths, missing_settings
from ...core import Adapter, Hold, InterlockError, NotFound, boot_id, from_json, keep_packages, share_heap
from ...journal import HELD, JournalReading, RunFolder, Store, read_tree
from ...journal_records import StartedRecord
from ...link import socket_path
from ...output import OutputReader
from ...process import UNKNOWN_STATUS, ProcessTree, attach
from ...runtime import (
    MEANWHILE,
    Approvals,
    Options,
    Parked,
    RunControl,
    Supervisor,
    clean_up_at_start,
    configure_log,
    is_chosen,
)
from ..hooks.clients import adapter_named, dialect_named, new_dialects
from ..hooks.exchange import HookExchange
from ..hooks.hook_guardian import HookGuardian, keep_authority
from ..hooks.wiring import RESUMPTIONS
from ..proxy import ModelChoice, ProxyAdapter, Rewind, SwitchingAdapter
from ..run_process_tree import HeldTree
from ..steps.server import StepServer
from ..steps.step_protocol import PRINTING, ProcessAdapter
from .adoption import adopt
from .containment_choice import SandboxPaths, sandbox_words
from .left_running import end_left_running
from .liveness_monitor import LivenessMonitor
from .monitor import Monitor
from .owner_messages import (
    ApprovalAsked,
    ApprovalGiven,
    BeginRun,
    Channel,
    Checking,
    ClientParked,
    CommandStarted,
    Exited,
    Finished,
    OwnerFailed,
    OwnerReady,
    ParkOver,
    Ping,
    Relaunch,
    ToOwner,
    receive_sockets,
    steps_path,
)
from .refusals import Refusals
from .self_monitor import SelfMonitor
from .usage_limit_parking import HANG, ParkingLot

if TYPE_CHECKING:
    from ..proxy.egress import Egress
    from ..proxy.proxy import Proxy

log = logging.getLogger("interlock")

LAST_WORDS_S = 600.0
"""Only the client's output of the last this many seconds counts as its last words."""

LATE = ("contract", "decide", "detect", "intervene", "proof", "redact", "review", "runtime")
LATE_LIBRARIES = ("re2", "tree_sitter", "tree_sitter_bash")
"""Packages that only steps need. They are kept in their current version until the first step."""

JUDGING = "interlock.runtime.decision_parts"
"""The module that imports these packages."""

EXIT_OF = {"UNPROVEN": 123, "MAX_ITERATIONS": 124, "EMERGENCY_STOP": 125, "USER_CANCELLED": 130}
"""Exit statuses for the reasons why a run was ended."""


class Owner:
    """Owns one run, from the front's first message to the last."""

    def __init__(
        self, begin: BeginRun, control: socket.socket, steps: socket.socket, *listeners: socket.socket
    ) -> None:
        self._begin = begin
        self._choice = ModelChoice(Models.from_config(begin.config).aliases if begin.proxied is not None else None)
        self._rewind = Rewind()
        self._held_file = Path(begin.store) / begin.spec.run_id / HELD
        self.held = HeldTree(expected=True, held_by_person=self._held_file.exists)
        self._insiders = Insiders()
        self._folder = RunFolder(Path(begin.store) / begin.spec.run_id)
        if begin.tree is not None:
            # Set before anyone can ask for a pause: a pause reported as effective must be effective.
            self._insiders.tree = begin.tree
            self.held.know(attach(begin.tree))
        self._supervisor = self._open(control)
        if begin.contained:
            self._supervisor.stop_gate.runner.enclose = self._sandbox_words
        self._steps = StepServer(steps, self._supervisor)
        self._guardian = HookGuardian(
            self._supervisor,
            self.held,
            files=tuple(map(Path, begin.watched)),
            settings=tuple(map(Path, begin.settings)),
            expects_hooks=begin.expects_hooks,
        )
        self._watch = self._make_monitor()
        self._hooks = self._steps.hooks = HookExchange(self._steps.numbering, new_dialects(), self._guardian)
        self.parking = ParkingLot(
            self._supervisor,
            self._folder,
            begin.config.unattended.resume,
            quota=_quota(begin),
            last_words=self._last_words,
            session=lambda: self._steps.numbering.session,
            continues=begin.spec.adapter in RESUMPTIONS,
            lacks=begin.lacks,
        )
        self._hooks.on_limit, self._hooks.on_answer = self.parking.see_words, self.parking.answered
        self._proxy = self._make_proxy(listeners[0] if begin.proxied is not None and listeners else None)
        self._refusals = Refusals(self._supervisor, fenced=begin.fenced)
        if begin.contained:
            self._supervisor.on_result = self._refusals.note_result
        self._egress = self._make_egress(listeners[-1]) if begin.fenced else None
        self._liveness = LivenessMonitor(
            self._supervisor,
            self._folder,
            self.held,
            self.parking,
            self._proxy.traffic if self._proxy is not None else None,
        )
        if isinstance(self._supervisor.executor.adapter, ProcessAdapter):
            self._steps.on_printed = self._observe_only
        self._liveness.visible = lambda: self._steps.spoken
        self._liveness.is_client = lambda: self._steps.spoken or begin.expects_hooks or begin.proxied is not None
        self._liveness.attended = lambda: begin.attended
        run = self._supervisor.run
        if begin.reopen:
            self._steps.recall(run.journal.reader())
            self._hooks.recall(run.journal.reader())
            if self._proxy is not None:
                self._proxy.recall(run.journal.reader())
        self.held.on_frozen = self._keep_own_work
        self._say: Callable[[str], None] = lambda _: None
        self._removed = self._kept_late = False
        self._monitor = Monitor(
            self._supervisor,
            self.held,
            self._steps,
            run.summary.started,
            self._look_around,
            self._watch_over,
            self._watch.is_touched,
        )
        self._monitor.due_s = lambda: self._liveness.due_s

    def start(self) -> None:
        """Start serving: steps, proxy, egress and monitor."""
        if self._begin.reopen and self._begin.tree is not None:
            self._supervisor.run.append([StartedRecord(self._begin.tree.root.pid, successor=True)], durable=True)
        self._steps.start()
        if self._proxy is not None:
            self._proxy.start()
        if self._egress is not None:
            self._egress.start()
        self._monitor.start()
        if self._begin.hung:
            self._liveness.note_replaced()

    def tidy(self) -> None:
        """Remove old data from the store, in the background."""
        clean_up_at_start(Store(Path(self._begin.store)), self._begin.config, self._supervisor.run.clock.time())

    def ask_through(self, channel: Channel) -> None:
        """Have the front ask the person at its terminal for approvals."""
        supervisor, tell = self._supervisor, self._supervisor.run.on_waiting

        def ask(step: int, what: str) -> None:
            tell(step, what)
            if step in supervisor.approvals.waiting:
                call = supervisor.approvals.call(step)
                channel.send(ApprovalAsked(step, what, call.digest if call is not None else ""))

        supervisor.run.on_waiting = ask
        self._say = lambda words: channel.send(ApprovalGiven(words))
        self.parking.relaunch = lambda parked: channel.send(
            Relaunch(park=parked.number, session=parked.session, words=self._resume_words(parked))
        )
        self.parking.finish = lambda status: channel.send(ParkOver(status))

    def attach_tree(self, tree: ProcessTree, park: int = 0) -> None:
        """The command is running; `park` is the park after which it was restarted."""
        if self.parking.parked is not None and self.parking.parked.number == park:
            self.parking.started()
        self._hooks.asked_to_stop = False
        self._insiders.tree = tree.handle()
        self.held.attach(tree)
        held = self.held.limit(self._supervisor.process_limits)
        if not self._begin.reopen or self._begin.tree != tree.handle():
            self._supervisor.run.record(StartedRecord(tree.pid, tree.mechanism, held))
        for words in self.held.not_held:
            self._say(f"this machine cannot enforce {words}: the run continues without it")
        if self._supervisor.run.reason is not None:
            # The run ended before we knew its processes: by an early cancel, or one that a predecessor did not finish.
            self.held.end(0)

    def note_not_begun(self) -> None:
        """Nothing is left that could start the command: the run has failed."""
        self._supervisor.finish("aborted", "ERROR", "the command never began: interlock run was killed")

    @property
    def parked_words(self) -> str:
        """A message for the person who started the run, saying that it is parked."""
        liveness = self.parking.liveness
        return "" if liveness is None else f"{liveness.words}: {liveness.question or liveness.evidence}"

    @property
    def check_seconds(self) -> float:
        """How long the commands of `done_when` may take in total."""
        gate = self._supervisor.stop_gate
        return len(self._supervisor.pipeline.context.contract.done_when) * gate.runner.timeout_s

    def settle(self) -> None:
        """Wait until the command's last steps are handled, and until a cancel in progress is complete.

        Otherwise a cancel would look as if the command had ended on its own.
        """
        self._steps.settle()
        if self._supervisor.run.steering is not None:
            self._supervisor.run.steering.settle()

    def send_back(self, status: int) -> Relaunch | None:
        """The client ended without asking whether it may: returns a relaunch of its session if there is work left."""
        session, run = self._steps.numbering.session, self._supervisor.run
        resumes = self._begin.expects_hooks and self._begin.spec.adapter in RESUMPTIONS
        self._hooks.look()
        if status or not session or not resumes or self._hooks.asked_to_stop:
            return None
        answer = self._supervisor.stop_gate.at_turn_end()
        return Relaunch(session=session, words=answer.words) if answer.action == "return" and not run.ended else None

    def leave(self) -> None:
        """Release a parked run: another owner resumes it."""
        self._monitor.close()
        if self._proxy is not None:
            self._proxy.close()
        self._steps.close()
        self._supervisor.run.close()

    def finish(self, status: int | None, limits: tuple[str, ...] = (), left: str = "") -> Finished:
        """End the run after its command has ended; returns its summary. `left` describes processes left running."""
        supervisor, run = self._supervisor, self._supervisor.run
        self._monitor.close()
        self._hooks.look()
        if status is not None:
            run.update(exit_status=status)
        killed_by_limit = status is not None and status < 0 and bool(limits or self.limits_reached())
        failed = status not in (0, None)
        self._keep_own_work()
        if killed_by_limit and run.reason is None:
            supervisor.finish("done", "MAX_ITERATIONS", "; ".join(limits or self.limits_reached()))
        why = supervisor.check_done(alert=not failed)
        words = "; ".join(filter(None, (_words(status) if failed else why or _words(status), left)))
        reason = "ERROR" if failed else "UNPROVEN" if why else "COMPLETE"
        supervisor.finish("aborted" if failed else "done", reason, words)
        if self._proxy is not None:
            self._proxy.close()
        if self._egress is not None:
            self._egress.close()
        self._steps.close()
        self._keep_own_work()
        finished = self._summarize(status, limits, left)
        supervisor.close()
        if self.held.tree is not None:
            self.held.tree.close()
        if run.reason == "EMERGENCY_STOP" and self._begin.config.interventions.emergency_stop.auto_cleanup:
            from ...runtime import clean_up

            clean_up(self._folder)
        return finished

    def _resume_words(self, parked: Parked) -> str:
        """The message for the resumed client: what happened, and its task."""
        from ...intervene import context_text

        supervisor = self._supervisor
        state = supervisor.pipeline.state(supervisor.run.steady.time())
        contract = context_text(state.context, "strong", None, examples=False)
        happened = f"A usage limit stopped you ({parked.reason}); it has reset."
        if parked.source == HANG:
            happened = f"You stopped responding ({parked.reason}) and were restarted."
        return f"{happened} Continue the work where you stopped; do not start over.\n\n{contract}".strip()

    def _last_words(self) -> str:
        """The client's most recent output."""
        reader = OutputReader(self._folder.output)
        words = ""
        for piece in reader.read(time.time() - LAST_WORDS_S):
            words = (words + piece.text)[-4000:]
        latest = reader.latest()
        return f"{words}\n{latest.line}\n" + "\n".join(latest.screen)

    def _sandbox_words(self) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """The agent's sandbox, for the commands that check its work: they run the agent's code."""
        begin, control = self._begin, socket_path(self._folder.path)
        paths = SandboxPaths(
            store=Path(begin.store),
            run=self._folder.path,
            sockets=(),
            wiring=control.with_suffix(".d"),
            files=tuple(map(Path, begin.watched)),
            workspaces=tuple(Path(place) for place in (begin.context.workspace, begin.spec.cwd) if place),
            temporary=Path(begin.temporary) if begin.temporary else None,
        )
        return sandbox_words(paths, begin.config)[:2]

    def _observe_only(self) -> None:
        """The command prints its steps: they cannot be blocked, and it receives no messages."""
        adapter = self._supervisor.executor.adapter
        if isinstance(adapter, ProcessAdapter) and adapter.capabilities != PRINTING:
            adapter.capabilities = PRINTING
            self._supervisor.pipeline.controller.use_capabilities(PRINTING)
            self._say("steps are read from what the command prints: they are recorded and reviewed, but not blocked")

    def _look_around(self) -> None:
        self._keep_late()
        self.parking.look()
        self._liveness.look()
        self._notice_removal()
        self._follow_person()
        self._hooks.look()
        self._watch.check_cgroup()

    def _keep_late(self) -> None:
        """Make sure, once, that the current code judges the first step, even if an upgrade is installed before it."""
        if not self._kept_late:
            self._kept_late = True
            if JUDGING not in sys.modules and not keep_packages(LATE, LATE_LIBRARIES):
                _ = self._supervisor.pipeline.parts

    def _watch_over(self) -> None:
        self._guardian.look()
        self._watch.look()

    def _make_monitor(self) -> SelfMonitor:
        late = missing_paths(self._begin.config.contain.allow) if self._begin.contained else ()
        watch = SelfMonitor(
            self._supervisor,
            self._guardian,
            self.held,
            self._folder,
            contained=self._begin.contained,
            late=late,
            settings=missing_settings() if self._begin.fenced else (),
        )
        control = socket_path(self._folder.path)
        steps = steps_path(control)
        watch.keep_socket(steps, lambda: self._steps.bind_again(steps))
        steering = self._supervisor.run.steering
        if isinstance(steering, RunControl):
            watch.keep_socket(control, steering.server.bind_again)
        keep_authority(self._supervisor, self._insiders, self._guardian)
        return watch

    def _follow_person(self) -> None:
        """If a person stopped the processes while no owner responded, pause the run and report it as paused."""
        run = self._supervisor.run
        if self._held_file.exists() and not run.ended:
            if run.status == "running":
                self._supervisor.executor.carry_out(Hold("paused by a person while no owner responded", "recovery"))
            self._held_file.unlink(missing_ok=True)

    def _notice_removal(self) -> None:
        """Report once that the run's folder was removed: the run is not visible elsewhere, and its records are lost."""
        if not self._removed and not self._folder.journal.exists():
            self._removed = True
            words = (
                f"{self._folder.path} was removed during the run: it cannot be seen or steered from elsewhere,"
                " and its journal is lost; its limits and Ctrl-C still work"
            )
            log.error("run %s: %s", self._begin.spec.run_id, words)
            self._say(words)

    def limits_reached(self) -> tuple[str, ...]:
        """Descriptions of the limits that the process tree reached."""
        tree = self.held.tree
        return tuple(event.words for event in tree.events()) if tree is not None else ()

    def _open(self, control: socket.socket) -> Supervisor:
        begin = self._begin
        store = Store(Path(begin.store))
        options = Options(
            spec=begin.spec,
            config=begin.config,
            context=begin.context,
            store=store,
            adapter=self._adapter(),
            processes=self.held,
            listener=control,
            approvals=Approvals(begin.needs_approval, frozenset(begin.removed_actions)),
        )
        if begin.reopen and self._folder.spec_file.exists():
            return Supervisor.reopen(self._folder, **options)
        return Supervisor.open(**options)

    def _adapter(self) -> Adapter:
        name, adapter = self._begin.spec.adapter, adapter_named(self._begin.spec.adapter)
        if self._begin.proxied is None:
            return adapter
        if name == ProxyAdapter.name:
            return ProxyAdapter(self._choice, self._rewind)
        return SwitchingAdapter(adapter, self._choice, self._rewind)

    def _make_proxy(self, listener: socket.socket | None) -> Proxy | None:
        """The proxy for the model's API. It reports steps and token usage only if the agent's hooks do not."""
        proxied = self._begin.proxied
        if proxied is None or listener is None:
            return None
        from ..proxy.proxy import Proxy

        hooked = dialect_named(self._begin.spec.adapter)
        proxy = Proxy(
            listener,
            self._steps.numbering,
            proxied,
            choice=self._choice,
            rewind=self._rewind,
            steps=hooked is None,
            usage=hooked is None or "usage" not in hooked.capabilities,
        )
        proxy.on_limit, proxy.on_answer = self.parking.see, self.parking.answered
        return proxy

    def _make_egress(self, listener: socket.socket) -> Egress:
        """The egress proxy: the only way out of a fence."""
        from ..proxy.egress import Egress

        proxied = self._begin.proxied
        hosts = parse_hosts(self._begin.config.contain.hosts, proxied.hosts if proxied else ())
        return Egress(listener, hosts, self._refusals.note_host)

    def _keep_own_work(self) -> None:
        """Checkpoint work that no checkpoint covers yet: that of a process without steps, or of a call in progress."""
        if not self._steps.spoken or self._supervisor.run.gate.inside:
            self._supervisor.checkpoint(cause=MEANWHILE, step=self._supervisor.next_index)

    def _summarize(self, status: int | None, limits: tuple[str, ...], told: str) -> Finished:
        run, ledger = self._supervisor.run, self._supervisor.pipeline.ledger
        with contextlib.suppress(InterlockError):
            # On a full disk, the summary contains what is known.
            run.journal.flush()
        contract: tuple[str, ...] = ()
        with contextlib.suppress(InterlockError):
            contract = self._supervisor.proof.contract_lines()
        summary, tree = run.summary, self.held.tree
        left = tree.pids() if tree is not None and tree.alive() else ()
        journal = self._journal()
        incident = journal.last("incident") if journal is not None and run.reason == "EMERGENCY_STOP" else None
        own = status if status is not None else UNKNOWN_STATUS
        changes = self._changes(journal)
        return Finished(
            run_id=summary.run_id,
            name=summary.name,
            status=summary.status,
            reason=run.reason or "",
            message=summary.ending if run.reason == "USER_CANCELLED" else run.why_ended,
            exit_status=EXIT_OF.get(run.reason or "", own),
            command_status=status,
            seconds=run.clock.time() - summary.started,
            steps=summary.steps,
            calls=ledger.spend.calls,
            issues=summary.issues,
            interventions=summary.interventions,
            tokens=ledger.spend.tokens,
            cost_usd=ledger.spend.cost_usd,
            unpriced_tokens=ledger.spend.unpriced_tokens,
            max_cost_usd=self._begin.config.limits.max_cost_usd,
            checkpoints=journal.count("checkpoint") if journal is not None else 0,
            files_changed=tuple(change.path for change in changes),
            files_created=tuple(change.path for change in changes if change.kind == "created"),
            files_deleted=tuple(change.path for change in changes if change.kind == "deleted"),
            limits_reached=limits or self.limits_reached(),
            incident_id=from_json(incident.body)["id"] if incident is not None else None,
            processes_left=len(left),
            still_running="" if tree is None or (told and told in run.why_ended) else tree.describe(left),
            tampering=self._guardian.noticed,
            contract=contract,
            folder=str(self._folder.path),
        )

    def _changes(self, journal: JournalReading | None) -> tuple[Change, ...]:
        """The files that have changed since the start of the run."""
        workspace = self._supervisor.executor.workspace
        kinds = frozenset(("checkpoint",))
        start = next(iter(journal.read(kinds=kinds, limit=1)), None) if journal is not None else None
        if workspace is None or start is None:
            return ()
        try:
            last = workspace.settle()
            changes = workspace.checkpoints.diff(str(from_json(start.body)["id"]), None if last is None else last.id)
        except InterlockError:
            return ()
        return tuple(change for change in changes if change.kind != "touched")

    def _journal(self) -> JournalReading | None:
        """A reader of the journal; None if the journal was removed."""
        try:
            return self._supervisor.run.journal.reader()
        except NotFound:
            return None


def main() -> None:
    """Serve one run; errors before it starts are reported to the front."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    share_heap()
    if is_chosen():
        configure_log()
    front = socket.socket(fileno=int(sys.argv[1]))
    handles = receive_sockets(front)
    if not handles:
        return
    control, steps, *listeners = handles
    channel = Channel(front)
    line = channel.receive()
    if line is None:
        return
    begin = from_json(line, BeginRun)
    try:
        owner = Owner(begin, control, steps, *listeners)
        owner.start()
    except InterlockError as error:
        channel.send(OwnerFailed(error.what, error.where, error.todo, error.exit_status))
        return
    owner.ask_through(channel)
    # Exclude existing objects from garbage collection, which would delay a hook by 50 ms.
    gc.freeze()
    channel.send(OwnerReady())
    owner.tidy()
    _serve(owner, channel, begin)


def _serve(owner: Owner, channel: Channel, begin: BeginRun) -> None:
    tree: ProcessTree | None = None
    folder = RunFolder(Path(begin.store) / begin.spec.run_id)
    while (line := channel.receive()) is not None:
        message: ToOwner = from_json(line, ToOwner)
        if isinstance(message, CommandStarted):
            known = owner.held.tree
            tree = known if known is not None and known.handle() == message.tree else attach(message.tree)
            owner.attach_tree(tree, message.park)
        elif isinstance(message, Ping):
            channel.send(message)
        elif isinstance(message, Exited):
            if tree is not None and not message.left:
                tree.note_gone()
            owner.settle()
            if not message.limits and owner.parking.exited(message.status):
                channel.send(ClientParked(owner.parked_words))
                continue
            if owner.check_seconds:
                channel.send(Checking(owner.check_seconds))
            if not message.limits and (back := owner.send_back(message.status)) is not None:
                channel.send(back)
                continue
            channel.send(owner.finish(message.status, message.limits, message.left))
            return
    # The front is gone; no other process could learn the exit status.
    left = ""
    begun = read_tree(folder) if tree is None else None
    if begun is not None and begun.boot == boot_id() and attach(begun).alive():
        # The front was killed before it could report that the command had started.
        tree = attach(begun)
        owner.attach_tree(tree)
    elif tree is None and begun is None and not begin.reopen:
        owner.note_not_begun()
    if tree is not None:
        tree.wait()
        left = end_left_running(tree, folder, leave=begin.config.runtime.left_running == "leave")
    owner.settle()
    if owner.parking.exited(UNKNOWN_STATUS):
        owner.leave()
        _tidy(folder, begin.temporary)
        adopt(folder)
        return
    owner.finish(None, left=left)
    _tidy(folder, begin.temporary)


def _tidy(folder: RunFolder, temporary: str) -> None:
    """Remove what the front would have removed."""
    control = socket_path(folder.path)
    steps = steps_path(control)
    control.unlink(missing_ok=True)
    shutil.rmtree(steps.parent, ignore_errors=True)
    shutil.rmtree(control.with_suffix(".d"), ignore_errors=True)
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)


def _quota(begin: BeginRun) -> str:
    """The key of the quota: runs that use the same APIs share it, otherwise runs of the same client."""
    if begin.proxied is not None:
        return " ".join(sorted(begin.proxied.upstreams.values()))
    return begin.spec.adapter


def _words(status: int | None) -> str:
    if status is None:
        return "the command ended; its exit status is unknown"
    if status < 0:
        return f"the command was terminated by {_signal_name(-status)}"
    return f"the command ended with status {status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


if __name__ == "__main__":
    main()
