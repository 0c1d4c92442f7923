"""The ladder of a run's page, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from interlock.config import Config
from interlock.core import ManualClock
from interlock.journal import Store
from interlock.runtime import Supervisor

OpenPage = Callable[..., Page]


def test_the_ladder_says_what_did_not_work(open_page: OpenPage, store: Store) -> None:
    clock = ManualClock()
    with Supervisor.open(name="stubborn", store=store, clock=clock, config=Config()) as supervisor:
        for _ in range(6):
            supervisor.before(supervisor.call("bash", {"command": "cat ~/.ssh/id_rsa"}))
            clock.advance(130)
    page = open_page(f"/runs/{supervisor.run.spec.run_id}")
    expect(page.locator(".rung", has_text="hint")).to_contain_text("1 did not work")
    expect(page.locator(".ladder")).to_contain_text("not judged: the run ended first")
    expect(page.locator(".ladder")).not_to_contain_text("no effect known yet")
    made = page.locator(".rung-count").all_inner_texts()
    expect(page.locator(".card", has_text="Ladder")).to_contain_text(
        re.compile(rf"Ladder{sum(int(count) for count in made if count)} intervention")
    )
