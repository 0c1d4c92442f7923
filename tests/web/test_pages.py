"""The pages in a real browser: what they show while runs go on, and what their buttons do."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from interlock.config import Config
from interlock.core import Usage
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.web.background import Background

from ..e2e.running import Place
from .runs import PIXEL, stop_run, supervised, work, write_run

OpenPage = Callable[..., Page]
expect.set_options(timeout=15_000)

AGENT = """
import pathlib, time
from interlock.adapters.process.client import Steps
steps, number = Steps(), 0
while not pathlib.Path("stop").exists():
    number += 1
    answer = steps.before("bash", {"command": f"make part-{number}"}, usage={"input_tokens": 900, "output_tokens": 90})
    if answer["action"] == "stop":
        break
    pathlib.Path(f"part-{number % 3}.txt").write_text(f"part {number}\\n")
    steps.after(f"part {number} is built", exit_code=0)
    time.sleep(0.3)
"""
"""An agent that tells its steps, and changes files."""


@pytest.fixture(scope="module")
def place(home: Path, store: Store) -> Iterator[Place]:
    # A busy machine must not make supervision miss a step: then a change would count as somebody else's.
    made = Place(home, store=store.root)
    (made.workspace / "kept.txt").write_text("as it was\n")
    yield made
    (made.workspace / "stop").touch()
    made.close()


@pytest.fixture(scope="module")
def real(place: Place) -> str:
    """A real run that goes on: `interlock run` with an agent of its own."""
    place.start(
        sys.executable, "-c", AGENT, options=("--name", "builder", "--task", "build every part", "--max-cost", "5")
    )
    place.wait_for("part-1.txt")
    return place.folder.run_id


@pytest.fixture
def live(store: Store, request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    """A run whose owner is this process."""
    with supervised(store, re.sub(r"\W+", "-", request.node.name)[:60]) as supervisor:
        work(supervisor, 1)
        yield supervisor


def run_page(supervisor: Supervisor, tab: str = "") -> str:
    return f"/runs/{supervisor.run.spec.run_id}{tab}"


def newest(page: Page, command: str):  # type: ignore[no-untyped-def]
    """The newest request of a command in the control history."""
    return page.locator(f".controls .way[data-command={command}]").first


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


def test_a_real_run_is_shown_while_it_goes_on_and_can_be_steered(open_page: OpenPage, real: str, place: Place) -> None:
    page = open_page(f"/runs/{real}")
    expect(page.locator("h1")).to_contain_text("builder")
    expect(page.locator(".line").filter(has_text="make part-").first).to_be_visible()
    seen = page.locator(".line").first.get_attribute("id")
    expect(page.locator(".line").first).not_to_have_id(seen or "")
    expect(page.locator(".chart canvas")).to_have_count(3)
    expect(page.locator(".chart", has_text="Cost")).to_contain_text("No cost known")

    page.keyboard.press("p")
    expect(newest(page, "pause")).to_contain_text("ACK")
    expect(newest(page, "pause")).to_have_class(re.compile("way-success"))
    expect(page.locator("h1 .status")).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(newest(page, "resume")).to_have_class(re.compile("way-success"))
    expect(page.locator("h1 .status")).to_have_text("running")

    page.keyboard.press("e")
    page.get_by_role("combobox", name="Model").fill("opus")
    page.get_by_role("dialog").get_by_role("button", name="Escalate").click()
    expect(newest(page, "escalate")).to_have_class(re.compile("way-failure"))
    expect(newest(page, "escalate")).to_contain_text("cannot switch")


def test_files_show_what_changed_and_go_back_after_a_preview(open_page: OpenPage, real: str, place: Place) -> None:
    page = open_page(f"/runs/{real}/files")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .status")).to_have_text("paused")
    expect(page.locator(".file-path").first).to_contain_text("part-")
    expect(page.locator(".patch-add").first).to_contain_text("+part")
    page.get_by_role("button", name="Undo the whole run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".change-deleted").first).to_contain_text("part-")
    assert any(place.workspace.glob("part-*.txt"))
    dialog.get_by_role("button", name="Go back: ").click()
    expect(dialog.locator(".way")).to_have_class(re.compile("way-success"))
    assert not any(place.workspace.glob("part-*.txt"))
    assert (place.workspace / "kept.txt").read_text() == "as it was\n"
    dialog.get_by_role("button", name="Close", exact=True).last.click()
    expect(newest(page, "rollback")).to_have_class(re.compile("way-success"))


def test_cancel_asks_first_and_two_browsers_see_the_same(open_page: OpenPage, real: str, place: Place) -> None:
    place.order("pause")
    one, two = open_page(f"/runs/{real}"), open_page("/")
    one.get_by_role("button", name="Cancel").click()
    one.get_by_role("button", name="Not now").click()
    expect(two.locator(f"tr[data-run='{real}'] .status")).to_have_text("paused")
    one.keyboard.press("c")
    one.get_by_label("Reason").fill("enough")
    one.get_by_role("button", name="Cancel the run").click()
    expect(newest(one, "cancel")).to_have_class(re.compile("way-success"))
    expect(newest(one, "cancel")).to_contain_text("Reason: enough")
    expect(one.locator("h1 .status")).to_have_text("aborted")
    expect(one.get_by_text("This run has ended")).to_be_visible()
    expect(two.locator(f"tr[data-run='{real}'] .status")).to_have_text("aborted")


def press_until_focused(page: Page, key: str, button: Locator) -> None:
    """A page that has just come up may hear its first keys late."""
    for _ in range(10):
        page.keyboard.press(key)
        with contextlib.suppress(AssertionError):
            expect(button).to_be_focused(timeout=1500)
            return
    expect(button).to_be_focused()


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


def test_an_incident_says_what_the_run_has_used(open_page: OpenPage, store: Store, home: Path) -> None:
    page = open_page(f"/incidents/{stop_run(store, 'used-some', ('agent',), home)}")
    expect(page.locator("main")).to_contain_text("Tokens720")
    expect(page.locator("main")).to_contain_text("Costnot known")


def test_an_incident_has_four_ways_on_and_one_is_taken(open_page: OpenPage, store: Store, home: Path) -> None:
    argv = (sys.executable, "-c", "import time; time.sleep(0.2)")
    incident = stop_run(store, "halted", argv, home)
    page = open_page("/runs/halted")
    page.get_by_role("link", name="Choose how to go on").click()
    ways = page.locator(".ways li")
    expect(ways).to_have_count(4)
    expect(ways.filter(has_text="Rollback and retry")).to_contain_text("Not possible: no safe checkpoint")
    expect(ways.filter(has_text="Rollback and retry").get_by_role("button")).to_be_disabled()
    page.get_by_role("button", name="Resume with limits").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_text("a run goes on").wait_for()
    going_on = page.locator(".banner-good a").inner_text()
    assert store.find(going_on).spec().continues == "halted"
    expect(page.locator("h1 .pill")).to_have_text("continued")
    page.get_by_role("link", name="Incidents", exact=True).first.click()
    expect(page.locator(f"a[href='/incidents/{incident}']")).to_contain_text("continued")


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


USEFUL = (
    ("/runs/bare", "Too few steps for a curve"),
    ("/runs/bare", "Nobody has steered this run"),
    ("/runs/bare/files", "This run has no workspace"),
    ("/runs/bare/screens", "Only GUI sessions have them"),
    ("/runs/bare/details", "no tool was called"),
    ("/runs/no-such-run", "There is no run"),
    ("/incidents/no-such-incident", "There is no incident"),
    ("/runs/torn", "The journal"),
    ("/nowhere/at/all", "There is no such page"),
)


def test_empty_and_wrong_pages_say_something_useful(open_page: OpenPage, dashboard: Background, store: Store) -> None:
    write_run(store, "bare", steps=0, end=False)
    write_run(store, "torn").journal.write_bytes(b"torn" * 1000)
    page = open_page("/")
    for path, words in USEFUL:
        page.goto(dashboard.address + path)
        expect(page.locator("main")).to_contain_text(re.compile(re.escape(words), re.IGNORECASE))


def test_without_the_token_the_page_asks_for_it(open_page: OpenPage, dashboard: Background) -> None:
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


def test_nothing_is_wider_than_a_phone(
    open_page: OpenPage, dashboard: Background, live: Supervisor, store: Store, home: Path
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
