"""Alerts: which messages about a run people get, and through which channels."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from msgspec.structs import replace

from ..config import Config, NotifyEvent
from ..core import Issue, Limits, Notify, Spend
from .notifier import Notifier
from .run import Run

BUDGETS = (("max_cost_usd", "cost_usd"), ("max_tokens", "tokens"))
"""The limits that are budgets, and what is spent of each."""


class Alerts:
    """Decides what is worth an alert; the notifier sees to it that there are not too many, and that none hinders."""

    def __init__(self, notifier: Notifier, config: Config, run: Run) -> None:
        self._notifier = notifier
        self._settings = config.notifications
        self._stop_channels = config.interventions.emergency_stop.notification_channels
        self._run = run
        self._told: set[tuple[str, float]] = set()
        run.on_waiting = self.waiting

    def send(self, order: Notify) -> None:
        """The alert for an intervention: an emergency stop, or a pause for a person."""
        self._tell("emergency_stop" if order.level == "critical" else "waiting", order)

    def found(self, issues: Iterable[Issue]) -> None:
        """Tell of critical issues."""
        for issue in issues:
            if issue.severity == "critical":
                title = f"Critical issue in run {self._name}: {issue.type.replace('_', ' ')}"
                text = f"{issue.description} (step {issue.step}). See: interlock show {self._run.spec.run_id}"
                self._tell("critical_issue", Notify(title, text, "critical"))

    def spent(self, spend: Spend, limits: Limits) -> None:
        """Tell when a share of a budget is used up, each share once."""
        for limit, used in BUDGETS:
            most, now = getattr(limits, limit), getattr(spend, used)
            if not most:
                continue
            reached = [share for share in self._settings.budget_thresholds if now >= share * most]
            new = [share for share in reached if (limit, share) not in self._told]
            if new:
                self._told.update((limit, share) for share in new)
                title = f"Run {self._name} has used {max(new):.0%} of {limit}"
                self._tell("budget", Notify(title, f"{now:,.10g} of {most:,.10g} so far.", "warning"))

    def budget(self, words: str) -> None:
        """Tell that a budget of several runs is used up."""
        self._tell("budget", Notify(f"Run {self._name} exceeds a budget", f"{words[0].upper()}{words[1:]}.", "warning"))

    def blind(self, words: str) -> None:
        """Tell that a limit on dollars cannot hold."""
        text = f"{words[0].upper()}{words[1:]}. Add its price under models in the configuration, or limit max_tokens."
        self._tell("budget", Notify(f"Run {self._name} may cost more than allowed", text, "warning"))

    def waiting(self, step: int, what: str) -> None:
        """Tell that a person is needed."""
        run_id = self._run.spec.run_id
        text = f"{what.rstrip('.')}. See: interlock show {run_id}. To answer: interlock inbox"
        self._tell("waiting", Notify(f"Run {self._name} needs a person", text, "warning"), about=what)

    def unproven(self, why: str) -> None:
        """Tell that a run ended without proof of what it was to reach."""
        text = f"{why}. See: interlock proof {self._run.spec.run_id}"
        self._tell("unproven", Notify(f"Run {self._name} ended unproven", text, "warning"))

    def close(self) -> None:
        """Let what is waiting go out, for a moment."""
        self._notifier.close()

    def _tell(self, event: NotifyEvent, notification: Notify, about: str = "") -> None:
        if event in self._settings.events:
            only = self._stop_channels if event == "emergency_stop" else ()
            if self._settings.link:
                where = f"{self._settings.link.rstrip('/')}/runs/{quote(self._run.spec.run_id)}"
                notification = replace(notification, text=f"{notification.text}\n{where}")
            self._notifier.send(notification, only or None, about)

    @property
    def _name(self) -> str:
        spec = self._run.spec
        return f"{spec.name} ({spec.run_id})" if spec.name else spec.run_id
