"""A run's page in a real browser: its timeline, its buttons, its pictures."""

from __future__ import annotations

import re

from msgspec.structs import replace
from playwright.sync_api import expect

from interlock.config import Config
from interlock.core import Usage
from interlock.journal import Store
from interlock.runtime import Supervisor

from .pages import OpenPage, newest, press_until_focused, run_page
from .runs import PIXEL, supervised, write_run


def test_a_step_that_waits_can_be_approved_or_rejected(open_page: OpenPage, store: Store) -> None:
    with supervised(store, "careful", approvals=True) as supervisor:
        first = supervisor.call("bash", {"command": "make deploy"})
        assert supervisor.before(first).action == "hold"
        overview = open_page("/?show=waiting")
        expect(overview.locator("tr[data-run=careful]")).to_contain_text("make deploy")
        page = open_page("/runs/careful")
        banner = page.locator(".banner-attention")
        expect(banner).to_contain_text("make deploy")
        press_until_focused(page, "a", banner.get_by_role("button", name="Approve"))
        assert supervisor.before(first).action == "hold"
        page.keyboard.press("Enter")
        expect(newest(page, "approve")).to_have_class(re.compile("way-success"))
        expect(banner).to_have_count(0)
        assert supervisor.before(first).action == "proceed"
        second = supervisor.call("bash", {"command": "make undeploy"})
        assert supervisor.before(second).action == "hold"
        expect(banner).to_contain_text("make undeploy")
        page.get_by_placeholder("Reason").fill("not today")
        page.get_by_role("button", name="Reject").click()
        expect(newest(page, "reject")).to_have_class(re.compile("way-success"))
        answer = supervisor.before(second)
        assert answer.action == "deny" and "not today" in answer.reason


def test_escalate_reaches_an_agent_that_can(open_page: OpenPage, live: Supervisor) -> None:
    page = open_page(run_page(live))
    page.get_by_role("button", name="Escalate").click()
    page.get_by_role("combobox", name="Model").fill("claude-opus-4-1")
    page.get_by_label("Reason").fill("it goes in circles")
    page.get_by_role("dialog").get_by_role("button", name="Escalate").click()
    expect(newest(page, "escalate")).to_have_class(re.compile("way-success"))
    expect(page.locator(".facts")).to_contain_text("claude-opus-4-1")


def test_what_nobody_knows_is_shown_as_unknown(open_page: OpenPage, store: Store) -> None:
    write_run(store, "abandoned", end=False)
    page = open_page("/runs/abandoned")
    expect(page.locator("h1 .status")).to_have_text("lost")
    expect(page.get_by_text("Nobody supervises this run")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    shown = newest(page, "pause")
    expect(shown).to_have_class(re.compile("way-unknown"))
    expect(shown).to_contain_text("whether it was carried out is not known")
    expect(page.locator("h1 .status")).to_have_text("lost")


def test_a_cost_that_is_not_known_is_not_called_nothing(open_page: OpenPage, store: Store) -> None:
    with Supervisor.open(task="guess", name="unpriced", store=store, config=Config()) as supervisor:
        step = supervisor.message("hello", usage=Usage(50, 50))
        supervisor.after(replace(step, model="nobody-knows-1"))
    page = open_page(f"/runs/{supervisor.run.spec.run_id}")
    expect(page.locator("main")).to_contain_text("Spendunknown")
    expect(page.locator(".chart", has_text="Cost")).not_to_contain_text("$0.00")
    page = open_page("/")
    expect(page.locator("tr", has_text="unpriced")).to_contain_text("unknown")


def test_pictures_of_a_session_are_shown(open_page: OpenPage, store: Store) -> None:
    folder = write_run(store, "watched-screen")
    for number in (1, 2):
        (folder.pictures / f"screen-{number}.png").write_bytes(PIXEL)
    page = open_page("/runs/watched-screen/screens")
    expect(page.locator(".screens img")).to_have_count(2)
    page.locator(".screen").first.click()
    page.get_by_role("button", name="Earlier").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 of 2")
    expect(page.locator(".large img")).to_have_js_property("naturalWidth", 1)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_line_opens_and_kinds_narrow_the_timeline(open_page: OpenPage, store: Store) -> None:
    write_run(store, "long-one", steps=400)
    page = open_page("/runs/long-one")
    first = page.locator(".line", has_text="echo 399")
    first.locator("summary").first.click()
    first.get_by_text("as it is in the journal").click()
    expect(first.locator("pre").last).to_contain_text('"command": "echo 399"')
    page.locator(".lines-end").scroll_into_view_if_needed()
    expect(page.locator(".line", has_text="echo 200")).to_be_attached()
    page.get_by_role("button", name="state", exact=True).click()
    expect(page.locator(".line.kind-step")).to_have_count(0)
    expect(page.locator(".line.kind-state").first).to_be_visible()
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    expect(page).to_have_url(re.compile("kinds=state.*find=nothing|find=nothing.*kinds=state"))
