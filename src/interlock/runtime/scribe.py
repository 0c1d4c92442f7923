"""Scribe: puts what supervision saw and decided into the journal, and keeps the run's summary true."""

from __future__ import annotations

import logging

from msgspec.structs import replace

from ..core import Issue, Step
from ..journal import Entry
from .alerts import Alerts
from .guard import Fault
from .judgement import Judgement
from .metrics import Metrics
from .records import InterventionRecord, LimitRecord, StepRecord
from .run import Run
from .watch import Watch

log = logging.getLogger("interlock")


class Scribe:
    """Writes for one run. A step and everything that it led to go in one transaction."""

    def __init__(self, run: Run, watch: Watch, metrics: Metrics | None = None, alerts: Alerts | None = None) -> None:
        self.run = run
        self.watch = watch
        self.metrics = metrics
        self.alerts = alerts
        self._issues = run.summary.issues
        self._interventions = run.summary.interventions
        self._last_issue = run.summary.last_issue
        self._is_blind = run.summary.unpriced_tokens > 0

    def write(self, record: StepRecord, judgement: Judgement, *, durable: bool) -> int:
        """One step with its review, issues, interventions and judged effects."""
        cost = self.watch.priced if record.step.usage is not None else 0.0
        if cost or not judgement.progressed:
            record = replace(record, stalled=not judgement.progressed, cost_usd=cost)
        entries = [Entry("step", record, judgement.now)]
        entries += [Entry("issue", issue, judgement.now) for issue in judgement.issues]
        entries += [Entry("effect", judged, judgement.now) for judged in judgement.judged]
        for ruling in judgement.rulings:
            body = InterventionRecord(
                intervention=ruling.intervention,
                score=ruling.score,
                combined=ruling.combined,
                directives=ruling.directives,
                would=ruling.would,
                escalated=ruling.escalated,
            )
            entries.append(Entry("intervention", body, judgement.now))
        entries += [Entry("limit", blind, judgement.now) for blind in self._find_blind_limit(record.step)]
        self._count(record, judgement)
        if log.isEnabledFor(logging.INFO):
            self._log(judgement)
        if self.alerts is not None:
            self.alerts.found(judgement.issues)
            self.alerts.spent(self.watch.ledger.spend, self.watch.meter.limits)
        written = self.run.append(entries, durable=durable, changes=self._changes(record.step))
        if self.run.steering is not None:
            self.run.steering.see_model(record.step)
        return written

    def fault(self, fault: Fault) -> None:
        """A part of supervision that failed."""
        self.run.record("fault", fault)

    def limit(self, record: LimitRecord) -> None:
        """A limit that was set, waited for or reached."""
        self.run.record("limit", record)

    def _find_blind_limit(self, step: Step) -> list[LimitRecord]:
        """A limit on dollars that nobody can hold, as a price is not known: said once."""
        spend, most = self.watch.ledger.spend, self.watch.meter.limits.max_cost_usd
        if self._is_blind or most is None or not spend.unpriced_tokens:
            return []
        self._is_blind = True
        model = step.model or self.run.summary.model
        of = f"the model {model}" if model else "a model that has no name"
        words = f"nobody knows the price of {of}: its tokens do not count towards the {most:,.10g} US dollars allowed"
        if self.alerts is not None:
            self.alerts.blind(words)
        return [LimitRecord(words, limit="max_cost_usd")]

    def _log(self, judgement: Judgement) -> None:
        run_id = self.run.spec.run_id
        for issue in judgement.issues:
            facts = {"type": issue.type, "severity": issue.severity, "step": issue.step, "words": issue.description}
            log.info("issue", extra={"run_id": run_id, **facts})
        for ruling in judgement.rulings:
            made = ruling.intervention
            facts = {"type": made.type, "issue": made.issue_type, "step": made.step, "outcome": made.outcome}
            log.info("intervention", extra={"run_id": run_id, **facts})
        for judged in judgement.judged:
            facts = {"type": judged.type, "issue": judged.issue_type, "step": judged.step, "outcome": judged.outcome}
            log.info("effect", extra={"run_id": run_id, **facts})

    def _changes(self, step: Step) -> dict[str, object]:
        spend, limits = self.watch.ledger.spend, self.watch.meter.limits
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
        }
        if step.model is not None:
            changes["model"] = step.model
        return changes

    def _count(self, record: StepRecord, judgement: Judgement) -> None:
        acted = [ruling for ruling in judgement.rulings if ruling.directives]
        self._issues += len(judgement.issues)
        self._interventions += len(acted)
        if judgement.issues:
            self._last_issue = worst(judgement.issues).type
        if self.metrics is None:
            return
        if record.review is not None:
            self.metrics.reviewed(record.review)
        if record.step.usage is not None:
            usage = record.step.usage
            self.metrics.spent(replace(usage, cost_usd=usage.cost_usd or record.cost_usd))
        for issue in judgement.issues:
            self.metrics.issue_found(issue)
        for ruling in judgement.rulings:
            self.metrics.intervened(ruling.intervention)
            if ruling.escalated:
                self.metrics.escalated()
        for judged in judgement.judged:
            self.metrics.judged(judged)


def worst(issues: tuple[Issue, ...]) -> Issue:
    """The issue that a list shows."""
    order = {"low": 0, "medium": 1, "high": 2, "critical": 3}
    return max(issues, key=lambda issue: order[issue.severity or "medium"])
