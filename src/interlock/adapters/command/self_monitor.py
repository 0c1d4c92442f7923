"""SelfMonitor: checks what supervision depends on: sockets, gate, checkpoints, cgroup. Repairs what it can."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path

from ...contain import command_paths, in_group
from ...core import InterlockError
from ...journal import RunFolder
from ...runtime import UNDO_LOST, RunControl, Supervisor
from ..hooks.hook_guardian import HookGuardian, file_identity
from ..run_process_tree import RunProcessTree

log = logging.getLogger("interlock")


class SelfMonitor:
    """For one run, called twice a second. `contained`: changes seen outside the sandbox are not the agent's doing."""

    def __init__(
        self,
        supervisor: Supervisor,
        guardian: HookGuardian,
        held: RunProcessTree,
        folder: RunFolder,
        *,
        contained: bool,
        late: tuple[Path, ...] = (),
        settings: tuple[Path, ...] = (),
    ) -> None:
        self._supervisor, self._guardian, self._held, self._folder = supervisor, guardian, held, folder
        self._contained = contained
        self._late, self._settings = tuple(map(str, late)), tuple(map(str, settings))
        self._sockets: dict[Path, tuple[object, Callable[[], None]]] = {}
        self._paths, self._gate = [str(folder.journal)], str(folder.gate)
        self._stamped: list[object] = []
        self._seen: list[object] = []
        self._undo_lost = False
        self._journal_identity = file_identity(folder.journal)
        self._commands = {path: _own_identity(path) for path in command_paths()} if contained else {}

    def keep_socket(self, path: Path, bind_again: Callable[[], None]) -> None:
        """Rebind this socket whenever it disappears."""
        self._sockets[path] = (file_identity(path), bind_again)
        self._paths = [*map(str, self._sockets), str(self._folder.journal)]

    def is_touched(self) -> bool:
        """Whether a socket, the gate or the journal changed since the last check; cheap."""
        try:
            # The same as `_stamps` if nothing is missing, but faster.
            found: list[object] = [(info.st_dev, info.st_ino) for info in map(os.stat, self._paths)]
            gate = os.stat(self._gate)  # noqa: PTH116  asked twice a second
        except OSError:
            return self._stamps() != self._stamped
        found.append((gate.st_ino, gate.st_mtime_ns))
        return found != self._stamped

    def _stamps(self) -> list[object]:
        return [*map(file_identity, self._paths), _written(self._gate)]

    def check(self) -> None:
        """Check that nothing has changed, with a few stat calls."""
        for path, (known, bind_again) in tuple(self._sockets.items()):
            if file_identity(path) != known:
                with contextlib.suppress(InterlockError, OSError):
                    bind_again()
                    self._sockets[path] = (file_identity(path), bind_again)
                    self._notice("a socket of the run was removed; it is bound again", path)
        steering = self._supervisor.run.steering
        if isinstance(steering, RunControl) and steering.mend_gate():
            self._notice("the run's gate file was changed; it is restored", self._folder.gate)
        if self._journal_identity is not None and file_identity(self._folder.journal) != self._journal_identity:
            self._journal_identity = None
            self._notice("the run's journal was replaced or removed", self._folder.journal)
        self._check_checkpoints()
        for late in self._late:
            # Not with stat, which raises for a missing file, the usual case here.
            if os.access(late, os.F_OK):
                self._guardian.notice("a file that starts programs outside the run was created", late)
        for settings in self._settings:
            if os.access(settings, os.F_OK):
                # Clients create some of these files themselves.
                self._guardian.notice("settings that start programs in later sessions were created", settings, "warn")
        for path, known in self._commands.items():
            if _own_identity(path) != known:
                self._guardian.notice("what your shell runs as interlock was replaced", str(path))
        # Accept new stamps only when two checks in a row agree: repairing the gate changes them.
        seen, self._seen = self._seen, self._stamps()
        self._stamped = self._seen if seen == self._seen else self._stamped

    def _check_checkpoints(self) -> None:
        workspace = self._supervisor.executor.workspace
        if self._undo_lost or workspace is None or not workspace.checkpoints.removed:
            return
        self._undo_lost = True
        self._notice(UNDO_LOST, workspace.checkpoints.store_path)
        self._supervisor.hold_without_undo()

    def check_cgroup(self) -> None:
        """Report processes that left the run's cgroup: they can still be stopped, but its limits no longer apply."""
        tree = self._held.tree
        group = tree.handle().group if tree is not None else None
        if tree is None or group is None:
            return
        strays = [pid for pid in tree.sampled() if not in_group(pid, Path(group).name)]
        # A process that is exiting is no longer in our cgroup.
        if strays and (left := [pid for pid in strays if pid in tree.pids() and not in_group(pid, Path(group).name)]):
            self._guardian.notice(f"a process left the run's cgroup ({', '.join(map(str, left[:5]))})")

    def _notice(self, what: str, path: Path | None) -> None:
        self._guardian.notice(what, str(path or ""), answer="warn" if self._contained else None)


def _own_identity(path: Path) -> tuple[int, int] | None:
    """The identity of a symbolic link itself, not of its target."""
    try:
        info = path.lstat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def _written(path: str) -> tuple[int, int] | None:
    try:
        info = os.stat(path)  # noqa: PTH116  asked twice a second
    except OSError:
        return None
    return info.st_ino, info.st_mtime_ns
