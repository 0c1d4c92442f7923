"""AnalysisResult: an analyzer's verdict on a screen. Evidence: one layer's findings, and how layers are combined."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from ...journal_records import ReplayStatus as ReplayStatus
from ..recovery_actions import find_policy
from ..screenshot.screenshot import Screenshot


class AnalysisResult(Struct, frozen=True):
    """A verdict on a screen, how sure it is (0 to 1), why, and what would help."""

    status: ReplayStatus
    confidence: float = 0.0
    description: str = ""
    recovery_actions: Sequence[str] = ()
    expected_file: str | None = None
    actual_file: str | None = None
    raw_response: str = ""
    evidence: Sequence[str] = ()

    @property
    def is_problem(self) -> bool:
        return self.status not in (ReplayStatus.NORMAL, ReplayStatus.UNKNOWN)


class ScreenSituation(Struct, frozen=True):
    """What should be on the screen.

    `typing` says that text is being typed right now, `operating` that the session itself has an input box open;
    `serial` changes with every such operation.
    """

    expected_file: str | None = None
    note: str = ""
    typing: bool = False
    operating: bool = False
    serial: int = 0


def situation_of(context: object) -> ScreenSituation:
    """A situation from what callers pass: a situation, a note, or {"expected_file", "note", "typing"}."""
    if context is None:
        return ScreenSituation()
    if isinstance(context, ScreenSituation):
        return context
    if isinstance(context, Mapping):
        expected = context.get("expected_file")
        return ScreenSituation(
            str(expected) if expected else None, str(context.get("note") or ""), bool(context.get("typing", False))
        )
    return ScreenSituation(note=str(context))


def parse_status(value: object) -> ReplayStatus:
    """A status by name or value, in any case; UNKNOWN for anything else."""
    text = str(value.value if isinstance(value, ReplayStatus) else value).strip().casefold()
    for status in ReplayStatus:
        if text in (status.value, status.name.casefold()):
            return status
    return ReplayStatus.UNKNOWN


def clamp_confidence(value: object) -> float:
    """A confidence from 0 to 1: 0.5 if it is missing, 0 if it is not a number."""
    if value is None:
        return 0.5
    try:
        number = float(str(value)) if not isinstance(value, bool) else float(value)
    except ValueError:
        return 0.0
    return 0.0 if math.isnan(number) else min(1.0, max(0.0, number))


def unknown(description: str, raw_response: str = "", evidence: Sequence[str] = ()) -> AnalysisResult:
    """No verdict, and why."""
    return AnalysisResult(ReplayStatus.UNKNOWN, 0.0, description, (), None, None, raw_response, evidence)


Topic = Literal["dialog", "error", "file", "focus", "window", "progress", "server"]
"""What a claim is about. A layer that reports ok vouches only for the topics that it can see."""


class Evidence(Struct, frozen=True, kw_only=True):
    """One layer's finding: ok, a problem of some kind, or that it cannot tell."""

    layer: str
    verdict: Literal["ok", "problem", "none"]
    says: str
    confidence: float = 0.0
    status: ReplayStatus = ReplayStatus.NORMAL
    kind: str = ""
    topics: frozenset[Topic] = frozenset()
    actual_file: str | None = None

    def line(self) -> str:
        return f"{self.layer}: {'no evidence' if self.verdict == 'none' else self.verdict}, {self.says}"


class Layer(Protocol):
    """One source of evidence."""

    name: str

    def inspect(self, screenshot: Screenshot | None, situation: ScreenSituation) -> Evidence:
        """What it sees; never raises: a time-out is evidence too."""
        ...


SEVERITY = (
    ReplayStatus.ERROR_STATE,
    ReplayStatus.DIALOG_BLOCKING,
    ReplayStatus.TERMINAL_FOCUS,
    ReplayStatus.WRONG_FILE,
)
"""What is handled first: behind an error or a dialog, keyboard focus does not matter yet."""


DISPUTED = "disputed: "
"""Begins the description of a verdict on which layers contradict each other."""


def ok(layer: str, says: str, confidence: float, *topics: Topic) -> Evidence:
    return Evidence(layer=layer, verdict="ok", says=says, confidence=confidence, topics=frozenset(topics))


def nothing(layer: str, says: str) -> Evidence:
    return Evidence(layer=layer, verdict="none", says=says)


def problem(
    layer: str,
    status: ReplayStatus,
    kind: str,
    topic: Topic,
    confidence: float,
    says: str,
    actual_file: str | None = None,
) -> Evidence:
    return Evidence(
        layer=layer, verdict="problem", says=says, confidence=confidence, status=status, kind=kind,
        topics=frozenset((topic,)), actual_file=actual_file,
    )  # fmt: skip


def fuse(
    evidence: Sequence[Evidence], situation: ScreenSituation, attempt: int = 0, *, editor: bool = True
) -> AnalysisResult:
    """One verdict from all layers; UNKNOWN where there is no evidence, or where layers contradict each other.

    `attempt` counts how often the steps against this problem have failed, and selects the next ones; `editor` says
    whether there is an editor to apply them to.
    """
    lines = tuple(each.line() for each in evidence)
    problems = [each for each in evidence if each.verdict == "problem"]
    fine = [each for each in evidence if each.verdict == "ok"]
    expected = situation.expected_file
    if not problems:
        if not fine:
            return unknown("no layer has any evidence", evidence=lines)
        says = "; ".join(each.says for each in fine)
        return AnalysisResult(ReplayStatus.NORMAL, agreed(fine), says, (), expected, expected, "", lines)
    status = min((each.status for each in problems), key=SEVERITY.index)
    saying = [each for each in problems if each.status is status]
    against = [each for each in fine if any(each.topics & claim.topics for claim in saying)]
    if len(against) >= len(saying):
        return unknown(f"{DISPUTED}{saying[0].line()}, but {against[0].line()}", evidence=lines)
    # The most confident layer knows best: it sees a dialog's buttons, which a title does not show.
    surest = sorted(saying, key=lambda each: -each.confidence)
    policy = next((found for each in surest if (found := find_policy(each.kind))), None)
    return AnalysisResult(
        status,
        agreed(saying),
        "; ".join(each.says for each in saying),
        policy.actions(attempt, expected, editor=editor) if policy else (),
        expected,
        next((each.actual_file for each in evidence if each.actual_file), None),
        "",
        lines,
    )


def agreed(evidence: Sequence[Evidence]) -> float:
    """The combined confidence of layers: each one removes a share of the remaining doubt."""
    doubt = 1.0
    for each in evidence:
        doubt *= 1.0 - each.confidence
    return round(1.0 - doubt, 4)
