"""Nothing that comes from an agent is ever taken for HTML: every page over a run that is hostile in every field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from interlock.journal import Store
from tests.web.background_server import BackgroundServer

from .runs import EVIL, supervised, write_hostile_run

FOUND = """() => ({
    pwned: window.pwned,
    images: [...document.images].filter(image => image.getAttribute('src') === 'x').length,
    scripts: [...document.scripts].filter(script => !script.src.endsWith('/static/app.js')).length,
    handlers: document.querySelectorAll('[onerror], [onload], [onclick]').length,
})"""
CLEAN = {"pwned": None, "images": 0, "scripts": 0, "handlers": 0}


@pytest.fixture(scope="module")
def incident(store: Store, home: Path) -> str:
    """A hostile run with its incident, and one whose files are hostile."""
    workspace = home / "work"
    workspace.mkdir()
    _, incident = write_hostile_run(store, workspace)
    (workspace / "plain.txt").write_text("before\n")
    with supervised(store, "files", workspace) as supervisor:
        supervisor.before(supervisor.call("bash", {"command": "touch x"}))
        (workspace / "plain.txt").write_text(f"{EVIL}\n")
        (workspace / EVIL.replace("/", "_")[:120]).write_text(EVIL)
        supervisor.after(supervisor.result(EVIL, exit_code=0))
    return incident


def test_no_page_runs_what_an_agent_wrote(
    open_page: Callable[..., Page], dashboard: BackgroundServer, incident: str
) -> None:
    page = open_page("/")
    for path in (
        "/", "/?q=%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D1%3E", "/runs/hostile", "/runs/hostile/files",
        "/runs/hostile/screens", "/runs/hostile/details", "/runs/files/files", "/incidents", f"/incidents/{incident}",
        "/runs/%3Cimg%20src%3Dx%20onerror%3Dwindow.pwned%3D1%3E", "/incidents/%3Cscript%3Ewindow.pwned=1%3C%2Fscript%3E",
    ):  # fmt: skip
        page.goto(dashboard.address + path)
        page.locator("main :is(.card, .tiles, .state)").first.wait_for()
        expect(page.locator(".state-loading")).to_have_count(0)
        if path == "/runs/hostile":
            for summary in page.locator(".line > details > summary").all():
                summary.click()
            for summary in page.locator(".record > summary").all():
                summary.click()
            expect(page.locator(".lines")).to_contain_text("<script>window.pwned=1</script>")
        if path == "/runs/files/files":
            expect(page.locator(".patch").first).to_contain_text("<script>window.pwned=1</script>")
            page.get_by_role("button", name="Undo the whole run").click()
            expect(page.get_by_role("dialog").locator(".change").first).to_be_visible()
        assert page.evaluate(FOUND) == CLEAN, path
    page.goto(dashboard.address)
    expect(page.locator("tr[data-run=hostile]")).to_contain_text(EVIL)


def test_a_page_that_wanted_to_could_not(open_page: Callable[..., Page], complaints: list[str]) -> None:
    page = open_page("/incidents")
    page.locator("main .card").first.wait_for()
    tried = """text => {
        const box = document.createElement('div');
        try { box.innerHTML = text; document.body.append(box); } catch (error) { return error.name; }
        return 'taken';
    }"""
    assert page.evaluate(tried, EVIL) == "TypeError"
    assert page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')") == "refused"
    # The browser says what it forbade, and that is what was wanted here.
    assert len(complaints) >= 2 and all("Policy" in each or "TrustedHTML" in each for each in complaints)
    complaints.clear()
