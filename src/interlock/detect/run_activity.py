"""RunActivity: what the run as a whole has done, whichever of its agents did it."""

from __future__ import annotations

from msgspec import Struct, field

from ..proof import tests
from .completed_call import CompletedCall

FILES = 256
"""Files remembered as written."""


class RunActivity(Struct):
    """The files that were written, those that were only read, whether anything was run, and the step at which tests
    failed last."""

    written: list[str] = field(default_factory=list)
    read: dict[str, None] = field(default_factory=dict)
    ran: bool = False
    failing: int | None = None

    def record(self, turn: CompletedCall) -> None:
        """Enter one turn."""
        if turn.wrote:
            for path in turn.paths:
                name = file_name(path)
                if name not in self.written:
                    self.written.append(name)
            del self.written[:-FILES]
        elif not turn.failed:
            for path in turn.paths:
                self.read[file_name(path)] = None
            while len(self.read) > FILES:
                del self.read[next(iter(self.read))]
        testing = tests(turn.words)
        if testing or turn.effect == "run":
            self.ran = True
        if testing and turn.effect in ("run", "write"):
            self.failing = turn.step if turn.failed else None


def file_name(path: str) -> str:
    """The last part of a path."""
    return path.rstrip("/").rpartition("/")[2]
