"""The ledger of budgets across runs: what each period has used, and what is reserved for steps under way.

A page is one period of one budget. Only `apply_report` changes a page. It is pure, so that the file of one
machine and the hub of many count alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import apsw
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..core import from_json
from .durable_files import FOLDER_MODE

FILE = "budgets.db"
BUSY_MS = 10_000

RESERVED_S = 3600.0
"""A reservation that was not renewed for this long is void: its owner was killed, or its step hangs."""

KEPT_PAGES = 400

Per = Literal["run", "day", "week", "month"]


class Amount(Struct, frozen=True, omit_defaults=True):
    """Dollars and tokens."""

    cost_usd: float = 0.0
    tokens: int = 0

    def plus(self, other: Amount) -> Amount:
        return Amount(self.cost_usd + other.cost_usd, self.tokens + other.tokens)

    def minus(self, other: Amount) -> Amount:
        return Amount(max(0.0, self.cost_usd - other.cost_usd), max(0, self.tokens - other.tokens))


NOTHING = Amount()


class RunUsage(Struct, frozen=True, omit_defaults=True):
    """What one run has used in a period: its `total` now, less what it had used `before` the period.

    `held` says that it is paused at the limit; `more` is what a person has allowed it beyond.
    """

    total: Amount = NOTHING
    before: Amount = NOTHING
    reserved: Amount = NOTHING
    until: float = 0.0
    held: bool = False
    more: Amount = NOTHING

    @property
    def used(self) -> Amount:
        return self.total.minus(self.before)


class Page(Struct, frozen=True, omit_defaults=True):
    """One period of one budget. Runs that have ended are in `closed`."""

    since: float = 0.0
    runs: dict[str, RunUsage] = {}
    closed: Amount = NOTHING

    @property
    def used(self) -> Amount:
        amount = self.closed
        for run in self.runs.values():
            amount = amount.plus(run.used)
        return amount

    def reserved(self, now: float, but: str = "") -> Amount:
        """What steps of other runs may still use."""
        amount = NOTHING
        for run_id, run in self.runs.items():
            if run_id != but and run.until > now:
                amount = amount.plus(run.reserved)
        return amount


class UsageReport(Struct, frozen=True, kw_only=True):
    """One run's report: how much it has used in all, and what its next step may use.

    `before` is what it had used when the period began, where it has no entry yet. With `ended` it is over. `held` says
    that it pauses at the limit; `more`, which ends that, is what it may use beyond. Both stay until changed.
    """

    run_id: str
    total: Amount
    before: Amount = NOTHING
    reserve: Amount = NOTHING
    most: Amount | None = None
    ended: bool = False
    held: bool = False
    more: Amount | None = None


class Standing(Struct, frozen=True):
    """What a period has used, what others have reserved, whether the step may run, and whether the run is held."""

    used: Amount
    reserved: Amount
    since: float
    allowed: bool = True
    held: bool = False


def apply_report(page: Page, report: UsageReport, now: float) -> tuple[Page, Standing]:
    """The page after a run's report.

    A step is allowed, and reserved, while used and reserved are below `most` and what a person allowed beyond it.
    """
    known = page.runs.get(report.run_id) or RunUsage(before=report.before)
    # A total never falls: a late report, or one by a successor that knows less, subtracts nothing.
    total = Amount(max(known.total.cost_usd, report.total.cost_usd), max(known.total.tokens, report.total.tokens))
    more = report.more if report.more is not None else known.more
    settled = RunUsage(total, known.before, held=report.held or (known.held and report.more is None), more=more)
    page = Page(page.since or now, {**page.runs, report.run_id: settled}, page.closed)
    used, reserved = page.used, page.reserved(now, report.run_id)
    claimed = used.plus(reserved)
    allowed = report.most is None or (
        (report.most.cost_usd <= 0 or claimed.cost_usd < report.most.cost_usd + more.cost_usd)
        and (report.most.tokens <= 0 or claimed.tokens < report.most.tokens + more.tokens)
    )
    if report.ended:
        left = {run_id: run for run_id, run in page.runs.items() if run_id != report.run_id}
        page = Page(page.since, left, page.closed.plus(settled.used))
    elif allowed and report.reserve != NOTHING:
        reserving = replace(settled, reserved=report.reserve, until=now + RESERVED_S)
        page = Page(page.since, {**page.runs, report.run_id: reserving}, page.closed)
    return page, Standing(used, reserved, page.since, allowed, settled.held)


def period_of(per: Per, now: float, run_id: str) -> tuple[str, float, float]:
    """The period of a time: its key, its beginning and its end. A run is a period without end."""
    day = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    if per == "run":
        return f"run {run_id}", 0.0, float("inf")
    if per == "day":
        return day.strftime("%Y-%m-%d"), day.timestamp(), (day + timedelta(days=1)).timestamp()
    if per == "week":
        first = day - timedelta(days=day.weekday())
        return first.strftime("%G-W%V"), first.timestamp(), (first + timedelta(days=7)).timestamp()
    first = day.replace(day=1)
    return first.strftime("%Y-%m"), first.timestamp(), (first + timedelta(days=32)).replace(day=1).timestamp()


class BudgetLedger:
    """The ledger of one machine: a SQLite file in the store. Safe to use from many processes at once."""

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = root / FILE, clock
        self._connection: apsw.Connection | None = None

    def report(self, budget: str, period: str, report: UsageReport) -> Standing:
        """Apply a run's report of its spending to the page of one budget."""
        connection = self._open()
        connection.execute("BEGIN IMMEDIATE")
        try:
            now = self._clock()
            page, standing = apply_report(self.page(budget, period), report, now)
            row = (budget, period, msgspec.json.encode(page).decode(), now)
            connection.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?)", row)
            connection.execute(
                "DELETE FROM page WHERE rowid IN (SELECT rowid FROM page ORDER BY at DESC LIMIT -1 OFFSET ?)",
                (KEPT_PAGES,),
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        return standing

    def page(self, budget: str, period: str) -> Page:
        """A page as it is."""
        if self._connection is None and not self._path.exists():
            return Page()
        for (body,) in self._open().execute("SELECT body FROM page WHERE budget = ? AND period = ?", (budget, period)):
            return from_json(str(body), Page)
        return Page()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            self._path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
            connection = apsw.Connection(str(self._path))
            connection.set_busy_timeout(BUSY_MS)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS"
                " page(budget TEXT, period TEXT, body TEXT, at REAL, PRIMARY KEY (budget, period))"
            )
            self._path.chmod(0o600)
            self._connection = connection
        return self._connection
