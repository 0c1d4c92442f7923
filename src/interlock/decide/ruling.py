"""Ruling: the controller's decision on one weighed issue, or why it gets no answer; Rulings: on all of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from ..config import Interventions
from ..core import ENDED, SEVERITIES, Directive, Intervention, Issue, Outcome, RunState, Sign, Stuck
from ..intervene import Continue, InterventionResponse
from .ladder import Rung
from .state import COOLDOWN_S, ESCALATION_DELAY_S, ControllerState
from .strategies import combined, score


class Sighting(Struct, frozen=True):
    """What a step showed about one episode: its current `stuck` values, and a sign if there was an opportunity."""

    episode: str
    stuck: tuple[Stuck, ...]
    sign: Sign | None = None


class Observed(Struct, frozen=True, kw_only=True):
    """One step as the controller sees it: its alarms, and its sightings of known episodes.

    `instructed`: a person gave the agent new instructions; `progressed`: the run is making progress.
    """

    step: int
    agent: str = ""
    issues: tuple[Issue, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    instructed: bool = False
    progressed: bool = False


class Ruling(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One issue, its score, the intervention as recorded, and the directives to carry out.

    `would` holds the directives that would have been carried out, in observe mode. `escalated`: this answer is stronger
    than the type's last.
    """

    issue: Issue
    score: float
    combined: float
    intervention: Intervention
    answer: InterventionResponse | None = None
    directives: tuple[Directive, ...] = ()
    would: tuple[Directive, ...] = ()
    escalated: bool = False


class Rulings(Struct, frozen=True, kw_only=True):
    """All rulings of a decision, the strongest issue first; interventions judged along the way; the run afterwards."""

    rulings: tuple[Ruling, ...]
    judged: tuple[Intervention, ...]
    run: RunState

    @property
    def directives(self) -> tuple[Directive, ...]:
        """All directives to carry out, in order."""
        return tuple(directive for ruling in self.rulings for directive in ruling.directives)


class IssueWeight(Struct, frozen=True):
    """The severity of an issue, including failed interventions."""

    issue: Issue
    score: float
    combined: float
    escalation: int

    @property
    def strength(self) -> tuple[float, int]:
        """The sort key of issues that arrive together."""
        return self.combined, SEVERITIES.index(self.issue.severity or "medium")


class WeighedIssue(Struct, frozen=True):
    """A weighed issue and its rung; `reasons` explain the choice."""

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
        """The record of the intervention on this issue."""
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
        """The ruling; in observe mode nothing is carried out."""
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
    """The issue as it is answered: a blocked attempt has done no harm, however bad it would have been."""
    return replace(issue, severity="medium") if issue.details.get("prevented") is True else issue


def weigh(state: ControllerState, issue: Issue, now: float) -> IssueWeight:
    """The score of an issue, alone and with the escalation of its type."""
    value, escalation = score(answerable(issue)), state.of(issue.type).escalation(now)
    return IssueWeight(issue, value, combined(value, escalation), escalation)


Obstacle = tuple[Outcome, str]


def before_limit(
    case: WeighedIssue, config: Interventions, run: RunState, earlier: Sequence[Ruling]
) -> Obstacle | None:
    """What prevents any intervention, even a pause at the limit."""
    acted = [ruling for ruling in earlier if ruling.answer is not None]
    if not config.enabled:
        return "not_applied", "interventions are switched off"
    if run.status in ENDED:
        return "not_applied", "the run has ended"
    if any(_is_final(ruling) for ruling in acted):
        return "held_back", "a more severe issue was handled with a rollback, a pause or a stop"
    if acted and (not case.critical or any(ruling.issue.type == case.issue.type for ruling in acted)):
        return "held_back", "a more severe issue is handled first"
    if run.status in ("pausing", "paused") and not case.critical:
        return "held_back", "the run waits for a person"
    return None


def before_acting(case: WeighedIssue, config: Interventions, state: ControllerState, now: float) -> Obstacle | None:
    """What prevents this rung: capabilities, cooldown, escalation delay. Critical issues skip the last two."""
    if not case.rung.applicable:
        return "not_applied", "the adapter cannot apply it"
    if case.critical:
        return None
    configured = config.intervention_cooldown_seconds
    cooldown = COOLDOWN_S if configured is None else configured
    if state.last_acted is not None and now - state.last_acted < cooldown:
        return "held_back", f"cooldown: less than {cooldown:g} s since the last intervention"
    known, given = state.of(case.issue.type), config.strategy.escalation_delay_seconds
    delay = ESCALATION_DELAY_S if given is None else given
    if known.is_escalation(case.rung.level) and known.escalated_at is not None and now - known.escalated_at < delay:
        return "held_back", f"escalation delay: less than {delay:g} s since this type last escalated"
    return None


def _is_final(ruling: Ruling) -> bool:
    return not isinstance(ruling.answer, Continue) or bool(ruling.answer.history)
