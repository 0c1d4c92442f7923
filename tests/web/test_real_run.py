"""A real run in a real browser: seen while it goes on, steered, taken back, ended."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from interlock.journal import Store
from interlock.runtime import Supervisor

from ..e2e.running import Place
from .pages import OpenPage, newest

AGENT = """
import pathlib, time
from interlock.adapters.steps.client import Steps
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


def test_a_real_run_is_shown_while_it_goes_on_and_can_be_steered(open_page: OpenPage, real: str, place: Place) -> None:
    page = open_page(f"/runs/{real}")
    expect(page.locator("h1")).to_contain_text("builder")
    expect(page.locator(".line").filter(has_text="make part-").first).to_be_visible()
    seen = page.locator(".line").first.get_attribute("id")
    expect(page.locator(".line").first).not_to_have_id(seen or "")
    expect(page.locator(".chart .plot").first).to_be_visible()
    expect(page.locator(".chart", has_text="Cost")).to_have_count(0)

    page.keyboard.press("p")
    expect(newest(page, "pause")).to_contain_text("ACK")
    expect(newest(page, "pause")).to_have_class(re.compile("way-success"))
    expect(page.locator("h1 .status")).to_have_text("paused")
    page.get_by_role("button", name="Resume").click()
    expect(newest(page, "resume")).to_have_class(re.compile("way-success"))
    expect(page.locator("h1 .status")).to_have_text("running")

    page.keyboard.press("e")
    expect(page.locator(".toast")).to_contain_text("Cannot escalate")
    expect(page.get_by_role("dialog")).to_have_count(0)
    # What the page says beforehand is what the run says when it is asked.
    reason = page.get_by_role("button", name="Escalate").get_attribute("title")
    page.evaluate(
        """path => fetch(path, {method: "POST", headers: {"content-type": "application/json", "x-interlock": "1"},
            body: JSON.stringify({command: "escalate", payload: {model: "opus"}})})""",
        f"/api/runs/{real}/control",
    )
    expect(newest(page, "escalate")).to_have_class(re.compile("way-failure"))
    expect(newest(page, "escalate")).to_contain_text(reason or "a reason")


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
    expect(one.locator("h1 .status")).to_have_text("cancelled by you")
    expect(one.get_by_text("This run has ended")).to_be_visible()
    expect(two.locator(f"tr[data-run='{real}'] .status")).to_have_text("cancelled by you")


def test_what_a_command_asks_a_person_is_shown_with_its_text(open_page: OpenPage, place: Place) -> None:
    asks = "printf 'Do you want to continue? [Y/n] '; read answer"
    place.start("sh", "-c", asks, options=("--name", "asker"), stdin=subprocess.PIPE)
    overview = open_page("/")
    row = overview.locator("tr[data-run]").filter(has_text="asker")
    expect(row).to_contain_text("Needs you: Do you want to continue? [Y/n]")
    page = open_page(f"/runs/{place.folder.run_id}")
    expect(page.locator("main")).to_contain_text("Do you want to continue? [Y/n]")


def test_processes_that_a_cancel_did_not_reach_are_named(open_page: OpenPage, live: Supervisor) -> None:
    page = open_page(f"/runs/{live.run.spec.run_id}")
    live.run.update(unstopped="dd (pid 4711) is still alive: it waits for a disk that does not answer")
    banner = page.locator(".banner").filter(has_text="dd (pid 4711) is still alive")
    expect(banner).to_contain_text("Not every process is frozen")
    live.close()
    expect(banner).to_contain_text("Not every process has ended")
