"""The front of a run: the command's parent, which follows it until it ends and is transparent to the shell."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import uuid

from msgspec.structs import replace

from ...core import SIGNAL, BadInput, InterlockError
from ...journal import read_tree
from ...link import listen
from ...process import refuse_missing_program
from ..hooks.wiring import RESUMPTIONS
from .containment_choice import Level, decide_containment, is_attended, resolve
from .job_control import Signalled, Signals, die_of, fill_standard_streams, keep_settings, pass_on, stop_with
from .launch import Launch, StoredLaunch, store_launch
from .left_running import end_left_running
from .owner_messages import (
    ApprovalAsked,
    ApprovalGiven,
    Checking,
    ClientParked,
    CommandStarted,
    Exited,
    Finished,
    ParkOver,
    Relaunch,
)
from .owner_process import OwnerGone
from .run_setup import END_S, RunSetup
from .terminal_approval import TerminalApproval, open_line_terminal, write_stderr
from .unsupervised import CANCELLED, TIME_IS_UP, UnsupervisedRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import ProcessTree

CTRL_C = "Ctrl-C"

TERM_S = 10.0
"""How long the command may take to end after SIGTERM or SIGHUP; then, or after a second one, the run is cancelled."""

SECOND_S = 5.0
"""A second Ctrl-C within this time cancels the run; a later one only goes to the command, like the first."""

HINT_S = 0.5
"""If the command is still running this long after Ctrl-C, we print what another Ctrl-C does."""

PATIENCE_S = 60.0
"""How long the owner may take to finish the run."""

LAST_S = 15.0
"""The same for an owner that only records the end of an unsupervised run."""

VISIBLE = {
    "auto": "steps are not reported: only limits, checkpoints and control apply",
    "off": "steps are not reported: only limits, checkpoints and control apply",
    "stdout": "steps are read from the command's output, so they cannot be blocked",
}
"""Printed at the start of a command without known hooks or proxy, by the source of its steps."""


def run_command(launch: Launch) -> Finished:
    """Run the command under supervision until it ends. `exit_status` is negative if a signal ended the command."""
    fill_standard_streams()
    refuse_missing_program(launch.spec, os.environ)
    containment = decide_containment(launch.config, launch.agent)
    attended = is_attended(launch.needs_approval)
    config = resolve(launch.config, containment.level, attended=attended, agent=launch.agent)
    # A command may start in another folder than the workspace.
    contain = replace(config.contain, write=(*config.contain.write, launch.spec.cwd))
    launch = replace(launch, config=replace(config, contain=contain))
    return _Front(launch, containment.level, attended).run(containment.line)


def continue_run(launch: Launch, stored: StoredLaunch, missing: tuple[str, ...]) -> Finished:
    """Take over a parked run whose front is gone, and run it to its end. `missing` are variables that it needs."""
    fill_standard_streams()
    containment = decide_containment(launch.config)
    attended = is_attended(launch.needs_approval)
    return _Front(launch, containment.level, attended, stored, missing).run("")


class _Front:
    def __init__(
        self,
        launch: Launch,
        level: Level,
        attended: bool,
        stored: StoredLaunch | None = None,
        missing: tuple[str, ...] = (),
    ) -> None:
        self._events: queue.SimpleQueue[object] = queue.SimpleQueue()
        # Do this first: from here on signals are queued until they are read.
        self._signals = Signals(self._events, own_group=level != "off")
        self._setup = RunSetup(launch, level, attended, self._events, stored)
        self._launch, self._folder = launch, self._setup.folder
        self._owner = self._setup.new_owner(missing)
        self._person = TerminalApproval(self._folder, self._setup.foreground)
        self._no_client = False
        self._tree: ProcessTree | None = None
        self._relay: subprocess.Popen[bytes] | None = None
        self._interrupted = float("-inf")
        self._hint_at: float | None = None
        self._end_by: float | None = None
        self._cancelling = False
        self._status: int | None = None
        self._unsupervised = ""
        self._unsupervised_run: UnsupervisedRun | None = None
        self._ended_with: int | None = None
        self._limits: tuple[str, ...] = ()
        self._begun = time.monotonic()

    def run(self, first_line: str) -> Finished:
        restore_terminal = keep_settings()
        try:
            self._setup.start_owner(self._owner, self._signals.pending)
            if first_line:
                write_stderr(f"interlock: {first_line}\n")
            if self._launch.spec.adapter == "process" and sys.stderr is not None and sys.stderr.isatty():
                write_stderr(f"interlock: {VISIBLE[self._launch.steps]}\n")
            # Before the command exists: two pending signals of the same kind become one.
            self._signals.start()
            if self._setup.stored is None:
                self._start_command(self._setup.command)
            else:
                self._take_over()
            finished = self._loop()
            if self._setup.foreground is not None:
                self._setup.foreground.claim()
            if finished.reason != "COMPLETE":
                # A full-screen program that was killed leaves its terminal settings behind.
                restore_terminal()
            self._person.print_deferred()
            return finished
        finally:
            self._owner.close()
            if self._relay is not None:
                self._relay.kill()
                self._relay.wait()
            self._setup.remove()

    def _start_command(self, argv: tuple[str, ...], park: int = 0) -> None:
        try:
            self._tree = self._setup.start_command(argv)
        except BadInput as error:
            self._owner.send(Exited(error.exit_status))
            self._await_finished()
            raise
        self._no_client, self._status = False, None
        self._owner.send(CommandStarted(self._tree.handle(), park))
        self._follow(self._tree)

    def _follow(self, tree: ProcessTree) -> None:
        threading.Thread(target=self._wait, args=(tree,), name="interlock-command", daemon=True).start()

    def _take_over(self) -> None:
        """Attach to the client if it is still alive; otherwise tell the owner that it has exited."""
        from ...process import UNKNOWN_STATUS, attach

        if self._setup.left is not None:
            self._tree = attach(self._setup.left)
            self._owner.send(CommandStarted(self._setup.left))
            self._follow(self._tree)
        else:
            self._no_client = True
            self._owner.send(Exited(UNKNOWN_STATUS))

    def _relaunch(self, wanted: Relaunch) -> None:
        """Restart the client in its session, at most once for each park, even if the owner or front was replaced."""
        setup = self._setup
        if wanted.park and wanted.park <= setup.launched:
            from ...process import UNKNOWN_STATUS

            # The client was started, but the owner that was told died, or the front died.
            started = self._tree.handle() if self._tree is not None else read_tree(self._folder)
            self._owner.forget_command()
            if started is not None:
                self._owner.send(CommandStarted(started, wanted.park))
            if self._no_client:
                self._owner.send(Exited(UNKNOWN_STATUS))
            return
        setup.launched = max(setup.launched, wanted.park)
        store_launch(self._folder, self._launch, setup.port, setup.launched)
        if self._tree is not None:
            # Processes left by the old client must not run beside the new one.
            self._tree.end(1.0)
            self._tree.close()
        self._owner.forget_command()
        setup.renew()
        if setup.foreground is not None:
            self._person = TerminalApproval(self._folder, setup.foreground)
        resume = RESUMPTIONS.get(self._launch.spec.adapter)
        argv = setup.command
        if resume is not None and wanted.session:
            argv = resume(argv, self._launch.wiring.task if self._launch.wiring else "", wanted.session, wanted.words)
        self._start_command(argv, wanted.park)

    def _wait(self, tree: ProcessTree) -> None:
        status = tree.wait()
        left = end_left_running(tree, self._folder, leave=self._launch.config.runtime.left_running == "leave")
        self._setup.output.drain()
        self._events.put(Exited(status if status is not None else 0, tuple(e.words for e in tree.events()), left))

    def _loop(self) -> Finished:
        """Handle events until the run is over."""
        deadline: float | None = None
        while True:
            check_at = (
                self._unsupervised_run.check_at if self._unsupervised_run is not None and self._status is None else None
            )
            moments = (deadline, self._end_by, self._hint_at, check_at)
            due = min((at for at in moments if at is not None), default=None)
            try:
                event = self._events.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
            except queue.Empty:
                if due == self._hint_at:
                    self._hint()
                    continue
                if due == check_at:
                    self._check_limits()
                    continue
                if due != deadline:
                    self._end_by = None
                    self._cancel("the command did not react to the signal")
                    continue
                return self._without_owner(self._unsupervised or "the owner did not finish")
            if isinstance(event, Finished):
                if self._tree is not None:
                    self._tree.close()
                return self._complete(event) if self._unsupervised else event
            if isinstance(event, Exited):
                self._notice_cancel()
                self._status, self._end_by, self._hint_at = event.status, None, None
                if self._unsupervised:
                    self._owner.try_once_more((listen(self._setup.control), listen(self._setup.steps)))
                self._owner.send(replace(event, limits=(*event.limits, *self._limits)))
                deadline = time.monotonic() + (LAST_S if self._unsupervised else PATIENCE_S)
            elif isinstance(event, OwnerGone) and not event.again:
                self._unsupervised = self._unsupervised or f"supervision was lost: {event.words}"
                if self._status is not None:
                    return self._without_owner(self._unsupervised)
                self._continue_unsupervised()
            elif isinstance(event, ClientParked):
                deadline, self._no_client = None, True
                write_stderr(f"interlock: {event.words}\n")
            elif isinstance(event, Relaunch):
                deadline = None
                self._relaunch(event)
            elif isinstance(event, Checking):
                deadline = time.monotonic() + event.seconds + PATIENCE_S
            elif isinstance(event, ParkOver):
                self._owner.send(Exited(event.status))
                deadline = time.monotonic() + PATIENCE_S
            elif isinstance(event, ApprovalAsked):
                self._person.ask(event)
            elif isinstance(event, ApprovalGiven):
                self._person.print_message(event.words)
            elif isinstance(event, Signalled):
                self._handle_signal(event)

    def _continue_unsupervised(self) -> None:
        """No owner stays alive: continue the command without one, or end it if runtime.fail is closed."""
        self._unsupervised_run = UnsupervisedRun(
            self._launch.config,
            self._folder,
            self._begun,
            refuses=self._setup.fails_closed and self._setup.wired is not None,
        )
        self._unsupervised_run.say(self._unsupervised)
        if self._unsupervised_run.closed:
            self._end(InterlockError.exit_status, "the command was stopped because runtime.fail is closed")
        elif self._setup.proxy_listener is not None:
            from ..proxy import relay_without_owner

            self._relay = relay_without_owner(self._setup.proxy_listener, self._launch.proxied, self._folder.gate)

    def _check_limits(self) -> None:
        assert self._unsupervised_run is not None
        if (ending := self._unsupervised_run.check()) is not None:
            self._end(*ending)

    def _notice_cancel(self) -> None:
        """Notice that an unsupervised run was cancelled, which ends its processes: this explains their end."""
        ending = (
            self._unsupervised_run.check() if self._unsupervised_run is not None and self._ended_with is None else None
        )
        if ending is not None and ending[0] == CANCELLED:
            self._ended_with = CANCELLED
            self._unsupervised += f"; {ending[1]}"

    def _end(self, exit_status: int, why: str) -> None:
        """End the command ourselves, unless it is already being ended."""
        assert self._tree is not None
        if self._ended_with is None and not self._cancelling:
            self._ended_with = exit_status
            self._unsupervised += f"; {why}"
            self._limits = (why,) if exit_status == TIME_IS_UP else ()
            threading.Thread(target=self._tree.end, args=(END_S,), name="interlock-end", daemon=True).start()

    def _handle_signal(self, event: Signalled) -> None:
        foreground = self._setup.foreground
        if self._tree is None or self._no_client:
            # There is no client to forward the signal to: it is meant for the parked run.
            if event.number == signal.SIGHUP and self._no_client:
                # Closing the terminal does not cancel a parked run: its owner resumes it.
                die_of(signal.SIGHUP)
            elif event.number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                self._cancel(CTRL_C if event.number == signal.SIGINT else signal.Signals(event.number).name)
            return
        if foreground is not None and event.number == signal.SIGCHLD:
            # The sandbox's first process reports what happens to the command.
            return
        if foreground is not None and event.number == signal.SIGCONT:
            # If the command has the terminal, it was already continued; a late SIGCONT would undo the next Ctrl-Z.
            if not foreground.is_given():
                foreground.give()
            return
        if event.number in (signal.SIGTSTP, signal.SIGCHLD):
            if foreground is not None and not event.shared:
                pass_on(self._tree.pid, event.number)
            if stop_with(self._tree.pid, wait=event.number == signal.SIGTSTP) and foreground is not None:
                foreground.give()
            return
        if not event.shared and self._tree.poll() is None:
            pass_on(self._tree.pid, event.number)
        now = event.at
        if event.number == signal.SIGINT:
            if now - self._interrupted < SECOND_S:
                self._cancel(CTRL_C)
            elif self._status is None:
                self._hint_at = now + HINT_S
            self._interrupted = now
        elif event.number in (signal.SIGTERM, signal.SIGHUP) and self._status is None:
            if self._end_by is not None:
                self._cancel(f"a second {signal.Signals(event.number).name}")
            self._end_by = self._end_by or now + TERM_S

    def _hint(self) -> None:
        """Print what another Ctrl-C does, unless a full-screen program is using the terminal."""
        self._hint_at = None
        terminal = None if self._cancelling else open_line_terminal(self._setup.foreground)
        if terminal is not None:
            os.write(terminal, f"interlock: Ctrl-C again within {SECOND_S:.0f} s ends the run\r\n".encode())
            os.close(terminal)
            self._interrupted = time.monotonic()

    def _cancel(self, why: str) -> None:
        """End the run as `interlock cancel` would; without an owner, end it ourselves."""
        if self._cancelling:
            return
        self._cancelling = True
        threading.Thread(target=self._ask_cancel, args=(why,), name="interlock-cancel", daemon=True).start()

    def _ask_cancel(self, why: str) -> None:
        if not self._unsupervised:
            # If the owner cannot be reached, the command is ended below anyway.
            with contextlib.suppress(InterlockError, OSError, ImportError):
                self._ask_owner_to_cancel(why)
        if self._tree is not None and not self._no_client and self._status is None and self._tree.wait(5.0) is None:
            self._tree.end(1.0)

    def _ask_owner_to_cancel(self, why: str) -> None:
        from ...control import new_request
        from ...link import ask_owner

        actor = "terminal" if why == CTRL_C else SIGNAL
        request = new_request(str(uuid.uuid4()), "cancel", self._launch.spec.run_id, actor=actor, reason=why)
        ask_owner(self._folder, request, timeout=5.0)

    def _await_finished(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        with contextlib.suppress(queue.Empty):
            while not isinstance(self._events.get(timeout=max(0.0, deadline - time.monotonic())), Finished):
                pass

    def _complete(self, summary: Finished) -> Finished:
        """Complete the summary of an owner that only recorded the end with the message and exit status that we know."""
        status = self._exit_status
        return replace(
            summary, message=self._unsupervised, exit_status=summary.exit_status if status is None else status
        )

    @property
    def _exit_status(self) -> int | None:
        return 130 if self._cancelling else self._status if self._ended_with is None else self._ended_with

    def _without_owner(self, why: str) -> Finished:
        """The summary of a run that no owner can provide."""
        spec = self._launch.spec
        if self._tree is not None and self._status is not None:
            self._tree.close()
        status = self._exit_status
        return Finished(
            run_id=spec.run_id,
            name=spec.name,
            status="unknown",
            reason="ERROR",
            message=why,
            exit_status=status if status is not None else 0,
            command_status=self._status,
            seconds=time.monotonic() - self._begun,
            folder=str(self._folder.path),
        )
