"""Budgets: limits on what several runs spend in total. A run reports its usage, and reserves before each step."""

from __future__ import annotations

import logging
import socket
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from ..config import Budget, Config
from ..core import RunSpec, Spend
from ..journal import NOTHING, Amount, BudgetLedger, Standing, UsageReport, period_of
from .run import Run

log = logging.getLogger("interlock")

MORE = 0.1
"""If a person resumes a run beyond a budget, it gets this share of the budget on top of what is claimed by then."""


class Ledger(Protocol):
    """Counts budgets: in this machine's store, or on a hub for many machines."""

    def report(self, budget: str, period: str, report: UsageReport) -> Standing: ...

    def close(self) -> None: ...


class BudgetReached(Struct, frozen=True):
    """A budget that has no room for another step."""

    budget: Budget
    used: Amount
    reserved: Amount

    def __str__(self) -> str:
        per = "this run" if self.budget.per == "run" else f"this {self.budget.per}"
        parts = []
        if self.budget.max_cost_usd is not None:
            parts.append(f"${self.used.cost_usd:,.2f} of ${self.budget.max_cost_usd:,.2f}")
        if self.budget.max_tokens is not None:
            parts.append(f"{self.used.tokens:,} of {self.budget.max_tokens:,} tokens")
        reserved = " are used or reserved" if self.reserved != NOTHING else " are used"
        return f"{_words(self.budget)}{' and '.join(parts)}{reserved} {per}"


def _words(budget: Budget) -> str:
    """The prefix of messages about an exhausted budget."""
    return f"budget {budget.name} is reached: "


class RunBudgets:
    """The budgets of one run.

    `spent` is what the run had used under a previous owner, and `held` why it is held, if it is; the ledger stores for
    which budget, and what a person has allowed since.
    """

    def __init__(
        self, budgets: Sequence[Budget], spec: RunSpec, ledger: Ledger, spent: Amount = NOTHING, held: str | None = None
    ) -> None:
        self._budgets = [budget for budget in budgets if fits(budget, spec)]
        self._spec, self._ledger = spec, ledger
        self._begun, self._last, self._step = spent, spent, NOTHING
        self._periods: dict[str, tuple[str, Amount]] = {}
        self._held = {one.name for one in self._budgets if held and held.startswith(_words(one))}
        self._recalled = False
        self._warned: set[tuple[str, str]] = set()
        self._broken = False

    def __bool__(self) -> bool:
        return bool(self._budgets)

    def check(self, spend: Spend, now: float, *, reserve: bool) -> BudgetReached | None:
        """Report the run's usage; with `reserve`, returns the first budget that has no room for another step."""
        total = Amount(spend.cost_usd, spend.tokens)
        step = total.minus(self._last)
        self._step = Amount(max(self._step.cost_usd, step.cost_usd), max(self._step.tokens, step.tokens))
        self._last = total
        reached: BudgetReached | None = None
        for budget in self._budgets:
            reserving = reserve and reached is None and budget.on_limit != "warn"
            most = Amount(budget.max_cost_usd or 0.0, budget.max_tokens or 0)
            standing = self._report(budget, now, reserve=self._step if reserving else NOTHING, most=most)
            if reserve and reached is None and standing is not None and not standing.allowed:
                reached = BudgetReached(budget, standing.used, standing.reserved)
        return reached

    def is_news(self, over: BudgetReached, now: float) -> bool:
        """Whether a warn-only budget has not yet warned in this period."""
        key = (over.budget.name, period_of(over.budget.per, now, self._spec.run_id)[0])
        new = key not in self._warned
        self._warned.add(key)
        return new

    def hold(self, over: BudgetReached, now: float) -> None:
        """Note that the run is held for this budget; resuming it allows a bit more."""
        self._held.add(over.budget.name)
        self._report(over.budget, now, held=True)

    def resumed(self, now: float) -> None:
        """The run is not held. If it was held for a budget, a person now allows a tenth more than is claimed."""
        for budget in self._budgets:
            if self._recalled and budget.name not in self._held:
                continue
            # Check the ledger the first time: a predecessor may have died before it could allow more.
            standing = self._report(budget, now)
            if standing is not None and (standing.held or budget.name in self._held):
                tenth = Amount((budget.max_cost_usd or 0.0) * MORE, int((budget.max_tokens or 0) * MORE))
                limit = Amount(budget.max_cost_usd or 0.0, budget.max_tokens or 0)
                # Start from what is claimed now: other runs may have spent in between, and the run would pause again.
                claimed = standing.used.plus(standing.reserved)
                self._report(budget, now, more=claimed.minus(limit).plus(tenth))
        self._recalled = True
        self._held.clear()

    def close(self, spend: Spend, now: float, *, ended: bool) -> None:
        """Release reservations; a run that has not `ended` will be continued by another owner."""
        self._last = Amount(spend.cost_usd, spend.tokens)
        for budget in self._budgets:
            self._report(budget, now, ended=ended)
        self._ledger.close()

    def _report(self, budget: Budget, now: float, **fields: object) -> Standing | None:
        """Report the run's usage, with other fields of UsageReport; None if the ledger cannot be written."""
        period, before = self._period(budget, now)
        report = replace(UsageReport(run_id=self._spec.run_id, total=self._last, before=before), **fields)
        try:
            return self._ledger.report(budget.name, period, report)
        except Exception as error:  # noqa: BLE001  a ledger that cannot be written must not stop the agent
            if not self._broken:
                self._broken = True
                log.warning("budgets of run %s cannot be kept: %s", self._spec.run_id, error)
            return None

    def _period(self, budget: Budget, now: float) -> tuple[str, Amount]:
        """The current period, and what the run had used when the period began."""
        period = period_of(budget.per, now, self._spec.run_id)[0]
        known = self._periods.get(budget.name)
        if known is None:
            self._periods[budget.name] = (period, self._begun)
        elif known[0] != period:
            self._periods[budget.name] = (period, self._last)
        return self._periods[budget.name]


def open_budgets(run: Run, config: Config) -> RunBudgets | None:
    """The budgets of a run; None if there are none, or the run is not stored."""
    if run.folder is None or not any(fits(budget, run.spec) for budget in config.budgets):
        return None
    ledger: Ledger = BudgetLedger(run.folder.path.parent, run.clock.time)
    if config.hub.url:
        from ..link import HubLedger

        ledger = HubLedger(config.hub, BudgetLedger(run.folder.path.parent, run.clock.time))
    known = run.summary
    return RunBudgets(config.budgets, run.spec, ledger, Amount(known.cost_usd, known.tokens), known.waiting)


def fits(budget: Budget, spec: RunSpec, *, user: str | None = None, host: str | None = None) -> bool:
    """Whether a budget applies to this run."""
    match = budget.match
    checks: list[tuple[str | None, Sequence[str]]] = [
        (match.name, (spec.name,)),
        (match.label, spec.labels),
        (match.workspace, ((spec.workspace or spec.cwd or "").rstrip("/"),)),
        (match.user, (user or _user(),)),
        (match.host, (host or socket.gethostname(),)),
    ]
    return all(pattern is None or any(fnmatchcase(value, pattern) for value in values) for pattern, values in checks)


def _user() -> str:
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
