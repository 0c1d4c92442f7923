"""TreeHandle: a process tree as plain data, so that another process can take it over."""

from __future__ import annotations

from msgspec import Struct

from ..core import Limits
from . import proc


class ProcessId(Struct, frozen=True):
    """One process; its start time distinguishes it from a later one with the same pid."""

    pid: int
    start: int

    @classmethod
    def of(cls, pid: int) -> ProcessId:
        """The process that has this pid now; a process that is gone never matches anything."""
        return cls(pid, proc.start_of(pid) or -1)

    def there(self) -> bool:
        """Whether the process still exists and is not a zombie."""
        process = proc.read_process(self.pid)
        return process is not None and process.start == self.start and not process.dead


class TreeHandle(Struct, frozen=True, kw_only=True):
    """Everything needed to find a tree again: `process.attach(handle)`.

    `marker` is in the environment of every process; `group` is the cgroup v2 folder, `controllers` are the cgroup v1
    folders by controller; `keeper` the process that adopts orphans if there is no cgroup. An `enclosed` tree
    has its own PID namespace, whose first process is the keeper: everything in it ends with the keeper.
    """

    marker: str
    boot: str
    root: ProcessId
    keeper: ProcessId | None = None
    group: str | None = None
    controllers: dict[str, str] = {}
    session: int | None = None
    limits: Limits = Limits()
    enclosed: bool = False
