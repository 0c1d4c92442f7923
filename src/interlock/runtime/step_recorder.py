"""StepRecorder: records what supervision saw and decided, and updates the run's summary."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..core import SEVERITIES, Issue, Step
from ..journal_records import EpisodeRecord, InterventionRecord, LimitRecord, RecordBody, StepRecord
from .alerts import Alerts
from .decision_pipeline import DecisionPipeline
from .pipeline_values import StepOutcome
from .run import Run

if TYPE_CHECKING:
    from ..decide import Episode

log = logging.getLogger("interlock")


class StepRecorder:
    """For one run. A step and all its consequences are written in one transaction."""

    def __init__(self, run: Run, pipeline: DecisionPipeline, alerts: Alerts | None = None) -> None:
        self.run = run
        self.pipeline = pipeline
        self.alerts = alerts
        self._issues = run.summary.issues
        self._interventions = run.summary.interventions
        self._last_issue = run.summary.last_issue
        self._is_blind = run.summary.unpriced_tokens > 0

    def write(self, record: StepRecord, judgement: StepOutcome, *, durable: bool) -> int:
        """Record a step with its review, issues, interventions and judged effects."""
        cost = self.pipeline.priced if record.step.usage is not None else 0.0
        if cost or not judgement.progressed:
            record = replace(record, stalled=not judgement.progressed, cost_usd=cost)
        bodies: list[RecordBody] = [record, *judgement.issues, *judgement.judged]
        bodies += self.describe(judgement.episodes)
        bodies += [
            InterventionRecord(
                intervention=ruling.intervention,
                score=ruling.score,
                combined=ruling.combined,
                directives=ruling.directives,
                would=ruling.would,
                escalated=ruling.escalated,
            )
            for ruling in judgement.rulings
        ]
        bodies += self._find_blind_limit(record.step)
        self._count(judgement)
        if log.isEnabledFor(logging.INFO):
            self._log(judgement)
        if self.alerts is not None:
            self.alerts.found(judgement.issues)
            self.alerts.spent(self.pipeline.ledger.spend, self.pipeline.meter.limits)
        written = self.run.append(bodies, time=judgement.now, durable=durable, changes=self._changes(record.step))
        if self.run.steering is not None:
            self.run.steering.see_model(record.step)
        return written

    def describe(self, episodes: Sequence[Episode]) -> list[EpisodeRecord]:
        """The records of episodes that opened, were answered or ended."""
        return [self._episode(episode) for episode in episodes]

    def _episode(self, episode: Episode) -> EpisodeRecord:
        spend, before = self.pipeline.ledger.spend, episode.spent
        rung = episode.answer.type if episode.answer is not None else episode.failed or None
        return EpisodeRecord(
            id=episode.id,
            type=episode.issue.type,
            what=episode.what,
            opened_step=episode.opened_step,
            opened_at=episode.opened_at,
            issue_id=episode.issue.id,
            description=episode.issue.description,
            severity=episode.issue.severity or "medium",
            place=episode.place,
            agent=episode.agent,
            answers=episode.answers,
            rung=rung,
            opportunities=episode.opportunities,
            relapses=episode.relapses,
            ending=episode.ending,
            tokens=spend.tokens - before.tokens,
            cost_usd=spend.cost_usd - before.cost_usd,
            calls=spend.calls - before.calls,
        )

    def _find_blind_limit(self, step: Step) -> list[LimitRecord]:
        """A cost limit that cannot be enforced because a price is unknown; reported once."""
        spend, most = self.pipeline.ledger.spend, self.pipeline.meter.limits.max_cost_usd
        if self._is_blind or most is None or not spend.unpriced_tokens:
            return []
        self._is_blind = True
        model = step.model or self.run.summary.model
        of = f"the model {model}" if model else "an unnamed model"
        words = f"no known price for {of}: its tokens cannot count towards the {most:,.10g} US dollars allowed"
        if self.alerts is not None:
            self.alerts.blind(words)
        return [LimitRecord(words, limit="max_cost_usd")]

    def _log(self, judgement: StepOutcome) -> None:
        run_id = self.run.spec.run_id
        for issue in judgement.issues:
            facts = {"type": issue.type, "severity": issue.severity, "step": issue.step, "words": issue.description}
            log.info("note" if issue.is_note else "issue", extra={"run_id": run_id, **facts})
        answers = [("intervention", ruling.intervention) for ruling in judgement.rulings]
        for name, made in (*answers, *(("effect", judged) for judged in judgement.judged)):
            facts = {"type": made.type, "issue": made.issue_type, "step": made.step, "outcome": made.outcome}
            log.info(name, extra={"run_id": run_id, **facts})

    def _changes(self, step: Step) -> dict[str, object]:
        spend, limits = self.pipeline.ledger.spend, self.pipeline.meter.limits
        changes: dict[str, object] = {
            "steps": spend.steps,
            "iter": spend.calls,
            "max": limits.max_steps,
            "tokens": spend.tokens,
            "cost_usd": spend.cost_usd,
            "unpriced_tokens": spend.unpriced_tokens,
            "max_cost_usd": limits.max_cost_usd,
            "issues": self._issues,
            "interventions": self._interventions,
            "last_issue": self._last_issue,
            "stuck": self.pipeline.stuck(),
        }
        if step.model is not None:
            changes["model"] = step.model
        return changes

    def _count(self, judgement: StepOutcome) -> None:
        acted = [ruling for ruling in judgement.rulings if ruling.directives]
        issues = [issue for issue in judgement.issues if not issue.is_note]
        self._issues += len(issues)
        self._interventions += len(acted)
        if issues:
            self._last_issue = worst(issues).type


def worst(issues: Sequence[Issue]) -> Issue:
    """The most severe issue, which lists show."""
    return max(issues, key=lambda issue: SEVERITIES.index(issue.severity or "medium"))
