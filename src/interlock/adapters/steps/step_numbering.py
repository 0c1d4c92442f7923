"""StepNumbering: numbers a run's reported steps, each once, and passes them to the supervisor."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from ...core import PROCEED, Decision, Step, Tool, from_json
from ...journal import JournalReading
from ...journal_records import StepRecord
from ...runtime import HungUp, Supervisor, call_digest
from .step_protocol import Phase, StepMessage

REMEMBERED = 1024
"""How many calls have their number remembered: one reported again after a lost connection must not count twice."""

REFUSED = ("deny", "stop", "defer")
"""The actions after which a call does not run."""

Key = tuple[Phase, str, str]


class WaitingClient(Protocol):
    """A caller that waits for an answer."""

    def waits(self) -> bool:
        """Whether it is still waiting. Called periodically while a step is held."""

    def say_wait(self) -> None:
        """Tell the client that an answer will follow."""


RECALLED = 4 * REMEMBERED
"""How many records a successor reads: they include every remembered call with its result and consequences."""


class StepNumbering:
    """One for each run, shared by everything that reports steps. Thread-safe."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.spoken = False
        self._known: OrderedDict[Key, int] = OrderedDict()
        self._recalled: dict[int, tuple[Tool | None, Decision]] = {}
        self._refused: OrderedDict[Key, None] = OrderedDict()
        self._printed: OrderedDict[Key, str] = OrderedDict()
        self.session = ""
        """The session of the run's own agent; empty if none was named."""
        self._hooked: set[str] = set()
        self._lock = threading.Lock()

    def agent_of(self, session: str, *, hooked: bool = False) -> str | None:
        """The agent of a client's session: None (the run's own agent) for the first session, else the session's name.

        `hooked`: a hook named the session.
        """
        with self._lock:
            self.session = self.session or session
            if hooked:
                self._hooked.add(session)
            return None if session in ("", self.session) else session

    def is_hooked(self, session: str) -> bool:
        """Whether this session reports through hooks."""
        return bool(session) and session in self._hooked

    def recall(self, journal: JournalReading) -> None:
        """Restore a predecessor's state."""
        newest = journal.last("step")
        # Earlier calls would not be remembered anyway.
        after = max(0, newest.seq - RECALLED) if newest is not None else 0
        for record in journal.read(after, kinds=frozenset(("step",))):
            recorded = from_json(record.body, StepRecord)
            step, self.spoken = recorded.step, True
            call_id = step.tool.call_id if step.tool is not None else None
            if call_id is not None:
                phase: Phase = "before" if step.kind == "tool_call" else "after"
                key = (phase, step.agent or "", call_id)
                self._begin_again(key)
                self._remember(key, step.index)
                self._recalled[step.index] = step.tool, recorded.decision or PROCEED
                if recorded.decision is not None and recorded.decision.action in REFUSED:
                    self._refuse(key)

    def before(self, message: StepMessage, client: WaitingClient) -> tuple[Step, Decision] | None:
        """The decision, after holds and delays; None if the client is gone."""
        self.spoken = True
        step, _ = self._number("before", message)
        decision = self._ask(step, client)
        if decision is None:
            return None
        key = _key("before", message)
        if key is not None and decision.action in REFUSED:
            self._refuse(key)
        return step, decision

    def after(self, message: StepMessage) -> tuple[Step, Decision]:
        """Report a step that happened; a repeated one has no effect."""
        self.spoken = True
        step, again = self._number("after", message)
        return step, PROCEED if again else self.supervisor.after(step)

    def note_call(self, message: StepMessage) -> Decision:
        """Report a call that was not submitted for approval; it is judged after the fact."""
        step, again = self._number("before", message)
        key, digest = _key("before", message), call_digest(step)
        if key is not None:
            if again and self._printed.get(key, digest) != digest:
                # Another call under the id of one whose result was not reported.
                self._known.pop(key, None)
                step, again = self._number("before", message)
            self._printed[key] = digest
            if len(self._printed) > REMEMBERED:
                self._printed.popitem(last=False)
        return PROCEED if again else self.supervisor.after(step)

    def knows(self, phase: Phase, agent: str | None, call_id: str) -> bool:
        """Whether this step was reported before."""
        return (phase, agent or "", call_id) in self._known

    def has_refused(self, agent: str | None, call_id: str) -> bool:
        """Whether this call was blocked."""
        return ("before", agent or "", call_id) in self._refused

    def _ask(self, step: Step, client: WaitingClient) -> Decision | None:
        gate, supervisor = self.supervisor.run.gate, self.supervisor

        def ask() -> Decision:
            tool, decision = self._recalled.get(step.index, (None, None))
            if decision is not None and gate.status == "running" and supervisor.redacted(step).tool == tool:
                return decision
            return supervisor.before(step)  # also another call under the id of an earlier one

        try:
            return gate.admit(ask, waits=client.waits, abandon=lambda: supervisor.abandon(step))
        except HungUp:
            return None

    def _number(self, phase: Phase, message: StepMessage) -> tuple[Step, bool]:
        """The step with its number, and whether it was reported before."""
        key = _key(phase, message)
        with self._lock:
            self._begin_again(key)
            index = self._known.get(key) if key is not None else None
            again = index is not None
            if index is None:
                index = self.supervisor.allocate_index()
                if key is not None:
                    self._remember(key, index)
        return message.step(self.supervisor.run.spec.run_id, index, phase), again

    def _begin_again(self, key: Key | None) -> None:
        """Forget a call that already has a result, if it is reported again: it is a new call with the same id."""
        if key is not None and key[0] == "before" and ("after", *key[1:]) in self._known:
            del self._known["after", *key[1:]]
            self._known.pop(key, None)
            self._refused.pop(key, None)

    def _remember(self, key: Key, index: int) -> None:
        self._known[key] = index
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def _refuse(self, key: Key) -> None:
        self._refused[key] = None
        while len(self._refused) > REMEMBERED:
            self._refused.popitem(last=False)


def _key(phase: Phase, message: StepMessage) -> Key | None:
    call_id = message.tool.call_id if message.tool is not None else None
    return (phase, message.agent or "", call_id) if call_id is not None else None
