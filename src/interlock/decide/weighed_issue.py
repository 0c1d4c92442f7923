"""WeighedIssue: one issue weighed, with the rung that was found for it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from ..core import SEVERITIES, Intervention, Issue, Outcome, RunState
from ..intervene import InterventionResponse
from .ladder import Rung
from .ruling import Ruling
from .score import combined, score
from .state import ControllerState


class IssueWeight(Struct, frozen=True):
    """How bad an issue is, with what was tried in vain before."""

    issue: Issue
    score: float
    combined: float
    escalation: int

    @property
    def strength(self) -> tuple[float, int]:
        """What orders issues that come together."""
        return self.combined, SEVERITIES.index(self.issue.severity or "medium")


class WeighedIssue(Struct, frozen=True):
    """A weighed issue and the rung for it; `reasons` say how that was found."""

    weight: IssueWeight
    rung: Rung
    reasons: tuple[str, ...]

    @property
    def issue(self) -> Issue:
        return self.weight.issue

    @property
    def critical(self) -> bool:
        return answerable(self.issue).severity == "critical"

    def intervention(
        self, number: int, run: RunState, now: float, outcome: Outcome, reasons: tuple[str, ...]
    ) -> Intervention:
        """What is recorded of it."""
        return Intervention(
            id=f"i{number}",
            type=self.rung.name,
            level=self.rung.level,
            issue_id=self.issue.id,
            issue_type=self.issue.type,
            step=max(run.step, self.issue.step),
            time=now,
            outcome=outcome,
            reason="; ".join(reasons),
            details={"score": self.weight.score, "combined": self.weight.combined, "why": list(self.reasons)},
        )

    def ruling(
        self, made: Intervention, answer: InterventionResponse | None, observe: bool, *, escalated: bool = False
    ) -> Ruling:
        """What follows from it: nothing is carried out where the controller only observes."""
        asked = answer.directives if answer else ()
        return Ruling(
            issue=self.issue,
            score=self.weight.score,
            combined=self.weight.combined,
            intervention=made,
            answer=answer,
            directives=() if observe else asked,
            would=asked if observe else (),
            escalated=escalated and not observe,
        )


def answerable(issue: Issue) -> Issue:
    """An issue as it is answered: an attempt that was blocked has done no harm, however bad it would have been."""
    return replace(issue, severity="medium") if issue.details.get("prevented") is True else issue


def weigh(state: ControllerState, issue: Issue, now: float) -> IssueWeight:
    """The score of an issue, and the same with the escalation of its type."""
    value, escalation = score(answerable(issue)), state.of(issue.type).escalation(now)
    return IssueWeight(issue, value, combined(value, escalation), escalation)
