"""Refusals: records what a run's sandbox refused, once per step, as far as we can see it.

The proxy reports the hosts that it refuses. Refusals by mounts, Landlock and missing routes are visible only to the
program: they are recorded if a tool's result mentions them.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from ...core import InterlockError, Step, late_pattern
from ...journal_records import FenceRecord
from ...runtime import Supervisor

MOST = 1000
"""The most refusals recorded for a run."""

MOST_TEXT = 65_536
SIGNS = late_pattern(
    r"(?P<write>read-only file system|\bEROFS\b)|(?P<access>permission denied|\bEACCES\b)"
    r"|(?P<route>network is unreachable|\bENETUNREACH\b)",
    re.I,
)
PATH = late_pattern(r"(?<![\w.:/])/[^\s:'\"`,;)]+")


class Refusals:
    """For one contained run; a `fenced` run has no network routes."""

    def __init__(self, supervisor: Supervisor, *, fenced: bool) -> None:
        self._supervisor, self._fenced = supervisor, fenced
        self._noted: set[tuple[str, int, int]] = set()

    def note_host(self, host: str, port: int, why: str) -> None:
        """Record that the proxy refused a host."""
        self._note(host, port, why, max(0, self._supervisor.next_index - 1))

    def note_result(self, step: Step) -> None:
        """Record a tool's failure if the sandbox caused it."""
        if not (step.error or step.exit_code):
            return
        for line in step.content[-MOST_TEXT:].splitlines():
            if (sign := SIGNS.search(line)) is not None and self._is_sandbox(sign.lastgroup or "", line):
                self._note("", 0, line.strip()[-300:], step.index)
                return

    def _is_sandbox(self, sign: str, line: str) -> bool:
        """Whether the action would have worked outside the sandbox, as far as the line shows."""
        if sign == "route":
            return self._fenced
        path = PATH.search(line)
        return sign == "write" if path is None else _may_write(Path(path[0]))

    def _note(self, host: str, port: int, why: str, step: int) -> None:
        if (host, port, step) in self._noted or len(self._noted) >= MOST:
            return
        self._noted.add((host, port, step))
        with contextlib.suppress(InterlockError):
            self._supervisor.run.record(FenceRecord(why, host, port, step))


def _may_write(path: Path) -> bool:
    """Whether we could write to this path ourselves."""
    target = path if path.exists() else path.parent
    return target.exists() and os.access(target, os.W_OK)
