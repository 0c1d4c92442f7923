"""RunFolder: the files of one run, including its process tree; where the store is; run ids, which sort by time."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

import msgspec

from ..config import Config
from ..core import BadInput, InterlockError, NotFound, RunSpec, from_json, read_small, user_folder, write_whole
from ..process import TreeHandle
from .lock import OwnerInfo, RunLock, find_owner

TREE = "tree.json"
"""The file in a run's folder that describes its process tree."""

HELD = "held"
"""The file in a run's folder that says that a person stopped its processes while no owner answered."""

PARKED = "parked.json"
"""The file in a run's folder that says that a usage limit stopped it, and when it resumes."""

LAUNCH = "launch.json"
"""The file in a run's folder with how to restart a parked run, unredacted: never exported."""

OURS = ("journal.db", "spec.json", "lock", "gate", "socket", "inbox", "incidents", "output", "pictures", "series",
        TREE, HELD, PARKED, LAUNCH)  # fmt: skip
"""Prefixes of all names in a run's folder, without the dot of a draft."""


class _Part:
    """A path in a run's folder, created on first use: a list of runs has thousands of folders."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __set_name__(self, owner: type[RunFolder], attribute: str) -> None:
        self._attribute = attribute

    def __get__(self, folder: RunFolder, owner: type[RunFolder]) -> Path:
        made = folder.__dict__[self._attribute] = folder.path / self._name
        return made


class RunFolder:
    """The paths of a run, its spec and its lock. A run's folder can be copied: nothing in it depends on its path."""

    journal = _Part("journal.db")
    spec_file = _Part("spec.json")
    lock_file = _Part("lock")
    gate = _Part("gate")
    inbox = _Part("inbox")
    incidents = _Part("incidents")
    pictures = _Part("pictures")
    output = _Part("output")
    series = _Part("series")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name

    def is_run(self) -> bool:
        """Whether this is a run's folder: the store may also contain other things."""
        path = str(self.path)
        if not is_run_id(self.run_id) or os.path.islink(path):  # noqa: PTH114  for each run of a list
            return False
        return os.path.lexists(f"{path}/journal.db") or os.path.lexists(f"{path}/spec.json")

    def __repr__(self) -> str:
        return f"RunFolder({str(self.path)!r})"

    def spec(self) -> RunSpec:
        """The run's description."""
        try:
            return from_json(read_small(self.spec_file), RunSpec)
        except FileNotFoundError:
            raise NotFound(f"{self.path} is not a run", todo="Its spec.json is missing.") from None
        except msgspec.DecodeError as error:
            raise InterlockError(f"the spec cannot be read: {error}", where=str(self.spec_file)) from None

    def lock(self) -> RunLock:
        """Become the run's owner, or raise InvalidState naming the current one."""
        return RunLock.acquire(self.lock_file, f"run {self.run_id}")

    def owner(self) -> OwnerInfo | None:
        """The live process that owns the run, or None."""
        return find_owner(self.lock_file)

    def size(self) -> int:
        """Bytes of all files in it."""
        total = 0
        for parent, _, names in os.walk(self.path):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    total += Path(parent, name).lstat().st_size
        return total


ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no i, l, o or u to misread."""

TICKS = 32
"""Ids of different 1/32 seconds sort by time; within one they differ by chance (one in a million)."""

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def new_run_id(now: float | None = None) -> str:
    """A new id: eight characters of time, four random ones."""
    moment = int((time.time() if now is None else now) * TICKS)
    return _digits(moment, 8) + _digits(int.from_bytes(os.urandom(3), "big"), 4)


def check_run_id(run_id: str) -> str:
    """The id itself; BadInput if it cannot be the name of a folder."""
    if not is_run_id(run_id):
        raise BadInput(
            f"{run_id[:80]!r} cannot be a run id", todo="Use up to 64 letters, digits, dots, dashes and underscores."
        )
    return run_id


def is_run_id(name: str) -> bool:
    """Whether a name can be a run's."""
    return _SAFE.fullmatch(name) is not None


def _digits(number: int, width: int) -> str:
    return "".join(ALPHABET[number >> 5 * digit & 31] for digit in reversed(range(width)))


def store_root(config: Config) -> Path:
    """The folder that the configuration names."""
    return Path(config.store.dir).expanduser() if config.store.dir else default_root()


def default_root() -> Path:
    """Where runs are stored by default."""
    return user_folder("state") / "runs"


def write_tree(folder: RunFolder, tree: TreeHandle) -> None:
    """Store a run's process tree."""
    write_whole(folder.path / TREE, msgspec.json.encode(tree))


def read_tree(folder: RunFolder) -> TreeHandle | None:
    """A run's process tree; None if it never had one."""
    try:
        return from_json(read_small(folder.path / TREE), TreeHandle)
    except (OSError, msgspec.DecodeError):
        return None


def agent_lives(folder: RunFolder) -> bool:
    """Whether any process of the run is left on this machine, whoever supervises it."""
    from ..process import attach

    tree = read_tree(folder)
    return tree is not None and attach(tree).alive()
