"""A run's page in a real browser: its timeline, its buttons, its pictures."""

from __future__ import annotations

import re

from msgspec.structs import replace
from playwright.sync_api import expect

from interlock.config import Config
from interlock.core import Issue, RunSpec, Step, Tool, Usage
from interlock.journal import Store
from interlock.journal_records import StepRecord
from interlock.runtime import Run, Supervisor
from tests.web.background_server import BackgroundServer

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
    expect(page.get_by_text("This run is not supervised")).to_be_visible()
    page.get_by_role("button", name="Pause").click()
    shown = newest(page, "pause")
    expect(shown).to_have_class(re.compile("way-unknown"))
    expect(shown).to_contain_text("whether it was carried out is unknown")
    expect(page.locator("h1 .status")).to_have_text("lost")


def test_a_cost_that_is_not_known_is_not_called_nothing(open_page: OpenPage, store: Store) -> None:
    with Supervisor.open(task="guess", name="unpriced", store=store, config=Config()) as supervisor:
        step = supervisor.message("hello", usage=Usage(50, 50))
        supervisor.after(replace(step, model="nobody-knows-1"))
    page = open_page(f"/runs/{supervisor.run.spec.run_id}")
    expect(page.locator("main")).to_contain_text("Spendunknown")
    expect(page.locator(".timeline-card")).to_be_visible()
    expect(page.locator(".charts")).to_have_count(0)
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


def test_calls_have_their_results_findings_a_count_and_the_slider_leads_the_timeline(
    open_page: OpenPage, store: Store, dashboard: BackgroundServer
) -> None:
    spec = RunSpec(run_id="folded", name="folded", argv=("claude", "-p", "fix 'it'"), adapter="direct")
    with Run.create(spec, store) as run:
        for index in range(0, 40, 2):
            call = Tool("bash", {"command": f"make part-{index}"}, f"call-{index}")
            step = Step(run_id="folded", index=index, role="assistant", kind="tool_call", tool=call)
            run.record(StepRecord(replace(step, usage=Usage(1_000, 500))))
            done = Step(run_id="folded", index=index + 1, role="tool", kind="tool_result", content="made it")
            run.record(StepRecord(replace(done, tool=Tool("", {}, f"call-{index}"), duration_ms=2_500.0)))
            if index in (10, 20, 30):
                said = f"{index} runs gave the same failure."
                run.record(Issue(id=f"i{index}", type="loop", description=said, severity="high", step=index))
        run.update(steps=40, issues=3)
        run.end("done", "COMPLETE")
    page = open_page("/runs/folded")
    newest_call = page.locator(".line", has_text="make part-38")
    expect(newest_call).to_have_count(1)
    expect(newest_call).to_contain_text("ok: made it")
    expect(newest_call).to_contain_text("2.5 s · 1,500 tokens")
    expect(page.locator(".line.kind-issue")).to_have_count(1)
    expect(page.locator(".line.kind-issue")).to_contain_text("×3")
    page.locator(".line.kind-issue summary").click()
    expect(page.locator(".line.kind-issue")).to_contain_text("Also at step 10, 20.")
    expect(page.locator(".chart", has_text="Cost")).to_have_count(0)
    slider = page.get_by_role("slider")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.get_by_text("As it was at step 0.")).to_be_visible()
    expect(page.locator(".line", has_text="make part-38")).to_have_count(0)
    expect(page.locator(".line", has_text="make part-0")).to_be_visible()
    page.goto(f"{dashboard.address}/runs/folded?step=20")
    expect(page.locator(".line", has_text="make part-20")).to_be_visible()
    expect(page.locator(".line", has_text="make part-22")).to_have_count(0)
    page.get_by_role("button", name="Show the newest").click()
    expect(page.locator(".line", has_text="make part-38")).to_be_visible()
    page.get_by_role("link", name="Details").click()
    expect(page.locator("code", has_text="claude -p")).to_have_text("""claude -p 'fix '"'"'it'"'"''""")


def test_an_opened_line_names_its_record_in_one_row(open_page: OpenPage, store: Store) -> None:
    write_run(store, "opened-line")
    page = open_page("/runs/opened-line")
    page.locator(".line summary").first.click()
    name = page.locator(".record summary")
    expect(name).to_contain_text("as it is in the journal")
    box = name.bounding_box()
    assert box is not None and box["height"] < 40 < box["width"]
