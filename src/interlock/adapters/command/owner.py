"""The owner of one run, a process started by the front: supervises the command until it ends, and records the end.

Its argument is FRONT: the descriptor of a socket to the front, which sends the listening
sockets (control, steps, proxy, egress) and then the run. If the front dies, the owner stays until the command has
ended.
"""

from __future__ import annotations

import gc
import logging
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

from ...core import Hold, InterlockError, boot_id, from_json, share_heap
from ...journal import RunFolder, Store, read_tree
from ...journal_records import StartedRecord
from ...link import adopt, socket_path
from ...process import UNKNOWN_STATUS, ProcessTree, attach
from ...runtime import MEANWHILE, Parked, clean_up_at_start, configure_log, is_chosen
from ..hooks.wiring import RESUMPTIONS
from ..steps.step_protocol import PRINTING, ProcessAdapter
from .disk_room import DiskRoom
from .left_running import end_left_running
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
from .owner_parts import OwnerParts
from .run_summary import status_words, summarize
from .usage_limit_parking import HANG

log = logging.getLogger("interlock")


class Owner:
    """Owns one run, from the front's first message to the last."""

    def __init__(
        self, begin: BeginRun, control: socket.socket, steps: socket.socket, *listeners: socket.socket
    ) -> None:
        self._begin = begin
        self._parts = parts = OwnerParts(begin, control, steps, *listeners)
        self._supervisor, self._steps, self._hooks = parts.supervisor, parts.steps, parts.hooks
        self.held, self.parking = parts.held, parts.parking
        self._say: Callable[[str], None] = lambda _: None
        self._removed = False
        self._disk = DiskRoom(self._supervisor, Path(begin.spec.workspace or begin.spec.cwd or "/"))
        self._said_paused = False
        if isinstance(self._supervisor.executor.adapter, ProcessAdapter):
            self._steps.on_printed = self._observe_only
        self.held.on_frozen = self._checkpoint_own_work
        self._monitor = Monitor(
            self._supervisor,
            self.held,
            self._steps,
            self._supervisor.run.summary.started,
            self._check_run,
            self._check_tampering,
            parts.self_monitor.is_touched,
        )
        self._monitor.due_s = lambda: parts.liveness.due_s

    def start(self) -> None:
        """Start serving: steps, proxy, egress and monitor."""
        if self._begin.reopen and self._begin.tree is not None:
            self._supervisor.run.append([StartedRecord(self._begin.tree.root.pid, successor=True)], durable=True)
        self._steps.start()
        for proxy in self._parts.proxies:
            proxy.start()
        self._monitor.start()
        if self._begin.hung:
            self._parts.liveness.note_replaced()

    def clean_up_store(self) -> None:
        """Remove old data from the store, in the background."""
        clean_up_at_start(Store(Path(self._begin.store)), self._begin.config, self._supervisor.run.clock.time())

    def connect_to_front(self, channel: Channel) -> None:
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
        self._parts.members.tree = tree.handle()
        self.held.attach(tree)
        held = self.held.limit(self._supervisor.process_limits)
        if not self._begin.reopen or self._begin.tree != tree.handle():
            self._supervisor.run.record(StartedRecord(tree.pid, tree.mechanism, held))
        for words in self.held.not_held:
            self._say(f"this machine cannot enforce {words}: the run continues without it")
        if self._supervisor.run.reason is not None:
            # The run ended before we knew its processes: by an early cancel, or one that a predecessor did not finish.
            self.held.end(0)

    def fail_not_started(self) -> None:
        """End the run as failed: nothing is left that could start the command."""
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

    def relaunch_if_unfinished(self, status: int) -> Relaunch | None:
        """The relaunch of a client that ended without asking whether it may and has work left, else None."""
        session, run = self._steps.numbering.session, self._supervisor.run
        resumes = self._begin.expects_hooks and self._begin.spec.adapter in RESUMPTIONS
        self._hooks.read_transcripts()
        if status or not session or not resumes or self._hooks.asked_to_stop:
            return None
        answer = self._supervisor.stop_gate.at_turn_end()
        return Relaunch(session=session, words=answer.words) if answer.action == "return" and not run.ended else None

    def release(self) -> None:
        """Release a parked run: another owner resumes it."""
        self._monitor.close()
        for proxy in self._parts.proxies:
            proxy.close()
        self._steps.close()
        self._supervisor.run.close()

    def finish(self, status: int | None, limits: tuple[str, ...] = (), left: str = "") -> Finished:
        """End the run after its command has ended; returns its summary. `left` describes processes left running."""
        supervisor, run = self._supervisor, self._supervisor.run
        self._monitor.close()
        self._hooks.read_transcripts()
        self._parts.guardian.check(last=status == 0)
        if status is not None:
            run.update(exit_status=status)
        killed_by_limit = status is not None and status < 0 and bool(limits or self.limits_reached())
        failed = status not in (0, None)
        self._checkpoint_own_work()
        if killed_by_limit and run.reason is None:
            supervisor.finish("done", "MAX_ITERATIONS", "; ".join(limits or self.limits_reached()))
        why = supervisor.check_done()
        words = "; ".join(filter(None, (status_words(status) if failed else why or status_words(status), left)))
        reason = "ERROR" if failed else "UNPROVEN" if why else "COMPLETE"
        supervisor.finish("aborted" if failed else "done", reason, words)
        for proxy in self._parts.proxies:
            proxy.close()
        self._steps.close()
        self._checkpoint_own_work()
        if supervisor.executor.notifier is not None:
            # So that the summary says which alerts could not be sent.
            supervisor.executor.notifier.close()
        finished = summarize(
            supervisor,
            self._parts.folder,
            self.held,
            status=status,
            limits=limits or self.limits_reached(),
            left=left,
            tampering=self._parts.guardian.noticed,
            refused=self._parts.refusals.lines(),
        )
        supervisor.close()
        if self.held.tree is not None:
            self.held.tree.close()
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

    def _observe_only(self) -> None:
        """The command prints its steps: they cannot be blocked, and it receives no messages."""
        adapter = self._supervisor.executor.adapter
        if isinstance(adapter, ProcessAdapter) and adapter.capabilities != PRINTING:
            adapter.capabilities = PRINTING
            self._supervisor.pipeline.controller.use_capabilities(PRINTING)
            self._say("steps are read from what the command prints: they are recorded and reviewed, but not blocked")

    def _check_run(self) -> None:
        if self._begin.expects_hooks or self._begin.proxied is not None:
            # So that the current code judges the first step, even if an upgrade is installed before it.
            _ = self._supervisor.pipeline.parts
        self.parking.resume_if_due()
        self._parts.liveness.check()
        self._notice_removal()
        self._follow_person()
        self._hooks.read_transcripts()
        self._parts.self_monitor.check_cgroup()
        if not self._supervisor.config.interventions.observe:
            self._disk.check()

    def _say_pause(self) -> None:
        """Tell the person at the terminal that the run is paused, why and how to continue it, and when it continues."""
        run = self._supervisor.run
        paused = run.status == "paused"
        if paused == self._said_paused or run.ended or self.parking.parked is not None:
            return
        self._said_paused = paused
        why = f": {run.summary.waiting.rstrip('.')}" if run.summary.waiting else ""
        name = run.spec.name or run.spec.run_id
        self._say(f"paused{why}. Continue: interlock resume {name}" if paused else "continues")

    def _check_tampering(self) -> None:
        self._say_pause()
        self._parts.guardian.check()
        self._parts.self_monitor.check()

    def _follow_person(self) -> None:
        """If a person stopped the processes while no owner responded, pause the run and report it as paused."""
        run = self._supervisor.run
        if self._parts.held_file.exists() and not run.ended:
            if run.status == "running":
                self._supervisor.executor.carry_out(Hold("paused by a person while no owner responded", "recovery"))
            self._parts.held_file.unlink(missing_ok=True)

    def _notice_removal(self) -> None:
        """Report once that the run's folder was removed: the run is not visible elsewhere, and its records are lost."""
        if not self._removed and not self._parts.folder.journal.exists():
            self._removed = True
            words = (
                f"{self._parts.folder.path} was removed during the run: it cannot be seen or steered from elsewhere,"
                " and its journal is lost; its limits and Ctrl-C still work"
            )
            log.error("run %s: %s", self._begin.spec.run_id, words)
            self._say(words)

    def limits_reached(self) -> tuple[str, ...]:
        """Descriptions of the limits that the process tree reached."""
        tree = self.held.tree
        return tuple(event.words for event in tree.events()) if tree is not None else ()

    def _checkpoint_own_work(self) -> None:
        """Checkpoint work that no checkpoint covers yet: that of a process without steps, or of a call in progress."""
        if not self._steps.spoken or self._supervisor.run.gate.inside:
            self._supervisor.checkpoint(cause=MEANWHILE, step=self._supervisor.next_index)


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
    owner.connect_to_front(channel)
    # Exclude existing objects from garbage collection, which would delay a hook by 50 ms.
    gc.freeze()
    channel.send(OwnerReady())
    owner.clean_up_store()
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
            if not message.limits and (back := owner.relaunch_if_unfinished(message.status)) is not None:
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
        owner.fail_not_started()
    if tree is not None:
        tree.wait()
        left = end_left_running(tree, folder, leave=begin.config.runtime.left_running == "leave")
    owner.settle()
    if owner.parking.exited(UNKNOWN_STATUS):
        owner.release()
        _remove_files(folder, begin.temporary)
        adopt(folder)
        return
    owner.finish(None, left=left)
    _remove_files(folder, begin.temporary)


def _remove_files(folder: RunFolder, temporary: str) -> None:
    """Remove what the front would have removed."""
    control = socket_path(folder.path)
    steps = steps_path(control)
    control.unlink(missing_ok=True)
    shutil.rmtree(steps.parent, ignore_errors=True)
    shutil.rmtree(control.with_suffix(".d"), ignore_errors=True)
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
