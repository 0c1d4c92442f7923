"""The overview and what every page has, in a real browser."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import expect

from interlock.core import ManualClock, RunSpec
from interlock.journal import Store
from interlock.runtime import Run, Supervisor
from tests.web.background_server import BackgroundServer

from .pages import OpenPage, run_page
from .runs import stop_run, work, write_run


def test_the_overview_shows_runs_and_follows_them(open_page: OpenPage, live: Supervisor) -> None:
    page = open_page("/")
    row = page.locator(f"tr[data-run='{live.run.spec.run_id}']")
    expect(row.locator(".status")).to_have_text("running")
    expect(row).to_contain_text("the task of")
    expect(row).to_contain_text("claude-sonnet-4-5")
    expect(row).to_contain_text("/ $2.00")
    expect(page.locator(".link-live")).to_be_visible()
    work(live, 2)
    expect(row.locator(".cell-iter")).to_contain_text("2")
    live.close()
    expect(row.locator(".status")).to_have_text("done")


def test_runs_are_found_by_words_and_keys(open_page: OpenPage, live: Supervisor, store: Store) -> None:
    write_run(store, "needle-in-hay")
    page = open_page("/")
    page.locator("table.runs").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("needle")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=needle"))
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("needle-in-hay")
    page.go_back()
    page.get_by_role("searchbox").fill("no such thing")
    expect(page.get_by_text("No run fits")).to_be_visible()
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("tbody tr").first).to_be_visible()


USEFUL = (
    ("/runs/bare", "No commands yet"),
    ("/runs/bare/files", "This run has no workspace"),
    ("/runs/bare/screens", "Only GUI sessions have them"),
    ("/runs/bare/details", "no tool was called"),
    ("/runs/no-such-run", "There is no run"),
    ("/incidents/no-such-incident", "There is no incident"),
    ("/runs/torn", "The journal"),
    ("/nowhere/at/all", "There is no such page"),
)


def test_empty_and_wrong_pages_say_something_useful(
    open_page: OpenPage, dashboard: BackgroundServer, store: Store
) -> None:
    write_run(store, "bare", steps=0, end=False)
    write_run(store, "torn").journal.write_bytes(b"torn" * 1000)
    page = open_page("/")
    for path, words in USEFUL:
        page.goto(dashboard.address + path)
        expect(page.locator("main")).to_contain_text(re.compile(re.escape(words), re.IGNORECASE))


def test_without_the_token_the_page_asks_for_it(open_page: OpenPage, dashboard: BackgroundServer) -> None:
    page = open_page("/")
    page.context.clear_cookies()
    page.goto(f"{dashboard.address}/")
    expect(page.get_by_text("needs its token")).to_be_visible()
    page.get_by_label("Address or token").fill(dashboard.entry)
    page.get_by_role("button", name="Open").click()
    expect(page.locator("table.runs, .state-empty").first).to_be_visible()
    assert "token" not in page.url
    assert page.evaluate("document.cookie") == ""


def test_dark_mode_follows_the_system_and_the_button(open_page: OpenPage) -> None:
    page = open_page("/", color_scheme="dark")
    page.locator("main").wait_for()
    body = page.locator("body")
    expect(body).to_have_css("background-color", "rgb(13, 17, 23)")
    page.get_by_role("button", name="Colours: auto").click()
    expect(body).to_have_css("background-color", "rgb(244, 246, 248)")
    page.reload()
    page.get_by_role("button", name="Colours: light").click()
    expect(body).to_have_css("background-color", "rgb(13, 17, 23)")


def test_runs_are_sorted_and_narrowed_to_a_time_and_what_needs_a_person_is_counted_everywhere(
    open_page: OpenPage, dashboard: BackgroundServer, store: Store, home: Path
) -> None:
    incident = stop_run(store, "stopped-by-name", ("agent",), home)
    for name, cost in (("sort-cheap", 901.0), ("sort-dear", 902.0)):
        with Run.create(RunSpec(run_id=name, name=name), store) as run:
            run.update(cost_usd=cost, interventions=3)
            run.end("done", "COMPLETE")
    old = ManualClock(time.time() - 3 * 86_400)
    with Run.create(RunSpec(run_id="sort-old", name="sort-old"), Store(store.root, old), old) as run:
        run.end("done", "COMPLETE")
    page = open_page("/?q=sort-")
    order = page.locator("tbody tr .run-name")
    heading = page.get_by_role("columnheader", name="Spend")
    heading.get_by_role("button").click()
    expect(order).to_have_text(["sort-dear", "sort-cheap", "sort-old"])
    expect(heading).to_have_attribute("aria-sort", "descending")
    heading.get_by_role("button").click()
    expect(order).to_have_text(["sort-old", "sort-cheap", "sort-dear"])
    page.get_by_label("Time range").select_option("24 hours")
    expect(order).to_have_text(["sort-cheap", "sort-dear"])
    expect(page).to_have_url(re.compile("since=24h"))
    for trend in ("Spend over", "Interventions over"):
        expect(page.get_by_role("img", name=trend)).to_be_visible()
    page.goto(f"{dashboard.address}/incidents")
    expect(page.locator(f"a[href='/incidents/{incident}']")).to_contain_text("stopped-by-name")
    expect(page.locator(".badge")).to_contain_text("need you")


def test_nothing_is_wider_than_a_phone(
    open_page: OpenPage, dashboard: BackgroundServer, live: Supervisor, store: Store, home: Path
) -> None:
    incident = stop_run(store, "stopped-small", ("agent",), home)
    page = open_page("/", viewport={"width": 360, "height": 740})
    for path in ("/", run_page(live), run_page(live, "/details"), f"/incidents/{incident}", "/incidents"):
        page.goto(dashboard.address + path)
        page.locator("main :is(.card, .tiles)").first.wait_for()
        wide = page.evaluate(
            "[...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 90))"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, (path, wide)


def test_the_keyboard_is_explained(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("main").wait_for()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("pause or resume")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page).to_have_url(re.compile("/incidents$"))


def test_the_table_of_runs_fits_every_width(open_page: OpenPage, store: Store, home: Path) -> None:
    stop_run(store, "a-run-with-a-rather-long-name", ("agent",), home)
    page = open_page("/")
    row = page.locator("tr[data-run='a-run-with-a-rather-long-name']")
    for width in (1360, 1200, 1100, 1001, 900, 780, 761, 600):
        page.set_viewport_size({"width": width, "height": 800})
        row.scroll_into_view_if_needed()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        run = row.locator(".cell-run").bounding_box()
        assert run is not None and run["width"] > 130, width
