"""HangReactions: reacts to a run that hangs, with one reaction after the other, each recorded before it happens."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...core import Hold, Inject, InterlockError, Liveness, Message, MessageMeta, WedgedKind
from ...journal_records import UnwedgeRecord, read_body
from ...process import read_process, send
from ...runtime import Probes, Supervisor
from ..run_process_tree import RunProcessTree
from .probes import is_younger
from .usage_limit_parking import UsageLimitParking

if TYPE_CHECKING:
    from ..proxy.upstream_connection import Traffic

log = logging.getLogger("interlock")

MODEL_KINDS: frozenset[WedgedKind] = frozenset(("half-open stream", "only pings"))
TOOL_KINDS: frozenset[WedgedKind] = frozenset(
    ("tool never ends", "pipe held by a child", "tool reads the terminal", "tool waits for input")
)
CLIENT_KINDS: frozenset[WedgedKind] = frozenset(("client spins", "client deadlocked", "client prompt", "empty answers"))

HINTS: dict[WedgedKind, str] = {
    "tool reads the terminal": "Your command asks a question on a terminal, and no person is there to answer it. Use"
    " options that ask nothing (--yes, --batch, --no-edit, --no-pager), or do it another way.",
    "tool waits for input": "Your command asks a question on its standard input, and nobody answers it. Use options"
    " that ask nothing (--yes, --batch), give it the answer when you start it, or do it another way.",
    "tool never ends": "Your command does nothing: no output, no processor time, no input. Use a time limit, or run it"
    " in the background and look at its output.",
    "pipe held by a child": "Your command left a process behind that keeps its output open. Start such processes with"
    " their output redirected to a file.",
    "empty answers": "Your last answers were empty. Continue with the task: call a tool, or say that you are done.",
    "disk full": "The disk is full. Remove what you do not need before you write anything else.",
}
"""Hints to the agent, for hangs that it can resolve."""

GRACE_S = 2.0
"""How long a client may take to end before it is killed and restarted."""

SAID, HINT, TOOL, CONNECTION, RESTART, PAUSE = (
    "said",
    "the agent was given a hint",
    "the tool was ended",
    "the connection to the model was closed",
    "the client was restarted in its session",
    "paused for a person",
)

Reactions = list[tuple[str, Callable[[], object]]]


class HangReactions:
    """For one run. A new step ends the hang; the next hang starts again with the first reaction."""

    def __init__(
        self, supervisor: Supervisor, held: RunProcessTree, parking: UsageLimitParking, traffic: Traffic | None
    ) -> None:
        self._supervisor, self._held, self._parking, self._traffic = supervisor, held, parking, traffic
        self._step = -1
        self._done = self._recall()

    def react(self, liveness: Liveness, kind: WedgedKind, seen: Probes) -> None:
        """Carry out the next reaction that was not yet tried for this hang."""
        if seen.steps != self._step:
            self._step, self._done = seen.steps, {} if self._step >= 0 else self._done
        done = self._done.setdefault(kind, [])
        for words, carry_out in self._reactions(liveness, kind, seen):
            if words not in done:
                done.append(words)
                self._supervisor.run.append([UnwedgeRecord(kind, words, liveness.evidence)], durable=True)
                carry_out()
                return

    def _reactions(self, liveness: Liveness, kind: WedgedKind, seen: Probes) -> Reactions:
        reactions: Reactions = [(SAID, lambda: None)]
        if kind in HINTS and "inject" in self._supervisor.executor.adapter.capabilities:
            reactions.append((HINT, lambda: self._say(kind, HINTS[kind])))
        if kind in TOOL_KINDS:
            reactions.append((TOOL, lambda: self._end_tool(liveness, kind, seen)))
        if kind in MODEL_KINDS:
            reactions.append((CONNECTION, self._close_connection))
        if kind in MODEL_KINDS | TOOL_KINDS | CLIENT_KINDS and self._parking.may_restart:
            reactions.append((RESTART, lambda: self._restart(liveness, kind)))
        reactions.append((PAUSE, lambda: self._pause(kind)))
        return reactions

    def _recall(self) -> dict[WedgedKind, list[str]]:
        """The reactions of the previous owner since the last step."""
        with self._supervisor.run.journal.reader() as journal:
            step = journal.last("step")
            given = journal.read(after=step.seq if step is not None else 0, kinds=frozenset(("unwedge",)))
            done: dict[WedgedKind, list[str]] = {}
            for record in given:
                body = read_body(record)
                if isinstance(body, UnwedgeRecord):
                    done.setdefault(body.wedged, []).append(body.answer)
        return done

    def _say(self, kind: WedgedKind, words: str) -> None:
        """Add a message to the next reply to the agent."""
        run = self._supervisor.run
        meta = MessageMeta(
            intervention="liveness", issue=kind, time=run.steady.time(), run_id=run.spec.run_id,
            step=self._supervisor.next_index,
        )  # fmt: skip
        try:
            self._supervisor.executor.carry_out(Inject(Message(words, meta=meta)))
        except InterlockError:
            log.warning("run %s: the agent could not be given a hint", run.spec.run_id)

    def _end_tool(self, liveness: Liveness, kind: WedgedKind, seen: Probes) -> None:
        """End processes that started after the tool did, youngest first, except the client, which is told why."""
        tree = self._held.tree
        if tree is None:
            return
        self._say(kind, f"Interlock ended {seen.tool or 'the command'}: {liveness.question or liveness.evidence}.")
        client = self._held.client
        since = seen.now - seen.tool_since if seen.tool_since is not None else float("inf")
        pids = (seen.reader.pid,) if seen.reader is not None else tree.pids()
        for process in filter(None, map(read_process, reversed(pids))):
            # Keep servers that the client started earlier.
            if process.pid != client and (seen.reader is not None or is_younger(process.pid, since)):
                log.warning("run %s: ended process %d, which hung", self._supervisor.run.spec.run_id, process.pid)
                send(process.pid, process.start, signal.SIGTERM)

    def _close_connection(self) -> None:
        oldest = self._traffic.oldest if self._traffic is not None else None
        if oldest is not None:
            oldest.cut()

    def _restart(self, liveness: Liveness, kind: WedgedKind) -> None:
        """Park with no delay and end the client; resuming the parked run restarts it, once."""
        if self._parking.restart(f"{kind}: {liveness.evidence}"):
            self._held.end(GRACE_S)

    def _pause(self, kind: WedgedKind) -> None:
        self._supervisor.executor.carry_out(Hold(f"the run hangs ({kind}) and nothing helped", "recovery"))
