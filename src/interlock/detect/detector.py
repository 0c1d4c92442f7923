"""Detector: looks for one pattern in the steps of one agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar, Generic, Protocol, TypeVar, get_args

import msgspec
from msgspec import Struct

from ..core import Context, InterlockError, Issue, Kind, Seen, Severity, Stuck, from_msgpack
from .agent_history import AgentHistory
from .fingerprint import fingerprint
from .tuning import Tuning

S = TypeVar("S", bound=Struct)

EVERY_KIND: frozenset[Kind] = frozenset(get_args(Kind))


class Detector(Protocol):
    """A detector: its `observe` method, and state that can be saved and restored.

    A detector with `kinds` observes only steps of those kinds.
    """

    type: str

    def observe(self, seen: Seen) -> Iterable[Issue]:
        """Process one step; return the issues that apply after it. The caller suppresses repeats."""
        ...

    def save(self) -> bytes:
        """The state that later results depend on."""
        ...

    def restore(self, state: bytes) -> None:
        """Continue from the result of `save`."""
        ...


class Setting(Struct, frozen=True):
    """A detector's inputs: the task, the thresholds, the agent's history (parsed once per step)."""

    context: Context
    tuning: Tuning
    history: AgentHistory


Factory = Callable[[Setting], Detector]

Asked = tuple[str, Callable[[Seen], Iterable[Issue]]]
"""A detector's name within the run, and its `observe`."""


class DetectorFailed(InterlockError):
    """Raised when a detector raises; `detector` is its type."""

    def __init__(self, detector: str, cause: Exception) -> None:
        super().__init__(f"the detector {detector} failed: {type(cause).__name__}: {cause}")
        self.detector = detector


class StatefulDetector(Generic[S]):
    """A detector whose whole state is one msgspec value, `self.state`, so that saving is generic."""

    type: str
    kinds: ClassVar[frozenset[Kind]] = EVERY_KIND
    """The kinds of step that it observes; it does not see others."""

    def __init__(self, setting: Setting, state: S) -> None:
        self.context, self.tuning, self.history = setting.context, setting.tuning, setting.history
        self.state = state

    def learn_task(self, context: Context) -> None:
        """Update the task; a detector that has already parsed it parses it again."""
        self.context = context

    def save(self) -> bytes:
        return msgspec.msgpack.encode(self.state)

    def restore(self, state: bytes) -> None:
        self.state = from_msgpack(state, type(self.state))

    def issue(
        self,
        step: int,
        description: str,
        *,
        key: str,
        severity: Severity = "medium",
        confidence: float = 1.0,
        impact: float = 0.0,
        evidence: Iterable[int] = (),
        started: int | None = None,
        details: dict[str, object] | None = None,
        stuck: Stuck | None = None,
    ) -> Issue:
        """An issue of this detector's type.

        `key` names the finding across runs, so that it can be muted; together with the step where the finding began it
        forms the issue's id, which stays the same when a worse finding is reported again.
        """
        steps = tuple(evidence)
        began = started if started is not None else min(steps, default=step)
        return Issue(
            id=f"{self.type}:{began}:{fingerprint(key.encode('utf-8', 'replace')) & 0xFFFFFFFF:08x}",
            type=self.type,
            step=step,
            description=description,
            severity=severity,
            confidence=confidence,
            impact_factor=impact,
            details={"key": f"{self.type}:{key}", **(details or {})},
            evidence=steps,
            started_step=began,
            stuck=stuck or Stuck(kind="pattern", key=key),
        )

    def shows(self, stuck: Stuck, standing: bool) -> bool:
        """Whether this step alone shows the issue again; `standing`: the issue applies after this step.

        A detector with a window overrides this: the window still holds steps from before the intervention.
        """
        return standing
