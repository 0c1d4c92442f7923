"""RunSetup: how a run begins: its sockets, hooks and sandbox, the start of its owner, then of its command."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
from collections.abc import Callable, Set
from pathlib import Path

from msgspec.structs import replace

from ...core import boot_id
from ...journal import RunFolder, hold_front, read_tree, write_tree
from ...link import listen, socket_path
from ..hooks.wiring import RunAddress, Wired, unwire, wire
from ..proxy import OPENAI, address, redirect_environment, replace_keys
from .command_output import CommandOutput
from .containment_choice import (
    Level,
    SandboxPaths,
    build_enclosure,
    has_own_temporary,
    landlocked_paths,
    proxy_variables,
)
from .launch import Launch, StoredLaunch, store_launch
from .owner_messages import BeginRun, steps_path
from .owner_process import OwnerProcess, OwnerStartup
from .terminal_approval import write_stderr
from .terminal_foreground import Foreground

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...process import Enclosure, ProcessTree, TreeHandle

END_S = 3.0
"""How long the command may take to end, after a timeout or without an owner, before it is killed."""

CHECK_S = 0.1
"""How often to check for events while the first owner starts."""

LOOPBACK = "127.0.0.1"


class RunSetup:
    """What a run needs besides its command, created at once; `stored` continues a parked run.

    `left` is the process tree of a parked run whose client is still alive; `launched` is the park after which the
    client was last started; `fails_closed`: without an owner, the agent's hooks block every step.
    """

    def __init__(
        self,
        launch: Launch,
        level: Level,
        attended: bool,
        events: queue.SimpleQueue[object],
        stored: StoredLaunch | None,
    ) -> None:
        self.launch, self._level, self._attended, self._events = launch, level, attended, events
        self.foreground = Foreground(events) if level != "off" else None
        fail = launch.config.runtime.fail
        self.fails_closed = fail == "closed" or (fail == "auto" and level != "off" and not attended)
        self.folder = RunFolder(launch.store / launch.spec.run_id)
        self.control = socket_path(self.folder.path)
        self.steps = steps_path(self.control)
        self.steps.parent.mkdir(mode=0o700, exist_ok=True)
        self.stored = stored
        self.left = self._find_left() if stored is not None else None
        self._temporary = _make_temporary() if has_own_temporary(launch.config, level) else None
        self.proxy_listener = self._open_proxy_listener() if launch.proxied is not None else None
        self._egress = listen(self.steps.with_name("egress")) if level == "fence" else None
        self._api = ""
        if self.proxy_listener is not None and launch.proxied is not None:
            self._api = address(launch.proxied, self.port, OPENAI)
        self.wired = self._wire()
        self.launched = stored.launched if stored is not None else 0
        self.output = self._new_output()
        self._lock: int | None = None
        self._made: tuple[Path, ...] = ()

    def new_owner(self, missing: tuple[str, ...]) -> OwnerProcess:
        """The run's owner, not started yet. `missing` are variables that a parked run had and we do not."""
        launch, wired = self.launch, self.wired
        begin = BeginRun(
            **launch.shared(),
            store=str(launch.store),
            watched=tuple(map(str, wired.files)) if wired is not None else (),
            settings=tuple(map(str, wired.settings)) if wired is not None else (),
            expects_hooks=wired is not None and wired.headless,
            contained=self._level != "off",
            reopen=self.stored is not None,
            tree=self.left,
            lacks=missing,
            attended=self._attended,
            temporary=str(self._temporary or ""),
            fenced=self._level == "fence",
        )
        listeners = tuple(listener for listener in (self.proxy_listener, self._egress) if listener is not None)
        return OwnerProcess(begin, (listen(self.control), listen(self.steps), *listeners), self._events)

    def start_owner(self, owner: OwnerProcess, pending: Callable[[], Set[int]]) -> None:
        """Start the owner. If that fails, or a signal is `pending`, discard the run."""
        startup = OwnerStartup(self.launch.spec, pending)

        def check() -> float:
            startup.check()
            return CHECK_S

        try:
            owner.start(check, self._prepare)
            if self.stored is None:
                self._lock = hold_front(self.folder.path)
                store_launch(self.folder, self.launch, self.port)
            startup.check()
        except BaseException:
            owner.close()
            if self.stored is None:
                from ...journal import Store

                Store(self.launch.store).discard(self.launch.spec.run_id)
            raise

    def start_command(self, argv: tuple[str, ...]) -> ProcessTree:
        """Start the command; BadInput if it cannot be started."""
        tree = self._spawn(argv)
        self.output.started()
        if self.foreground is not None:
            self.foreground.start(tree.pid)
        return tree

    def renew(self) -> None:
        """Prepare another start of the client, after it has ended."""
        if self.wired is None:
            self.left = None
            self.wired = self._wire()
        self.output = self._new_output()
        if self.foreground is not None:
            self.foreground.claim()
            self.foreground = Foreground(self._events)
        self.output.start()

    def remove(self) -> None:
        """Remove sockets, temporary files and hooks, after the run."""
        self.control.unlink(missing_ok=True)
        _remove(self.steps.parent)
        if self._temporary is not None:
            _remove(self._temporary)
        if self.wired is not None:
            unwire(self._address, self.wired)
        if self._made:
            from ...contain import remove_unused

            remove_unused(self._made)

    @property
    def command(self) -> tuple[str, ...]:
        """The command with its hooks."""
        return self.wired.argv if self.wired is not None else self.launch.spec.argv

    @property
    def port(self) -> int:
        """The port of the model proxy, as the command sees it; 0 if there is none."""
        if self.proxy_listener is None:
            return 0
        if self._level != "fence":
            return int(self.proxy_listener.getsockname()[1])
        from ...contain import API_PORT

        return API_PORT

    def _find_left(self) -> TreeHandle | None:
        from ...process import attach

        left = read_tree(self.folder)
        # After a reboot, or if its processes are gone, there is nothing to attach to.
        if left is None or left.boot != boot_id() or not attach(left).alive():
            return None
        if self._level == "fence":
            # The proxy that was its only way out of the fence is gone, and so is the key it was given.
            attach(left).end(END_S)
            return None
        return left

    def _new_output(self) -> CommandOutput:
        launch = self.launch
        printed = launch.spec.adapter == "process" and launch.steps != "off"
        steps = f"{launch.steps}={self.steps}" if printed else ""
        return CommandOutput(self.folder.output, launch.config.store.output_bytes, steps)

    @property
    def _address(self) -> RunAddress:
        folder = self.control.with_suffix(".d")
        return RunAddress(
            socket=self.steps, gate=self.folder.gate, folder=folder, closed=self.fails_closed, api=self._api
        )

    def _open_proxy_listener(self) -> socket.socket:
        """The socket for requests to the model: a local port, or a socket behind the bridge of a fence."""
        return (
            listen(self.steps.with_name("api"))
            if self._level == "fence"
            # A client that is still alive knows the old port.
            else socket.create_server((LOOPBACK, self.stored.port if self.left and self.stored else 0), backlog=128)
        )

    def _wire(self) -> Wired | None:
        """Set up the hooks of a known agent."""
        if self.launch.wiring is None or self.left is not None:
            # A client that is still alive already has its hooks.
            return None
        if self.stored is not None:
            _remove(self._address.folder)
        wired = wire(self.launch.wiring, self._address)
        for note in wired.notes:
            write_stderr(f"interlock: {note}\n")
        return wired

    def _prepare(self) -> None:
        """Do the work that does not need the owner, while the owner starts."""
        if self.stored is None:
            self.output.start()
        from ...process import spawn  # noqa: F401  it takes a while

    def _spawn(self, argv: tuple[str, ...]) -> ProcessTree:
        from ...process import spawn

        def on_known(tree: TreeHandle) -> None:
            # Stored, so that the run can be controlled without us. It works without that if the disk is full.
            with contextlib.suppress(OSError):
                write_tree(self.folder, tree)

        return spawn(
            replace(self.launch.spec, argv=argv),
            env=self._environment(),
            stdout=self.output.stdout,
            stderr=self.output.stderr,
            limits=self.launch.config.limits,
            enclosure=self._enclose(argv),
            write=landlocked_paths(self._paths, self.launch.config) if self.foreground is None else (),
            on_known=on_known,
        )

    def _environment(self) -> dict[str, str]:
        spec, proxied = self.launch.spec, self.launch.proxied
        environment = {
            **os.environ,
            "INTERLOCK_RUN": spec.run_id,
            "INTERLOCK_SOCKET": str(self.steps),
            "INTERLOCK_GATE": str(self.folder.gate),
            "INTERLOCK_FAIL": "closed" if self.fails_closed else "open",
        }
        if proxied is not None:
            environment |= redirect_environment(environment, proxied, self.port)
            environment |= replace_keys(environment, proxied)
        if self._temporary is not None:
            environment["TMPDIR"] = "/tmp"
        if self._egress is not None:
            environment |= proxy_variables()
        if self.wired is not None:
            environment |= self.wired.environment
        if self.launched:
            environment["INTERLOCK_PARKS"] = str(self.launched)
        if spec.continues is not None:
            environment["INTERLOCK_CONTINUES"] = spec.continues
        return environment

    def _enclose(self, argv: tuple[str, ...]) -> Enclosure | None:
        if self.launch.config.contain.files == "workspace":
            from ...contain import make_state

            self._made += make_state(argv)
        if self.foreground is None:
            return None
        return build_enclosure(self._paths, self.launch.config, self.foreground)

    @property
    def _paths(self) -> SandboxPaths:
        folders = (self.launch.context.workspace, self.launch.spec.cwd)
        return SandboxPaths(
            store=self.launch.store,
            run=self.folder.path,
            sockets=(self.control, self.steps.parent),
            terminal=self.output.terminal,
            wiring=self._address.folder,
            files=self.wired.files if self.wired is not None else (),
            workspaces=tuple(Path(folder) for folder in folders if folder),
            temporary=self._temporary,
            fenced=self._level == "fence",
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
