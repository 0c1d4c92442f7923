"""StepNumbering: numbers the reported steps of a run, each once, and asks the supervisor about them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Protocol

from ...core import PROCEED, Decision, Step, from_json
from ...journal import JournalReading
from ...journal_records import StepRecord
from ...runtime import HungUp, Supervisor
from .step_protocol import Phase, StepMessage

REMEMBERED = 1024
"""Calls whose number is known, so that one that is reported again after a lost connection is not counted twice."""

REFUSED = ("deny", "stop", "defer")
"""What is decided of a call that does not run."""

Key = tuple[Phase, str, str]


class WaitingClient(Protocol):
    """Callers that wait for an answer."""

    def waits(self) -> bool:
        """Whether it still does. Called now and then while a step is held."""

    def say_wait(self) -> None:
        """Let it know that the answer will come."""


RECALLED = 4 * REMEMBERED
"""Records that a successor reads: every call that is remembered is among them, with its result and what it led to."""


class StepNumbering:
    """One for each run, shared by everything that tells steps. Thread-safe."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.spoken = False
        self._known: OrderedDict[Key, int] = OrderedDict()
        self._recalled: dict[int, Decision] = {}
        self._refused: OrderedDict[Key, None] = OrderedDict()
        self.session = ""
        """The session of the run's own agent; empty if none was named."""
        self._hooked: set[str] = set()
        self._lock = threading.Lock()

    def agent_of(self, session: str, *, hooked: bool = False) -> str | None:
        """Whose step it is, by its client's session: the run's own agent in the first one, in another one by its name.

        `hooked` says that it was a hook that named the session.
        """
        with self._lock:
            self.session = self.session or session
            if hooked:
                self._hooked.add(session)
            return None if session in ("", self.session) else session

    def is_hooked(self, session: str) -> bool:
        """Whether the hooks of this session speak for it."""
        return bool(session) and session in self._hooked

    def recall(self, journal: JournalReading) -> None:
        """Restore what a predecessor received."""
        newest = journal.last("step")
        # Further back nothing would be remembered anyway, however long the run is.
        after = max(0, newest.seq - RECALLED) if newest is not None else 0
        for record in journal.read(after, kinds=frozenset(("step",))):
            taken = from_json(record.body, StepRecord)
            step, self.spoken = taken.step, True
            call_id = step.tool.call_id if step.tool is not None else None
            if call_id is not None:
                phase: Phase = "before" if step.kind == "tool_call" else "after"
                key = (phase, step.agent or "", call_id)
                self._begin_again(key)
                self._remember(key, step.index)
                self._recalled[step.index] = taken.decision or PROCEED
                if taken.decision is not None and taken.decision.action in REFUSED:
                    self._refuse(key)

    def before(self, told: StepMessage, asker: WaitingClient) -> tuple[Step, Decision] | None:
        """The decision, holds and delays waited out; None once nothing waits for it."""
        self.spoken = True
        step, _ = self._number("before", told)
        decision = self._ask(step, asker)
        if decision is None:
            return None
        key = _key("before", told)
        if key is not None and decision.action in REFUSED:
            self._refuse(key)
        return step, decision

    def after(self, told: StepMessage) -> tuple[Step, Decision]:
        """What the step led to; a repeated step leads to nothing."""
        self.spoken = True
        step, again = self._number("after", told)
        return step, PROCEED if again else self.supervisor.after(step)

    def note_call(self, told: StepMessage) -> Decision:
        """A call that was not asked about: it is judged after the fact."""
        step, again = self._number("before", told)
        return PROCEED if again else self.supervisor.after(step)

    def knows(self, phase: Phase, agent: str | None, call_id: str) -> bool:
        """Whether this was reported before."""
        return (phase, agent or "", call_id) in self._known

    def has_refused(self, agent: str | None, call_id: str) -> bool:
        """Whether this call was not let run."""
        return ("before", agent or "", call_id) in self._refused

    def _ask(self, step: Step, asker: WaitingClient) -> Decision | None:
        gate, supervisor = self.supervisor.run.gate, self.supervisor

        def ask() -> Decision:
            recalled = self._recalled.get(step.index) if gate.status == "running" else None
            return recalled or supervisor.before(step)

        try:
            return gate.admit(ask, waits=asker.waits, abandon=lambda: supervisor.abandon(step))
        except HungUp:
            return None

    def _number(self, phase: Phase, told: StepMessage) -> tuple[Step, bool]:
        """The step under its number; whether it was reported before."""
        key = _key(phase, told)
        with self._lock:
            self._begin_again(key)
            index = self._known.get(key) if key is not None else None
            again = index is not None
            if index is None:
                index = self.supervisor.take_index()
                if key is not None:
                    self._remember(key, index)
        return told.step(self.supervisor.run.spec.run_id, index, phase), again

    def _begin_again(self, key: Key | None) -> None:
        """A call that was reported after the result of its id is a new one, issued again under the same id."""
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


def _key(phase: Phase, told: StepMessage) -> Key | None:
    call_id = told.tool.call_id if told.tool is not None else None
    return (phase, told.agent or "", call_id) if call_id is not None else None
