"""An incident's page in a real browser: what was used, and the options."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import expect

from interlock.journal import Store

from .pages import OpenPage
from .runs import stop_run


def test_an_incident_says_what_the_run_has_used(open_page: OpenPage, store: Store, home: Path) -> None:
    page = open_page(f"/incidents/{stop_run(store, 'used-some', ('agent',), home)}")
    expect(page.locator("main")).to_contain_text("Tokens720")
    expect(page.locator("main")).to_contain_text("Costnot known")


def test_an_incident_has_four_ways_on_and_one_is_taken(open_page: OpenPage, store: Store, home: Path) -> None:
    argv = (sys.executable, "-c", "import time; time.sleep(0.2)")
    incident = stop_run(store, "halted", argv, home)
    page = open_page("/runs/halted")
    page.get_by_role("link", name="Choose how to continue").click()
    ways = page.locator(".ways li")
    expect(ways).to_have_count(4)
    expect(ways.filter(has_text="Rollback and retry")).to_contain_text("Not possible: no safe checkpoint")
    expect(ways.filter(has_text="Rollback and retry").get_by_role("button")).to_be_disabled()
    page.get_by_role("button", name="Resume with limits").click()
    page.get_by_role("button", name="Continue", exact=True).click()
    page.get_by_text("a run continues").wait_for()
    going_on = page.locator(".banner-good a").inner_text()
    assert store.find(going_on).spec().continues == "halted"
    expect(page.locator("h1 .pill")).to_have_text("continued")
    page.get_by_role("link", name="Incidents", exact=True).first.click()
    expect(page.locator(f"a[href='/incidents/{incident}']")).to_contain_text("continued")
