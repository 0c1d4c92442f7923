"""Refusals: records what a run's sandbox refused, once per step, as far as we can see it.

The proxy reports the hosts that it refuses. Refusals by mounts, Landlock and missing routes are visible only to the
program: they are recorded if a tool's result mentions them.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from ...core import InterlockError, Message, Step, late_pattern
from ...journal_records import FenceRecord
from ...runtime import Supervisor, explain_limit, place_of

MOST = 1000
"""The most refusals recorded for a run."""

MOST_TEXT = 65_536
MOST_TOLD = 20
"""The most places about which the agent gets a message."""

SIGNS = late_pattern(
    r"(?P<write>read-only file system|\bEROFS\b)|(?P<access>permission denied|\bEACCES\b)"
    r"|(?P<route>network is unreachable|\bENETUNREACH\b)|(?P<docker>cannot connect to the docker daemon)",
    re.I,
)
PATH = late_pattern(r"(?<![\w.:/])/[^\s:'\"`,;)]+")


DOCKER = ("Interlock hides the Docker daemon from this run: through it, the whole machine can be written. Go on "
          "without it, or say that the task needs it: a person allows it with contain.allow: [docker].")  # fmt: skip

QUIET = ("history", "_hist", ".viminfo", ".lesshst", "known_hosts", "telemetry", ".python_history")
"""Parts of names that programs write by the way: a refusal there is nobody's business."""


class Refusals:
    """For one contained run; a `fenced` run has no network routes. `workspace` is where a limited run may write."""

    def __init__(self, supervisor: Supervisor, *, fenced: bool, workspace: str) -> None:
        self._supervisor, self._fenced, self._workspace = supervisor, fenced, workspace
        self._noted: set[tuple[str, int, int]] = set()
        self.places: dict[str, int] = {}
        """What the agent was told that it cannot reach, and how often it tried."""

    def note_host(self, host: str, port: int, why: str) -> None:
        """Record that the proxy refused a host."""
        self._note(host, port, why, max(0, self._supervisor.next_index - 1))
        where = f"{host}:{port}"
        self._tell(where, f"Interlock did not let this run reach {where} ({why}). Go on without it, or say that the "
                   "task needs it: a person allows it with contain.hosts.")  # fmt: skip

    def note_result(self, step: Step) -> None:
        """Record a tool's failure if the sandbox caused it, and explain it to the agent, once for each place."""
        if not (step.error or step.exit_code):
            return
        for line in step.content[-MOST_TEXT:].splitlines():
            if (sign := SIGNS.search(line)) is not None and self._is_sandbox(sign.lastgroup or "", line):
                if sign.lastgroup == "docker":
                    self._tell("docker", DOCKER)
                    return
                path = PATH.search(line)
                if path is not None and any(word in path[0] for word in QUIET):
                    continue
                self._note("", 0, line.strip()[-300:], step.index)
                if path is not None and self._workspace and sign.lastgroup != "route":
                    reason, instead = explain_limit(path[0], self._workspace, line)
                    self._tell(place_of(path[0]), f"{reason} Instead: {instead}")
                return

    def lines(self) -> tuple[str, ...]:
        """What the run was refused, for the person who started it."""
        counts = dict(self.places)
        if self._supervisor.pipeline.has_judged:
            for place, steps in self._supervisor.pipeline.parts.write_check.denied.items():
                counts[place] = counts.get(place, 0) + len(steps)
        return tuple(f"{place} ({'once' if count == 1 else f'{count} times'})" for place, count in counts.items())

    def _tell(self, place: str, words: str) -> None:
        self.places[place] = self.places.get(place, 0) + 1
        if self.places[place] == 1 and len(self.places) <= MOST_TOLD:
            self._supervisor.executor.messages.append(Message(words))

    def _is_sandbox(self, sign: str, line: str) -> bool:
        """Whether the action would have worked outside the sandbox, as far as the line shows."""
        if sign in ("route", "docker"):
            return self._fenced or sign == "docker"
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
