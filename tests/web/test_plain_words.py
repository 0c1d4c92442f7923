"""What a page says and offers is so, and says the same everywhere: in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from interlock.core import RunSpec
from interlock.journal import Store
from interlock.output import OutputWriter, Printed
from interlock.runtime import Run, Supervisor

from .pages import OpenPage, newest, run_page
from .runs import supervised, work, write_run


def test_escalate_is_not_offered_where_the_agent_cannot_switch_and_the_key_says_why(
    open_page: OpenPage, store: Store
) -> None:
    with supervised(store, "plain-process", adapter="process") as supervisor:
        work(supervisor, 1)
        page = open_page("/runs/plain-process")
        button = page.get_by_role("button", name="Escalate")
        expect(button).to_be_disabled()
        expect(button).to_have_attribute("title", "the agent's adapter (process) cannot switch models")
        page.keyboard.press("e")
        expect(page.locator(".toast")).to_contain_text("adapter (process) cannot switch models")
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_tab_of_files_counts_no_checkpoints(open_page: OpenPage, store: Store, tmp_path: Path) -> None:
    with supervised(store, "with-files", tmp_path) as supervisor:
        work(supervisor, 1)
        page = open_page("/runs/with-files")
        expect(page.locator(".tabs")).to_have_text("TimelineFilesScreensDetailsOutput")


def test_a_run_without_tokens_spent_nothing_wherever_it_is_said(open_page: OpenPage, store: Store) -> None:
    with supervised(store, "thrifty") as supervisor:
        work(supervisor, 1)
        page = open_page("/runs/thrifty")
        expect(page.locator(".facts")).to_contain_text("Spend$0.00")
        expect(page.locator(".chart", has_text="Useful calls")).to_be_visible()
        expect(page.locator(".chart", has_text="Cost")).to_have_count(0)
        page.get_by_role("link", name="Details").click()
        expect(page.locator("tr", has_text="cost")).to_contain_text("$0.00")
        expect(page.locator("main")).not_to_contain_text("not known")


def test_one_run_without_prices_does_not_hide_what_the_others_spent(open_page: OpenPage, store: Store) -> None:
    for name, cost, unpriced in (("priced", 1.25, 0), ("unpriced", 0.0, 500)):
        with Run.create(RunSpec(run_id=f"sum-{name}", name=name), store) as run:
            run.update(cost_usd=cost, unpriced_tokens=unpriced)
            run.end("done", "COMPLETE")
    page = open_page("/")
    tile = page.locator(".tile", has_text="Spend")
    expect(tile).to_contain_text(re.compile(r"\$1\.\d\d\+"))
    expect(page.locator("tr[data-run=sum-unpriced] .cell-spend")).to_have_text("unknown")


def test_a_paused_run_is_not_said_to_be_running(open_page: OpenPage, live: Supervisor) -> None:
    page = open_page(run_page(live))
    expect(page.locator(".facts")).to_contain_text("Running for")
    page.get_by_role("button", name="Pause").click()
    expect(newest(page, "pause")).to_have_class(re.compile("way-success"))
    expect(page.locator(".facts")).to_contain_text("ago, now paused")
    expect(page.locator(".facts")).not_to_contain_text("Running for")


def test_a_command_that_failed_looks_different_from_one_that_was_stopped(open_page: OpenPage, store: Store) -> None:
    for name, reason, message in (
        ("ended-3", "ERROR", "the command ended with status 3"),
        ("ended-stop", "EMERGENCY_STOP", "it went wrong"),
    ):
        with Run.create(RunSpec(run_id=name, name=name, task="work"), store) as run:
            run.end("aborted", reason, message)
    page = open_page("/")
    for name, outcome in (("ended-3", "failed"), ("ended-stop", "stopped by Interlock")):
        expect(page.locator(f"tr[data-run={name}] .status")).to_have_text(outcome)
        expect(open_page(f"/runs/{name}").locator("h1 .status")).to_have_text(outcome)


def test_the_page_of_an_unknown_run_leads_to_all_runs_and_is_connected(open_page: OpenPage, store: Store) -> None:
    write_run(store, "known")
    page = open_page("/runs/never-was")
    expect(page.locator("main")).to_contain_text("There is no run")
    expect(page.locator(".link-live")).to_be_visible()
    expect(page.locator(".top")).not_to_contain_text("refused")
    page.locator("main").get_by_role("link", name="All runs").click()
    expect(page.locator("tr[data-run=known]")).to_be_visible()


def test_the_search_says_all_of_what_it_is_for(open_page: OpenPage, store: Store) -> None:
    write_run(store, "searched")
    page = open_page("/runs/searched", viewport={"width": 1024, "height": 768})
    field = page.get_by_placeholder("Search the timeline…")
    expect(field).to_be_visible()
    room = field.evaluate("""field => {
        const style = getComputedStyle(field), pen = document.createElement("canvas").getContext("2d");
        pen.font = style.font;
        const inside = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return inside - pen.measureText(field.placeholder).width;
    }""")
    assert room > 0


def test_a_tab_shows_what_the_command_printed(open_page: OpenPage, store: Store) -> None:
    folder = write_run(store, "prints")
    writer = OutputWriter(folder.output, 1 << 20)
    writer.add(Printed(1.0, "out", b"compiling\n<b>done</b> \x1b[31mred\n"))
    writer.close()
    page = open_page("/runs/prints", viewport={"width": 390, "height": 844})
    page.get_by_role("link", name="Output").click()
    expect(page.locator("pre.output")).to_have_text("compiling\n<b>done</b> red")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    write_run(store, "silent")
    expect(open_page("/runs/silent/output").locator("main")).to_contain_text("No output")
