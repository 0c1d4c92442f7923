"""The front of a run: the parent of the command, transparent to the terminal and the shell."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from ...core import SIGNAL, BadInput, InterlockError, boot_id, printable
from ...journal import RunFolder, read_tree, write_tree
from ...link import listen, socket_path
from ...process import refuse_missing_program
from ..hooks.wiring import RESUMPTIONS, RunAddress, Wired, unwire, wire
from ..proxy import OPENAI, address, redirect_environment, replace_keys
from .command_output import CommandOutput
from .containment_choice import (
    Level,
    SandboxPaths,
    build_enclosure,
    decide_containment,
    is_attended,
    proxy_variables,
    resolve,
)
from .job_control import Signalled, Signals, die_of, fill_standard_streams, keep_settings, pass_on, stop_with
from .launch import Launch
from .left_running import end_left_running
from .owner_messages import (
    ApprovalAsked,
    ApprovalGiven,
    BeginRun,
    Checking,
    ClientParked,
    CommandStarted,
    Exited,
    Finished,
    ParkOver,
    Relaunch,
    steps_path,
)
from .owner_process import OwnerGone, OwnerProcess
from .owner_startup import OwnerStartup
from .prepared_command import PreparedCommand
from .stored_launch import StoredLaunch, hold_front, store_launch
from .terminal_approval import TerminalApproval, open_line_terminal
from .terminal_foreground import Foreground
from .thin_caller import thin_caller
from .unsupervised import CANCELLED, TIME_IS_UP, UnsupervisedRun, load_late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import Enclosure, ProcessTree, TreeHandle

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

END_S = 3.0
"""How long the command may take to end, after a timeout or without an owner, before it is killed."""

LOOK_S = 0.1
"""How often to check for events while the first owner starts."""

FOLDER_S = 0.0005
"""How often to check whether the owner has created the run's folder, which takes it less than a second."""

LATE_S = 1.0
"""After this long, load the modules that only failures need, before an upgrade can replace them."""

LOOPBACK = "127.0.0.1"

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
    containment = decide_containment(launch.config)
    caller = thin_caller()
    if caller is not None:
        caller.accept(contained=containment.level != "off")
    attended = is_attended(launch.needs_approval)
    launch = replace(launch, config=resolve(launch.config, containment.level, attended=attended))
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
        self._launch, self._level = launch, level
        self._events: queue.SimpleQueue[object] = queue.SimpleQueue()
        # Do this first: from here on signals are queued until they are read.
        self._signals = Signals(self._events, own_group=level != "off")
        self._foreground = Foreground(self._events) if level != "off" else None
        fail = launch.config.runtime.fail
        self._closed = fail == "closed" or (fail == "auto" and level != "off" and not attended)
        self._folder = RunFolder(launch.store / launch.spec.run_id)
        self._control = socket_path(self._folder.path)
        self._steps = steps_path(self._control)
        self._steps.parent.mkdir(mode=0o700, exist_ok=True)
        self._stored = stored
        self._left = self._find_left() if stored is not None else None
        self._temporary = _make_temporary() if level == "fence" else None
        self._proxy_listener = self._open_proxy_listener() if launch.proxied is not None else None
        self._egress = listen(self._steps.with_name("egress")) if level == "fence" else None
        self._api = ""
        if self._proxy_listener is not None and launch.proxied is not None:
            self._api = address(launch.proxied, self._port, OPENAI)
        self._wired = self._wire()
        begin = BeginRun(
            spec=launch.spec,
            store=str(launch.store),
            config=launch.config,
            context=launch.context,
            needs_approval=launch.needs_approval,
            removed_actions=launch.removed_actions,
            watched=tuple(map(str, self._wired.files)) if self._wired is not None else (),
            settings=tuple(map(str, self._wired.settings)) if self._wired is not None else (),
            expects_hooks=self._wired is not None and self._wired.headless,
            proxied=launch.proxied,
            contained=level != "off",
            reopen=stored is not None,
            tree=self._left,
            lacks=missing,
            attended=attended,
            temporary=str(self._temporary or ""),
            fenced=level == "fence",
        )
        self._launched = stored.launched if stored is not None else 0
        self._no_client = False
        listeners = tuple(listener for listener in (self._proxy_listener, self._egress) if listener is not None)
        self._ownership = OwnerProcess(begin, (listen(self._control), listen(self._steps), *listeners), self._events)
        self._person = TerminalApproval(self._folder, self._foreground)
        self._output = self._new_output()
        self._has_folder = False
        self._lock: int | None = None
        self._prepared: PreparedCommand | None = None
        self._tree: ProcessTree | None = None
        self._bare: subprocess.Popen[bytes] | None = None
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
        self._late_at: float | None = self._begun + LATE_S

    def _find_left(self) -> TreeHandle | None:
        """The process tree of a parked run whose client is still alive."""
        from ...process import attach

        left = read_tree(self._folder)
        # After a reboot, or if its processes are gone, there is nothing to attach to.
        if left is None or left.boot != boot_id() or not attach(left).alive():
            return None
        if self._level == "fence":
            # The proxy that was its only way out of the fence is gone, and so is the key it was given.
            attach(left).end(END_S)
            return None
        return left

    def run(self, first_line: str) -> Finished:
        restore_terminal = keep_settings()
        try:
            self._begin()
            if first_line:
                _say(first_line)
            if self._launch.spec.adapter == "process" and sys.stderr is not None and sys.stderr.isatty():
                _say(VISIBLE[self._launch.steps])
            # Before the command exists: two pending signals of the same kind become one.
            self._signals.start()
            if self._stored is None:
                self._start_command(self._command)
            else:
                self._take_over()
            finished = self._loop()
            if self._foreground is not None:
                self._foreground.claim()
            if finished.reason != "COMPLETE":
                # A full-screen program that was killed leaves its terminal settings behind.
                restore_terminal()
            self._person.tell_the_rest()
            return finished
        finally:
            self._ownership.close()
            if self._bare is not None:
                self._bare.kill()
                self._bare.wait()
            self._control.unlink(missing_ok=True)
            _remove(self._steps.parent)
            if self._temporary is not None:
                _remove(self._temporary)
            if self._wired is not None:
                unwire(self._place, self._wired)

    def _start_command(self, argv: tuple[str, ...], park: int = 0) -> None:
        prepared, self._prepared = self._prepared, None
        try:
            self._tree = prepared.begin() if prepared is not None else self._spawn(argv)
        except BadInput as error:
            self._ownership.tell(Exited(error.exit_status))
            self._next(Finished, PATIENCE_S)
            raise
        self._output.started()
        if self._foreground is not None:
            self._foreground.start(self._tree.pid)
        self._no_client, self._status = False, None
        self._ownership.tell(CommandStarted(self._tree.handle(), park))
        self._follow(self._tree)

    def _new_output(self) -> CommandOutput:
        launch = self._launch
        printed = launch.spec.adapter == "process" and launch.steps != "off"
        steps = f"{launch.steps}={self._steps}" if printed else ""
        return CommandOutput(self._folder.output, launch.config.store.output_bytes, steps)

    def _follow(self, tree: ProcessTree) -> None:
        threading.Thread(target=self._wait, args=(tree,), name="interlock-command", daemon=True).start()

    def _take_over(self) -> None:
        """Attach to the client if it is still alive; otherwise tell the owner that it has exited."""
        from ...process import UNKNOWN_STATUS, attach

        if self._left is not None:
            self._tree = attach(self._left)
            self._ownership.tell(CommandStarted(self._left))
            self._follow(self._tree)
        else:
            self._no_client = True
            self._ownership.tell(Exited(UNKNOWN_STATUS))

    def _relaunch(self, wanted: Relaunch) -> None:
        """Restart the client in its session, at most once for each park, even if the owner or front was replaced."""
        if wanted.park and wanted.park <= self._launched:
            from ...process import UNKNOWN_STATUS

            # The client was started, but the owner that was told died, or the front died.
            started = self._tree.handle() if self._tree is not None else read_tree(self._folder)
            self._ownership.forget_command()
            if started is not None:
                self._ownership.tell(CommandStarted(started, wanted.park))
            if self._no_client:
                self._ownership.tell(Exited(UNKNOWN_STATUS))
            return
        self._launched = max(self._launched, wanted.park)
        store_launch(self._folder, self._launch, self._port, self._launched)
        if self._tree is not None:
            # Processes left by the old client must not run beside the new one.
            self._tree.end(1.0)
            self._tree.close()
        if self._wired is None:
            self._left = None
            self._wired = self._wire()
        self._ownership.forget_command()
        self._output = self._new_output()
        if self._foreground is not None:
            self._foreground.claim()
            self._foreground = Foreground(self._events)
            self._person = TerminalApproval(self._folder, self._foreground)
        resume = RESUMPTIONS.get(self._launch.spec.adapter)
        argv = self._command
        if resume is not None and wanted.session:
            argv = resume(argv, self._launch.wiring.task if self._launch.wiring else "", wanted.session, wanted.words)
        self._output.start()
        self._start_command(argv, wanted.park)

    @property
    def _command(self) -> tuple[str, ...]:
        return self._wired.argv if self._wired is not None else self._launch.spec.argv

    def _begin(self) -> None:
        """Start an owner. If that fails, or the person interrupts, discard the run."""
        startup = OwnerStartup(self._launch.spec, self._signals.pending)
        taken_away: list[FileNotFoundError] = []

        def look() -> float:
            startup.look()
            try:
                return self._prepare()
            except FileNotFoundError as error:
                # An owner that refuses the run removes its folder before it reports why.
                taken_away.append(error)
                return LOOK_S

        try:
            self._ownership.start(look, self._get_ready)
            if taken_away:
                raise taken_away[0]
            self._prepare()
            while self._prepared is not None and not self._prepared.wait(LOOK_S):
                startup.look()
            startup.look()
        except BaseException:
            self._ownership.close()
            if self._prepared is not None:
                self._prepared.abandon()
            if self._stored is None:
                from ...journal import Store

                Store(self._launch.store).discard(self._launch.spec.run_id)
            raise

    @property
    def _place(self) -> RunAddress:
        folder = self._control.with_suffix(".d")
        return RunAddress(socket=self._steps, gate=self._folder.gate, folder=folder, closed=self._closed, api=self._api)

    def _open_proxy_listener(self) -> socket.socket:
        """The socket for requests to the model: a local port, or a socket behind the bridge of a fence."""
        return (
            listen(self._steps.with_name("api"))
            if self._level == "fence"
            # A client that is still alive knows the old port.
            else socket.create_server((LOOPBACK, self._stored.port if self._left and self._stored else 0), backlog=128)
        )

    @property
    def _port(self) -> int:
        if self._proxy_listener is None:
            return 0
        if self._level != "fence":
            return int(self._proxy_listener.getsockname()[1])
        from ...contain import API_PORT

        return API_PORT

    def _wire(self) -> Wired | None:
        """Set up the hooks of a known agent."""
        if self._launch.wiring is None or self._left is not None:
            # A client that is still alive already has its hooks.
            return None
        if self._stored is not None:
            _remove(self._place.folder)
        wired = wire(self._launch.wiring, self._place)
        for note in wired.notes:
            _say(note)
        return wired

    def _prepare(self) -> float:
        """Do the work that needs the run's folder once it exists; returns seconds until the next check."""
        if self._stored is not None or self._has_folder:
            return LOOK_S
        if not self._folder.path.exists():
            return FOLDER_S
        self._has_folder = True
        self._lock = hold_front(self._folder)
        if self._prepared is not None:
            # The sandbox mounts the folder.
            self._prepared.set_ready()
        store_launch(self._folder, self._launch, self._port)
        return LOOK_S

    def _spawn(
        self,
        argv: tuple[str, ...],
        wait_for_folder: Callable[[], None] = lambda: None,
        hold: Callable[[], None] = lambda: None,
    ) -> ProcessTree:
        """Start the command once the run's folder exists; the command is held before its first instruction."""
        spec, config = replace(self._launch.spec, argv=argv), self._launch.config
        environment = {
            **os.environ,
            "INTERLOCK_RUN": spec.run_id,
            "INTERLOCK_SOCKET": str(self._steps),
            "INTERLOCK_GATE": str(self._folder.gate),
            "INTERLOCK_FAIL": "closed" if self._closed else "open",
        }
        if self._proxy_listener is not None and self._launch.proxied is not None:
            environment |= redirect_environment(environment, self._launch.proxied, self._port)
            environment |= replace_keys(environment, self._launch.proxied)
        if self._egress is not None:
            environment |= proxy_variables()
        if self._wired is not None:
            environment |= self._wired.environment
        if self._launched:
            environment["INTERLOCK_PARKS"] = str(self._launched)
        if spec.continues is not None:
            environment["INTERLOCK_CONTINUES"] = spec.continues

        from ...process import spawn

        def on_known(tree: TreeHandle) -> None:
            hold()
            self._keep(tree)

        enclosure = self._enclose()
        return spawn(
            spec,
            env=environment,
            stdout=self._output.stdout,
            stderr=self._output.stderr,
            limits=config.limits,
            enclosure=enclosure,
            on_known=on_known,
            starter=thin_caller(),
            on_prepared=wait_for_folder,
        )

    def _get_ready(self) -> None:
        """Do the work that does not need the owner, while the owner starts."""
        if self._stored is None:
            self._output.start()
            if self._foreground is not None:
                argv = self._command
                self._prepared = PreparedCommand(lambda wait, hold: self._spawn(argv, wait, hold))
        from ...process import spawn  # noqa: F401  it takes a while

    def _enclose(self) -> Enclosure | None:
        if self._foreground is None:
            return None
        spec, wired = self._launch.spec, self._wired
        paths = SandboxPaths(
            store=self._launch.store,
            run=self._folder.path,
            sockets=(self._control, self._steps.parent),
            terminal=self._output.terminal,
            wiring=self._place.folder,
            files=wired.files if wired is not None else (),
            workspaces=tuple(Path(place) for place in (self._launch.context.workspace, spec.cwd) if place),
            temporary=self._temporary,
            expected=not self._has_folder,
        )
        return build_enclosure(paths, self._launch.config, self._foreground)

    def _keep(self, tree: TreeHandle) -> None:
        """Store the tree, so that the run can be controlled without us."""
        with contextlib.suppress(OSError):
            # The run works without it if the disk is full.
            write_tree(self._folder, tree)

    def _wait(self, tree: ProcessTree) -> None:
        status = tree.wait()
        left = end_left_running(tree, self._folder, leave=self._launch.config.runtime.left_running == "leave")
        self._output.drain()
        self._events.put(Exited(status if status is not None else 0, tuple(e.words for e in tree.events()), left))

    def _loop(self) -> Finished:
        """Handle events until the run is over."""
        deadline: float | None = None
        while True:
            look_at = (
                self._unsupervised_run.check_at if self._unsupervised_run is not None and self._status is None else None
            )
            moments = (deadline, self._end_by, self._hint_at, look_at, self._late_at)
            due = min((at for at in moments if at is not None), default=None)
            try:
                event = self._events.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
            except queue.Empty:
                if due == self._hint_at:
                    self._hint()
                    continue
                if due == self._late_at:
                    self._late_at = None
                    with contextlib.suppress(ImportError, OSError):
                        # The run continues without these modules; code that needs them reports the error.
                        load_late()
                    continue
                if due == look_at:
                    self._look_alone()
                    continue
                if due != deadline:
                    self._end_by = None
                    self._cancel("the command did not react to the signal")
                    continue
                return self._without_owner(self._unsupervised or "the owner did not finish")
            if isinstance(event, Finished):
                if self._tree is not None:
                    self._tree.close()
                return self._as_it_was(event) if self._unsupervised else event
            if isinstance(event, Exited):
                self._learn_of_cancel()
                self._status, self._end_by, self._hint_at = event.status, None, None
                if self._unsupervised:
                    self._ownership.try_once_more((listen(self._control), listen(self._steps)))
                self._ownership.tell(replace(event, limits=(*event.limits, *self._limits)))
                deadline = time.monotonic() + (LAST_S if self._unsupervised else PATIENCE_S)
            elif isinstance(event, OwnerGone) and not event.again:
                self._unsupervised = self._unsupervised or f"supervision was lost: {event.words}"
                if self._status is not None:
                    return self._without_owner(self._unsupervised)
                self._go_on_alone()
            elif isinstance(event, ClientParked):
                deadline, self._no_client = None, True
                _say(event.words)
            elif isinstance(event, Relaunch):
                deadline = None
                self._relaunch(event)
            elif isinstance(event, Checking):
                deadline = time.monotonic() + event.seconds + PATIENCE_S
            elif isinstance(event, ParkOver):
                self._ownership.tell(Exited(event.status))
                deadline = time.monotonic() + PATIENCE_S
            elif isinstance(event, ApprovalAsked):
                self._person.ask(event)
            elif isinstance(event, ApprovalGiven):
                self._person.tell(event.words)
            elif isinstance(event, Signalled):
                self._take_signal(event)

    def _go_on_alone(self) -> None:
        """No owner stays alive: continue the command without one, or end it if runtime.fail is closed."""
        self._unsupervised_run = UnsupervisedRun(
            self._launch.config, self._folder, self._begun, refuses=self._closed and self._wired is not None
        )
        self._unsupervised_run.say(self._unsupervised)
        if self._unsupervised_run.closed:
            self._end(InterlockError.exit_status, "the command was stopped because runtime.fail is closed")
        elif self._proxy_listener is not None:
            from ..proxy import relay_without_owner

            self._bare = relay_without_owner(self._proxy_listener, self._launch.proxied, self._folder.gate)

    def _look_alone(self) -> None:
        assert self._unsupervised_run is not None
        if (ending := self._unsupervised_run.look()) is not None:
            self._end(*ending)

    def _learn_of_cancel(self) -> None:
        """Notice that an unsupervised run was cancelled, which ends its processes: this explains their end."""
        ending = (
            self._unsupervised_run.look() if self._unsupervised_run is not None and self._ended_with is None else None
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

    def _take_signal(self, event: Signalled) -> None:
        if self._tree is None or self._no_client:
            # There is no client to forward the signal to: it is meant for the parked run.
            if event.number == signal.SIGHUP and self._no_client:
                # Closing the terminal does not cancel a parked run: its owner resumes it.
                die_of(signal.SIGHUP)
            elif event.number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                self._cancel(CTRL_C if event.number == signal.SIGINT else signal.Signals(event.number).name)
            return
        if self._foreground is not None and event.number == signal.SIGCHLD:
            # The sandbox's first process reports what happens to the command.
            return
        if self._foreground is not None and event.number == signal.SIGCONT:
            # If the command has the terminal, it was already continued; a late SIGCONT would undo the next Ctrl-Z.
            if not self._foreground.is_given():
                self._foreground.give()
            return
        if event.number in (signal.SIGTSTP, signal.SIGCHLD):
            if self._foreground is not None and not event.shared:
                pass_on(self._tree.pid, event.number)
            if stop_with(self._tree.pid, wait=event.number == signal.SIGTSTP) and self._foreground is not None:
                self._foreground.give()
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
        terminal = None if self._cancelling else open_line_terminal(self._foreground)
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

    def _next(self, kind: type[Finished], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                if isinstance(self._events.get(timeout=deadline - time.monotonic()), kind):
                    return
            except queue.Empty:
                return

    def _as_it_was(self, told: Finished) -> Finished:
        """The summary of an owner that only recorded the end, with the message and exit status that we know."""
        status = self._exit_status
        return replace(told, message=self._unsupervised, exit_status=told.exit_status if status is None else status)

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


def _remove(folder: Path) -> None:
    """Remove a folder; most have no subfolders."""
    with contextlib.suppress(OSError):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def _make_temporary() -> Path:
    import tempfile

    return Path(tempfile.mkdtemp(prefix="interlock-"))


def _say(words: str) -> None:
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            sys.stderr.write(f"interlock: {printable(words)}\n")
            sys.stderr.flush()
