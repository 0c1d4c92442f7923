"""A gate file as a run's owner writes it."""

from pathlib import Path

from interlock.control import Desired
from interlock.core import Status
from interlock.link import FileGate


def write_gate(path: Path, status: Status, revision: int, *, shut: bool | None = None) -> bool:
    """Put the gate into a state; False where the file has a newer revision."""
    desired = Desired(revision, status, status != "running" if shut is None else shut, None)
    return FileGate(path).set_desired(desired).how == ""
