"""RunSpec: what a run is; status: its state; liveness: what it is doing now; Record: one entry of its journal."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from msgspec import Raw, Struct

Status = Literal["running", "pausing", "paused", "done", "aborted"]

AGENT, SIGNAL = "the agent", "a signal"
"""Sources of a cancel that are not a person: a process of the run itself, and a signal to its front."""

ENDED: frozenset[Status] = frozenset(("done", "aborted"))


class RunSpec(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything needed to identify, show and restart a run."""

    run_id: str
    name: str = ""
    task: str = ""
    workspace: str | None = None
    argv: tuple[str, ...] = ()
    cwd: str | None = None
    adapter: str = "direct"
    session_id: str | None = None
    continues: str | None = None
    model: str | None = None
    issue_id: str | None = None
    labels: tuple[str, ...] = ()


RECORD_VERSION = 1


class Record(Struct, frozen=True, kw_only=True):
    """One entry of a journal. `body` is the JSON of the record's kind."""

    seq: int
    run_id: str
    time: float
    kind: str
    body: Raw
    v: int = RECORD_VERSION


class LostRecord(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """kind `lost`: a record of `kind` could not be written, and why; or this many `entries` were dropped."""

    kind: str = ""
    reason: str = ""
    entries: int = 0


LivenessWord = Literal[
    "working", "waiting for the model", "waiting for a tool", "waiting for a person", "parked", "paused", "wedged",
]  # fmt: skip

WedgedKind = Literal[
    "half-open stream", "only pings", "client spins", "client deadlocked", "tool reads the terminal",
    "tool waits for input", "tool never ends", "pipe held by a child", "owner hung", "disk full", "network gone",
    "empty answers", "client prompt",
]  # fmt: skip
"""The ways in which a run hangs. Those that only a person can resolve are shown as `waiting for a person`."""


class Liveness(Struct, frozen=True, omit_defaults=True):
    """What a run is doing, in one word that is never a guess.

    `since` is when it became true, in seconds since the epoch. `evidence` says what was measured. `question` is the
    text that a person has to answer. `wedged` is the way in which the run hangs. `wake` is when a parked run resumes
    by itself; None if it waits for a person.
    """

    word: LivenessWord
    since: float
    evidence: str = ""
    question: str | None = None
    wedged: WedgedKind | None = None
    wake: float | None = None

    @property
    def words(self) -> str:
        """The word, with the kind of hang, or the time when a parked run resumes."""
        if self.word == "parked" and self.wake is not None:
            then = datetime.fromtimestamp(self.wake)
            return f"parked until {then:{'%H:%M' if then.date() == datetime.now().date() else '%Y-%m-%d %H:%M'}}"
        if self.word == "parked":
            return "parked: needs you"
        return f"{self.word}: {self.wedged}" if self.wedged else self.word
