"""The state of budgets: what a period has used, and the forecast for its end."""

from __future__ import annotations

import contextlib
import time
from datetime import datetime

from msgspec import Struct

from ..config import Budget, Config
from ..core import InterlockError
from ..journal import NOTHING, Amount, BudgetLedger, Page, RunFolder, Store, period_of
from ..link import HubLedger
from ..runtime import fits

NEWEST_RUNS = 500
"""The newest runs that are checked for a match."""

LEAST_S = 600.0
"""The shortest time base of a forecast: the first steps say little."""


class BudgetStanding(Struct, frozen=True, kw_only=True):
    """One period of one budget. `expected` is the forecast for its end, `reached_at` when it is used up."""

    name: str
    per: str
    period: str
    used: Amount = NOTHING
    reserved: Amount = NOTHING
    max_cost_usd: float | None = None
    max_tokens: int | None = None
    on_limit: str = "pause"
    expected: Amount | None = None
    reached_at: float | None = None
    runs: int = 0
    fits_nothing: bool = False

    def shown(self, amount: Amount) -> str:
        """An amount in the units of the budget."""
        parts = [f"${amount.cost_usd:,.2f}"] if self.max_cost_usd is not None else []
        return ", ".join([*parts, *([f"{amount.tokens:,} tokens"] if self.max_tokens is not None else [])])

    @property
    def limit(self) -> str:
        return self.shown(Amount(self.max_cost_usd or 0.0, self.max_tokens or 0))

    @property
    def share(self) -> float:
        """How much of the budget is used: 1 is all of it."""
        of_cost = self.used.cost_usd / self.max_cost_usd if self.max_cost_usd else 0.0
        return max(of_cost, self.used.tokens / self.max_tokens if self.max_tokens else 0.0)

    @property
    def forecast(self) -> str:
        """The forecast in words."""
        if self.fits_nothing:
            return "matches no stored run"
        if not self.period:
            return "no live run"
        if self.share >= 1:
            return "used up"
        if self.expected is None:
            return "nothing used yet" if self.used == NOTHING else ""
        when = f", used up {datetime.fromtimestamp(self.reached_at):%a %H:%M}" if self.reached_at else ""
        return f"{self.shown(self.expected)} at its end{when}"


def read_budgets(config: Config, store: Store, now: float | None = None) -> list[BudgetStanding]:
    """The state of every configured budget; one per run for each live run, without a period if there is none."""
    now = time.time() if now is None else now
    specs = []
    for folder in store.folders()[:NEWEST_RUNS]:
        with contextlib.suppress(InterlockError):
            specs.append(folder.spec())
    ledger = _ledger(config, store)
    found = []
    try:
        for budget in config.budgets:
            fitting = [spec for spec in specs if fits(budget, spec)]
            nothing = bool(specs) and not fitting
            keys = [""]
            if budget.per == "run":
                live = {folder.run_id for folder in store.folders()[:NEWEST_RUNS] if RunFolder(folder.path).owner()}
                keys = [spec.run_id for spec in fitting if spec.run_id in live]
                if not keys:
                    found.append(_standing(budget, "", Page(), (now, now), now, nothing))
            for key in keys:
                period, begins, ends = period_of(budget.per, now, key)
                page = ledger.page(budget.name, period)
                found.append(_standing(budget, period, page, (begins, ends), now, nothing))
    finally:
        ledger.close()
    return found


def _standing(
    budget: Budget, period: str, page: Page, span: tuple[float, float], now: float, fits_nothing: bool
) -> BudgetStanding:
    used, (begins, ends) = page.used, span
    expected, reached_at = None, None
    if used != NOTHING and page.since and ends != float("inf"):
        took = max(LEAST_S, now - max(begins, page.since))
        share = (ends - now) / took
        expected = Amount(used.cost_usd * (1 + share), int(used.tokens * (1 + share)))
        times = [
            now + (most - has) * took / has
            for most, has in ((budget.max_cost_usd, used.cost_usd), (budget.max_tokens, used.tokens))
            if most is not None and has > 0
        ]
        reached_at = min((at for at in times if now < at <= ends), default=None)
    return BudgetStanding(
        name=budget.name,
        per=budget.per,
        period=period,
        used=used,
        reserved=page.reserved(now),
        max_cost_usd=budget.max_cost_usd,
        max_tokens=budget.max_tokens,
        on_limit=budget.on_limit,
        expected=expected,
        reached_at=reached_at,
        runs=len(page.runs),
        fits_nothing=fits_nothing,
    )


def _ledger(config: Config, store: Store) -> BudgetLedger | HubLedger:
    local = BudgetLedger(store.root)
    return HubLedger(config.hub, local) if config.hub.url else local
