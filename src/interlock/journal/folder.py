"""RunFolder: where everything of one run is."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from ..core import InterlockError, NotFound, RunSpec, from_json
from .ids import is_run_id
from .lock import OwnerInfo, RunLock, find_owner

TREE = "tree.json"
"""The file in a run's folder that tells its process tree."""

HELD = "held"
"""The file in a run's folder that says that a person stopped its processes while no owner answered."""

PARKED = "parked.json"
"""The file in a run's folder that says that a usage limit stopped it, and when it resumes."""

LAUNCH = "launch.json"
"""The file in a run's folder that tells how to start a parked run again, as it was typed: no export has it."""

OURS = ("journal.db", "spec.json", "lock", "gate", "socket", "inbox", "incidents", "output", "pictures", TREE, HELD,
        PARKED, LAUNCH)  # fmt: skip
"""How the names of everything in a run's folder begin, the dot of a draft aside."""


class RunFolder:
    """The paths of a run, its spec and its lock. It can be copied and sent; nothing in it knows where it is."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.run_id = path.name
        self.journal = path / "journal.db"
        self.spec_file = path / "spec.json"
        self.lock_file = path / "lock"
        self.gate = path / "gate"
        self.inbox = path / "inbox"
        self.incidents = path / "incidents"
        self.pictures = path / "pictures"
        self.output = path / "output"

    def is_run(self) -> bool:
        """Whether it is one: someone may have put a store where other things lie, which are none of our business."""
        if not is_run_id(self.run_id) or self.path.is_symlink():
            return False
        return any(os.path.lexists(file) for file in (self.journal, self.spec_file))

    def __repr__(self) -> str:
        return f"RunFolder({str(self.path)!r})"

    def spec(self) -> RunSpec:
        """What the run is."""
        try:
            return from_json(self.spec_file.read_bytes(), RunSpec)
        except FileNotFoundError:
            raise NotFound(f"{self.path} is not a run", todo="Its spec.json is missing.") from None
        except msgspec.DecodeError as error:
            raise InterlockError(f"the spec cannot be read: {error}", where=str(self.spec_file)) from None

    def lock(self) -> RunLock:
        """Become the run's owner, or raise InvalidState with who is."""
        return RunLock.acquire(self.lock_file, f"run {self.run_id}")

    def owner(self) -> OwnerInfo | None:
        """The live process that owns the run, if one does."""
        return find_owner(self.lock_file)

    def size(self) -> int:
        """Bytes of all files in it."""
        total = 0
        for place, _, names in os.walk(self.path):
            for name in names:
                with contextlib.suppress(FileNotFoundError):
                    total += Path(place, name).lstat().st_size
        return total
