"""LivenessMonitor: determines what a run is doing, and reacts if it hangs."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...core import Liveness
from ...journal import RunFolder
from ...journal_records import LivenessRecord, UnwedgeRecord
from ...output import OutputReader
from ...redact import redact_text
from ...runtime import LivenessMemory, ModelProbe, Probes, Supervisor, fuse, until_hang
from ..run_process_tree import RunProcessTree
from .hang_reactions import HangReactions
from .probes import ProbeReader, question_on
from .usage_limit_parking import UsageLimitParking

if TYPE_CHECKING:
    from ..proxy.upstream_connection import OpenRequest, Traffic

MARGIN_S = 0.1

AGAIN_S = 1.0
"""Interval until the next check when a process was first seen to read the terminal."""

POLL_S = 5.0
"""Interval between two checks. Displayed liveness may be this old."""

FULL_BYTES = 1024 * 1024
"""A disk with less free space than this counts as full."""

REFRESH_S = 60.0
"""How old the evidence may be that is shown while a run keeps doing the same."""

STEP_S = 60.0
"""Interval between two reactions to the same hang."""


HUNG = "the owner of the run did not answer for 40 s"


class LivenessMonitor:
    """For one run; the monitor calls `check` again after `due_s` at the latest."""

    def __init__(
        self,
        supervisor: Supervisor,
        folder: RunFolder,
        held: RunProcessTree,
        parking: UsageLimitParking,
        traffic: Traffic | None,
    ) -> None:
        self._supervisor, self._folder, self._held, self._parking = supervisor, folder, held, parking
        self._traffic = traffic
        self._output = OutputReader(folder.output)
        self._rules = supervisor.config.unattended
        self._memory = LivenessMemory()
        self._reader = ProbeReader()
        self._is_first = True
        self._next = 0.0
        self.due_s = math.inf
        self._reactions = HangReactions(supervisor, held, parking, traffic)
        self._react_at = self._refresh = 0.0
        self.attended: Callable[[], bool] = lambda: False
        self.visible: Callable[[], bool] = lambda: True
        self.is_client: Callable[[], bool] = lambda: True

    def check(self) -> None:
        """Measure, report, react."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + POLL_S
        self.due_s = math.inf
        run = self._supervisor.run
        if run.ended:
            return
        seen = self._probe(now)
        self._memory, liveness = fuse(self._memory, seen, tool_s := self._rules.tool_minutes * 60)
        self.due_s = AGAIN_S if self._reader.unsure else until_hang(self._memory, tool_s) + MARGIN_S
        self._next = now + min(POLL_S, self.due_s)
        first, self._is_first = self._is_first, False
        if first and self._reader.unsure:
            # A predecessor may have reported the same question; the next check will tell.
            return
        self._say(liveness)
        if liveness.wedged is not None and self._rules.unwedge and now >= self._react_at:
            self._react_at = now + STEP_S
            self._reactions.react(liveness, liveness.wedged, seen)

    def note_replaced(self) -> None:
        """Record that our predecessor hung and we replaced it."""
        run = self._supervisor.run
        record = LivenessRecord("wedged", HUNG, None, "owner hung")
        run.append([record, UnwedgeRecord("owner hung", "the owner was replaced", HUNG)], durable=True)
        run.on_waiting(self._supervisor.next_index, f"wedged: owner hung: {HUNG}; it was replaced")

    def _say(self, liveness: Liveness) -> None:
        """Update the summary; record questions, hangs and the end of hangs."""
        run, before = self._supervisor.run, self._supervisor.run.summary.liveness
        now = time.monotonic()
        if before is not None and _kind(before) == _kind(liveness):
            if before.since != liveness.since or (before.evidence != liveness.evidence and now >= self._refresh):
                self._refresh = now + REFRESH_S
                run.update(liveness=liveness)
            return
        self._refresh = now + REFRESH_S
        noteworthy = liveness.wedged is not None or liveness.evidence.startswith("process ")
        ends = before is not None and before.wedged is not None
        if noteworthy or ends:
            record = LivenessRecord(liveness.word, liveness.evidence, liveness.question, liveness.wedged)
            run.append([record], changes={"liveness": liveness})
        else:
            run.update(liveness=liveness)
        if noteworthy:
            run.on_waiting(self._supervisor.next_index, liveness.question or f"{liveness.words}: {liveness.evidence}")

    def _probe(self, now: float) -> Probes:
        run, tree = self._supervisor.run, self._held.tree
        pids = tree.sampled() if tree is not None else ()
        client = self._held.client_among(pids)
        latest = self._output.latest()
        tool = run.gate.oldest_call
        oldest = self._traffic.oldest if self._traffic is not None else None
        reader = self._reader
        tool_s = max(0.0, now - tool[1]) if tool is not None else None
        line = redact_text(latest.line or question_on(latest.screen))
        found = reader.find_reader(pids, line, client, tool_s, is_client=self.is_client())
        approvals = self._supervisor.approvals.next_waiting
        return Probes(
            now=now,
            wall_time=run.clock.time(),
            status=run.status,
            parked=self._parking.liveness,
            asked=approvals,
            held=run.summary.waiting if approvals is None else None,
            visible=self.visible(),
            attended=self.attended(),
            proxied=self._traffic is not None,
            steps=self._supervisor.next_index,
            cpu_s=tree.usage().cpu_seconds if tree is not None else 0.0,
            client_cpu_s=reader.wanted_cpu(client),
            io_bytes=reader.read_io(pids),
            output_bytes=self._output.size(),
            model=_model(oldest),
            empty_answers=self._traffic.empty if self._traffic is not None else 0,
            failures=self._traffic.failures if self._traffic is not None else 0,
            failure=self._traffic.failure if self._traffic is not None else "",
            tool=tool[0] if tool is not None else None,
            tool_since=tool[1] if tool is not None else None,
            orphan=reader.orphan_of(pids, client) if tool is not None else "",
            reader=found,
            disk_full=self._full_disk(),
        )

    def _full_disk(self) -> str:
        workspace = self._supervisor.run.spec.workspace
        for name, folder in (("the workspace", workspace), ("the store", str(self._folder.path))):
            try:
                room = os.statvfs(folder) if folder else None
            except OSError:
                continue
            if room is not None and room.f_bavail * room.f_frsize < FULL_BYTES:
                return f"the disk of {name} has {room.f_bavail * room.f_frsize:,} bytes left"
        return ""


def _kind(liveness: Liveness) -> tuple[object, ...]:
    return liveness.word, liveness.question, liveness.wedged, liveness.wake


def _model(oldest: OpenRequest | None) -> ModelProbe | None:
    if oldest is None:
        return None
    return ModelProbe(oldest.since, oldest.begun, oldest.byte, oldest.content)
