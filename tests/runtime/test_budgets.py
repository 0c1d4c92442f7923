"""Runs that share a budget never spend more than one step each beyond it, on one machine and on many."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from interlock.config import Config
from interlock.config.schema import Budget, BudgetMatch, Hub
from interlock.core import ManualClock, RunSpec, Spend, Usage
from interlock.journal import Store
from interlock.journal.budget_ledger import Amount, BudgetLedger, Page, UsageReport, apply_report, period_of
from interlock.link import hub_connect, hub_ledger, hub_session
from interlock.link.hub_ledger import HubLedger
from interlock.report.budgets import read_budgets
from interlock.runtime import Supervisor
from interlock.runtime.budgets import RunBudgets, fits
from tests.cli.calling import interlock
from tests.link.broker import Broker

from ..waiting import eventually
from .scripted import START

STEP = 0.05
MOST = 6.0
RUNS = 20
NIGHTLY = Budget(name="nightly", per="day", max_cost_usd=MOST, on_limit="stop")


def spender(number: int, root: str, url: str | None, report: str) -> None:
    """A run that spends until it may not, in a process of its own, and writes down what it has spent for real."""
    local = BudgetLedger(Path(root))
    ledger = HubLedger(Hub(url=url), local) if url else local
    budgets = RunBudgets((NIGHTLY,), RunSpec(run_id=f"run-{number}"), ledger)
    chance, spent = random.Random(number), 0.0
    Path(report, f"ready-{number}").touch()
    while not Path(report, "go").exists():
        time.sleep(0.005)
    while budgets.check(Spend(cost_usd=spent), time.time(), reserve=True) is None:
        spent += chance.uniform(STEP / 5, STEP)
        # Whole, also where it is killed meanwhile.
        draft = Path(report, f"draft-{number}")
        draft.write_text(str(spent))
        draft.replace(Path(report, f"spent-{number}"))
        if chance.random() < 0.1:
            time.sleep(0.005)
        budgets.check(Spend(cost_usd=spent), time.time(), reserve=False)
    ledger.close()


def spend_together(roots: list[Path], url: str | None, report: Path) -> float:
    """Twenty runs at once, three of which are killed; what they have spent."""
    report.mkdir()
    making = multiprocessing.get_context("fork")
    runs = [
        making.Process(target=spender, args=(number, str(roots[number % len(roots)]), url, str(report)), daemon=True)
        for number in range(RUNS)
    ]
    for run in runs:
        run.start()
    eventually(lambda: len(list(report.glob("ready-*"))) == RUNS)
    (report / "go").touch()
    for number, run in enumerate(runs[:3]):
        eventually(lambda spent=report / f"spent-{number}", run=run: spent.exists() or not run.is_alive())  # type: ignore[misc]
        if run.pid is not None and run.is_alive():
            os.kill(run.pid, signal.SIGKILL)
    for run in runs:
        run.join(120)
        assert not run.is_alive()
    return sum(float(path.read_text()) for path in report.glob("spent-*"))


def test_twenty_runs_on_one_machine_with_kills_do_not_overspend(tmp_path: Path) -> None:
    spent = spend_together([tmp_path / "store"], None, tmp_path / "report")
    assert MOST - RUNS * STEP <= spent <= MOST + RUNS * STEP
    page = BudgetLedger(tmp_path / "store").page("nightly", period_of("day", time.time(), "")[0])
    # What a killed run spent in its last step may not be booked; everything else is.
    assert page.used.cost_usd == pytest.approx(spent, abs=3 * STEP + 1e-6)


def test_twenty_runs_of_two_machines_on_a_hub_do_not_overspend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A machine whose hub does not respond in time counts for itself; a loaded one has to wait for it here.
    for module, name in ((hub_ledger, "ANSWER_S"), (hub_session, "ANSWER_S"), (hub_connect, "CONNECT_S")):
        monkeypatch.setattr(module, name, 100.0)
    monkeypatch.setattr(hub_ledger, "AGAIN_S", 0.0)
    with Broker(tmp_path / "hub") as broker:
        spent = spend_together([tmp_path / "one", tmp_path / "two"], broker.url, tmp_path / "report")
        assert MOST - RUNS * STEP <= spent <= MOST + RUNS * STEP
        ledger = HubLedger(broker.settings, BudgetLedger(tmp_path / "three"))
        page = ledger.page("nightly", period_of("day", time.time(), "")[0])
        ledger.close()
        assert page.used.cost_usd == pytest.approx(spent, abs=3 * STEP + 1e-6)


def test_without_its_hub_a_machine_counts_for_itself(tmp_path: Path) -> None:
    with Broker(tmp_path / "hub") as broker:
        ledger = HubLedger(broker.settings, BudgetLedger(tmp_path / "store"))
        assert ledger.report("b", "p", UsageReport(run_id="a", total=Amount(1.0), most=Amount(2.0))).allowed
        broker.kill()
        standing = ledger.report("b", "p", UsageReport(run_id="a", total=Amount(2.0), most=Amount(2.0)))
        assert (standing.used.cost_usd, standing.allowed) == (2.0, False)
        broker.start()
        ledger.close()


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1), st.booleans()), max_size=60))
@settings(max_examples=100, deadline=None)
def test_a_page_never_allows_more_than_its_limit_and_one_step(moves: list[tuple[int, float, bool]]) -> None:
    page, now = Page(), 0.0
    totals = [0.0] * 5
    for run, cost, reserve in moves:
        now += 1.0
        most = Amount(cost_usd=2.0)
        reserved = Amount(1.0) if reserve else Amount()
        said = UsageReport(run_id=str(run), total=Amount(totals[run]), reserve=reserved, most=most)
        page, standing = apply_report(page, said, now)
        assert page.used.cost_usd <= sum(totals) + 1e-9
        if standing.allowed:
            totals[run] += cost
    assert sum(totals) <= 2.0 + 5 * 1.0


def test_what_a_dead_run_reserved_is_released() -> None:
    most = Amount(cost_usd=1.0)
    page, _ = apply_report(Page(), UsageReport(run_id="a", total=Amount(), reserve=Amount(1.0), most=most), 0.0)
    page, standing = apply_report(page, UsageReport(run_id="b", total=Amount(), reserve=Amount(0.1), most=most), 10.0)
    assert not standing.allowed
    page, standing = apply_report(page, UsageReport(run_id="b", total=Amount(), reserve=Amount(0.1), most=most), 4000.0)
    assert standing.allowed


def test_a_total_that_is_told_twice_or_late_counts_once() -> None:
    page = Page()
    for total in (1.0, 1.0, 0.5, 2.0):
        page, standing = apply_report(page, UsageReport(run_id="a", total=Amount(total)), 1.0)
    assert standing.used.cost_usd == 2.0
    page, standing = apply_report(page, UsageReport(run_id="a", total=Amount(2.5), ended=True), 2.0)
    assert (page.used.cost_usd, page.runs) == (2.5, {})


def test_periods_are_days_weeks_and_months_of_local_time() -> None:
    at = time.mktime((2026, 2, 28, 23, 59, 59, 0, 0, -1))
    assert period_of("day", at, "")[0] == "2026-02-28"
    assert period_of("day", at + 1, "")[0] == "2026-03-01"
    assert period_of("week", at, "")[0] == "2026-W09"
    assert period_of("month", at, "")[0] == "2026-02"
    assert period_of("month", at + 1, "")[1] == at + 1
    assert period_of("run", at, "x")[0] == "run x"


def test_a_budget_is_for_the_runs_that_fit() -> None:
    spec = RunSpec(run_id="r", name="nightly-1", workspace="/home/ann/shop", labels=("team-a", "ci"))
    for match, whether in (
        (BudgetMatch(), True),
        (BudgetMatch(name="nightly-*"), True),
        (BudgetMatch(name="daily-*"), False),
        (BudgetMatch(label="team-?"), True),
        (BudgetMatch(label="team-b"), False),
        (BudgetMatch(workspace="/home/ann/*", user="ann"), True),
        (BudgetMatch(user="bob"), False),
        (BudgetMatch(host="box"), True),
    ):
        assert fits(Budget(name="b", match=match, max_tokens=1), spec, user="ann", host="box") is whether


def spend_step(supervisor: Supervisor, cost: float) -> str:
    call = replace(supervisor.call("bash", {"command": "ls"}), usage=Usage(100, 10, cost))
    decision = supervisor.before(call)
    if decision.action == "proceed":
        supervisor.after(supervisor.result("ok"))
    return decision.action


@pytest.mark.parametrize("on_limit", ["warn", "pause", "stop"])
def test_two_runs_share_a_budget_and_the_answer_is_as_configured(tmp_path: Path, on_limit: str) -> None:
    budget = Budget(name="shared", per="day", max_cost_usd=1.0, on_limit=on_limit)  # type: ignore[arg-type]
    config, clock = Config(budgets=(budget,)), ManualClock(START)
    store = Store(tmp_path)
    with (
        Supervisor.open(task="a", store=store, clock=clock, config=config) as one,
        Supervisor.open(task="b", store=store, clock=clock, config=config) as two,
    ):
        for _ in range(6):
            clock.advance(60)
            assert spend_step(one, 0.15) == "proceed"
        taken = []
        for _ in range(4):
            clock.advance(60)
            taken.append(spend_step(two, 0.15))
        if on_limit == "warn":
            assert taken == ["proceed"] * 4
        else:
            assert taken[0] == "proceed"
            assert taken[-1] == ("hold" if on_limit == "pause" else "stop")
        assert list(two.run.journal.reader().read(kinds=frozenset(("limit",))))
        if on_limit == "pause":
            assert two.run.summary.waiting.startswith("budget shared is reached: $")
            (standing,) = read_budgets(config, store, now=clock.time())
            assert standing.used.cost_usd == pytest.approx(
                one.run.summary.cost_usd + two.run.summary.cost_usd, abs=0.01
            )
            assert standing.forecast == "used up"
            # Whoever resumes it allows it a tenth beyond what is taken by then, also what others have spent meanwhile.
            assert spend_step(one, 0.01) == "hold"
            one.resume()
            assert spend_step(one, 3.0) == "proceed"
            two.resume()
            assert [spend_step(two, cost) for cost in (0.01, 0.2, 0.01)] == ["proceed", "proceed", "hold"]
        assert (two.run.reason == "MAX_ITERATIONS") is (on_limit == "stop")


def test_what_a_person_allowed_beyond_a_budget_outlives_the_owner(tmp_path: Path) -> None:
    budget = Budget(name="daily", per="day", max_cost_usd=1.0, on_limit="pause")
    spec, now, words = RunSpec(run_id="a"), START, ""

    def owner(spent: float = 0.0, held: str | None = None) -> RunBudgets:
        return RunBudgets((budget,), spec, BudgetLedger(tmp_path, lambda: now), Amount(spent), held)

    def check(budgets: RunBudgets, spent: float) -> str:
        over = budgets.check(Spend(cost_usd=spent), now, reserve=True)
        return str(over) if over is not None else ""

    first = owner()
    first.resumed(now)
    assert check(first, 0.9) == ""
    over = first.check(Spend(cost_usd=1.02), now, reserve=True)
    assert over is not None
    words = str(over)
    # Killed after the pause and before it was noted: the run's own words say why it is held.
    second = owner(1.02, words)
    assert check(second, 1.02)
    second.hold(over, now)
    # Killed when a person had resumed it, but before another step asked.
    third = owner(1.02)
    third.resumed(now)
    assert check(third, 1.02) == ""
    # Killed later: what was allowed stays allowed, once.
    fourth = owner(1.05)
    fourth.resumed(now)
    assert check(fourth, 1.05) == ""
    assert check(fourth, 1.13)
    fifth = owner(1.13)
    fifth.resumed(now)
    assert check(fifth, 1.13)


def test_a_run_that_another_owner_continues_is_counted_once_also_on_the_next_day(tmp_path: Path) -> None:
    budget, spec = Budget(name="daily", per="day", max_cost_usd=9.0, on_limit="pause"), RunSpec(run_id="a")
    ledger = BudgetLedger(tmp_path, lambda: START)

    def used(now: float) -> float:
        return ledger.page("daily", period_of("day", now, "a")[0]).used.cost_usd

    RunBudgets((budget,), spec, BudgetLedger(tmp_path)).close(Spend(cost_usd=2.0), START, ended=False)
    again = RunBudgets((budget,), spec, BudgetLedger(tmp_path), Amount(2.0))
    again.check(Spend(cost_usd=2.5), START, reserve=True)
    assert used(START) == 2.5
    tomorrow = START + 86_400
    later = RunBudgets((budget,), spec, BudgetLedger(tmp_path), Amount(2.5))
    later.check(Spend(cost_usd=3.0), tomorrow, reserve=True)
    assert (used(START), used(tomorrow)) == (2.5, 0.5)


def test_the_forecast_says_when_a_budget_is_used_up(tmp_path: Path) -> None:
    noon = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
    ledger = BudgetLedger(tmp_path, lambda: noon)
    ledger.report("daily", "2026-03-04", UsageReport(run_id="a", total=Amount(1.0, 100)))
    config = Config(budgets=(Budget(name="daily", per="day", max_cost_usd=3.0),))
    (standing,) = read_budgets(config, Store(tmp_path), now=noon + 3600)
    assert standing.expected is not None
    assert standing.expected.cost_usd == pytest.approx(12.0)
    assert standing.reached_at == pytest.approx(noon + 3 * 3600)
    assert "used up Wed 15:00" in standing.forecast


def test_the_command_shows_budgets_and_warns_of_one_that_fits_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config" / "interlock" / "interlock.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(
        "budgets:\n"
        "  - {name: daily, per: day, max_cost_usd: 4}\n"
        "  - {name: each, per: run, max_tokens: 1000, on_limit: stop}\n"
        "  - {name: typo, per: run, max_cost_usd: 1, match: {name: 'nigthly-*'}}\n"
    )
    store = Store(tmp_path / "state" / "interlock" / "runs")
    budgets = (Budget(name="daily", per="day", max_cost_usd=4.0), Budget(name="each", per="run", max_tokens=1000))
    with Supervisor.open(task="a", name="nightly-1", store=store, config=Config(budgets=budgets)) as run:
        for _ in range(2):
            assert spend_step(run, 0.5) == "proceed"
        shown = interlock("budget", home=tmp_path)
        assert shown.returncode == 0, shown
        listed = {
            each["name"]: each
            for each in msgspec.json.decode(interlock("budget", "--json", home=tmp_path).stdout)["budgets"]
        }
    _, daily, each, typo = shown.stdout.splitlines()
    assert daily.split()[:2] == ["daily", "day"]
    assert "$4.00" in daily and "%)" in daily and "at its end" in daily
    assert f"run {run.run.spec.run_id}" in each and "tokens" in each
    assert "matches no stored run" in typo
    assert shown.stderr.count("budget typo matches none of the stored runs") == 1
    assert "daily" not in shown.stderr and "each" not in shown.stderr
    assert listed["daily"]["used"]["cost_usd"] >= 0.5
    assert listed["typo"]["fits_nothing"] is True
    after = interlock("budget", home=tmp_path).stdout.splitlines()
    assert "no live run" in after[2]
