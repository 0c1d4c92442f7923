"""LivenessWatch: looks at a run, says in one word what it is doing, and answers a run that hangs, each answer once."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable

from ...core import Hold, Liveness, WedgedKind
from ...journal import RunFolder
from ...output import OutputReader
from ...process.proc import look_at
from ...records import LivenessRecord, UnwedgeRecord
from ...redact import redact_text
from ...runtime import Supervisor
from ...runtime.liveness import ModelProbe, Probes, Watch, fuse
from ..held_tree import HeldTree
from ..proxy.traffic import OpenRequest, Traffic
from .parking import ParkingLot
from .probes import ProbeReader

log = logging.getLogger("interlock")

LOOK_S = 5.0
"""Between two looks. What is shown may be this old."""

FULL_BYTES = 1024 * 1024
"""A disk with less room is full."""

STEP_S = 60.0
"""Between two answers to the same hang."""

MODEL_KINDS: frozenset[WedgedKind] = frozenset(("half-open stream", "only pings"))
TOOL_KINDS: frozenset[WedgedKind] = frozenset(("tool never ends", "pipe held by a child", "tool reads the terminal"))


class LivenessWatch:
    """For one run; `look` is called by the monitor."""

    def __init__(
        self, supervisor: Supervisor, folder: RunFolder, held: HeldTree, parking: ParkingLot, traffic: Traffic | None
    ) -> None:
        self._supervisor, self._folder, self._held, self._parking = supervisor, folder, held, parking
        self._traffic = traffic
        self._output = OutputReader(folder.output)
        self._rules = supervisor.config.unattended
        self._watch = Watch()
        self._reader: ProbeReader | None = None
        self._next = 0.0
        self._answered: dict[WedgedKind, list[str]] = {}
        self._answer_at = 0.0
        self.attended: Callable[[], bool] = lambda: False
        self.visible: Callable[[], bool] = lambda: True

    def look(self) -> None:
        """Measure, say, answer."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + LOOK_S
        run = self._supervisor.run
        if run.ended:
            return
        self._watch, liveness = fuse(self._watch, self._probe(now), self._rules.tool_minutes * 60)
        self._say(liveness)
        if liveness.wedged is not None and self._rules.unwedge and now >= self._answer_at:
            self._answer_at = now + STEP_S
            self._answer(liveness, liveness.wedged)

    def _say(self, liveness: Liveness) -> None:
        """Keep it in the summary; a question, a hang and its end are recorded."""
        run, before = self._supervisor.run, self._supervisor.run.summary.liveness
        if before is not None and _kind(before) == _kind(liveness):
            return
        told = liveness.wedged is not None or liveness.evidence.startswith("process ")
        ends = before is not None and before.wedged is not None
        if told or ends:
            record = LivenessRecord(liveness.word, liveness.evidence, liveness.question, liveness.wedged)
            run.append([record], changes={"liveness": liveness})
        else:
            run.update(liveness=liveness)
        if told:
            run.on_waiting(self._supervisor.next_index, liveness.question or f"{liveness.words}: {liveness.evidence}")

    def _answer(self, liveness: Liveness, kind: WedgedKind) -> None:
        """The next answer that this hang has not had."""
        done = self._answered.setdefault(kind, [])
        for answer, carry_out in self._answers(kind):
            if answer not in done:
                done.append(answer)
                self._supervisor.run.append([UnwedgeRecord(kind, answer, liveness.evidence)], durable=True)
                carry_out()
                return

    def _answers(self, kind: WedgedKind) -> list[tuple[str, Callable[[], object]]]:
        answers: list[tuple[str, Callable[[], object]]] = [("said", lambda: None)]
        if kind in TOOL_KINDS:
            answers.append(("the tool was ended", self._end_tool))
        if kind in MODEL_KINDS:
            answers.append(("the connection to the model was closed", self._cut))
        answers.append(("paused for a person", lambda: self._pause(kind)))
        return answers

    def _cut(self) -> None:
        oldest = self._traffic.oldest if self._traffic is not None else None
        if oldest is not None:
            oldest.cut()

    def _end_tool(self) -> None:
        """End what the client started for its tool, youngest first; the client itself stays."""
        tree = self._held.tree
        if tree is None:
            return
        client = self._client(tree.pids())
        reader = self._watch.last.reader if self._watch.last is not None else None
        victims = [reader.pid] if reader is not None else [pid for pid in reversed(tree.pids()) if pid > client]
        for pid in victims:
            if pid in tree.pids() and pid != client:
                log.warning("run %s: ended process %d, which hung", self._folder.run_id, pid)
                os.kill(pid, signal.SIGTERM)

    def _pause(self, kind: WedgedKind) -> None:
        self._supervisor.executor.carry_out(Hold(f"the run hangs ({kind}) and nothing helped", "recovery"))

    def _probe(self, now: float) -> Probes:
        run, tree = self._supervisor.run, self._held.tree
        pids = tree.pids() if tree is not None else ()
        self._reader = self._reader or ProbeReader()
        client = self._client(pids)
        latest = self._output.latest()
        tool = run.gate.oldest_call
        oldest = self._traffic.oldest if self._traffic is not None else None
        reader = self._reader
        found = reader.find_reader(pids, redact_text(latest.line), client) if reader is not None else None
        approvals = self._supervisor.approvals.next_waiting
        return Probes(
            now=now,
            wall=run.clock.time(),
            status=run.status,
            parked=self._parking.liveness,
            asked=approvals,
            held=run.summary.waiting if approvals is None else None,
            visible=self.visible(),
            attended=self.attended(),
            proxied=self._traffic is not None,
            steps=self._supervisor.next_index,
            cpu_s=tree.usage().cpu_seconds if tree is not None else 0.0,
            client_cpu_s=_cpu_of(client),
            io_bytes=reader.read_io(pids) if reader is not None else 0,
            output_bytes=self._output.size(),
            model=_model(oldest),
            empty_answers=self._traffic.empty if self._traffic is not None else 0,
            failures=self._traffic.failures if self._traffic is not None else 0,
            failure=self._traffic.failure if self._traffic is not None else "",
            tool=tool[0] if tool is not None else None,
            tool_since=tool[1] if tool is not None else None,
            orphan=reader.orphan_of(pids, client) if reader is not None and tool is not None else "",
            reader=found,
            disk_full=self._full_disk(),
        )

    def _client(self, pids: tuple[int, ...]) -> int:
        """The agent client: the command's own process, or the first one behind a wall."""
        tree = self._held.tree
        return tree.pid if tree is not None and tree.pid in pids else (pids[0] if pids else -1)

    def _full_disk(self) -> str:
        workspace = self._supervisor.run.spec.workspace
        for name, place in (("the workspace", workspace), ("the store", str(self._folder.path))):
            try:
                room = os.statvfs(place) if place else None
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


def _cpu_of(pid: int) -> float:
    process = look_at(pid)
    return process.cpu_s if process is not None else 0.0
