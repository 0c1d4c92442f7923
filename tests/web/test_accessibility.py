"""axe finds nothing serious on any page of the dashboard, in a report or in the documentation, light or dark."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from interlock.config import Config
from interlock.journal import Store
from interlock.report import Story
from interlock.report.changes import read_changes
from interlock.report.document import gather
from interlock.report.markdown import render
from tests.web.background_server import BackgroundServer

from ..report.runs import demo_run
from .runs import PIXEL, stop_run, supervised, work, write_run

AXE = gzip.decompress((Path(__file__).parent / "axe.min.js.gz").read_bytes()).decode()
"""axe-core as published (MPL-2.0), from web/package-lock.json."""

SERIOUS = """() => axe.run(document, {resultTypes: ['violations']}).then(found => found.violations
    .filter(each => ['serious', 'critical'].includes(each.impact))
    .map(each => [each.id, each.help, each.nodes.slice(0, 4).map(node => node.html.slice(0, 200) + ' ' + node.failureSummary)]))"""


@pytest.mark.parametrize(("scheme", "pages"), [("light", 9), ("dark", 3)])
def test_axe_finds_nothing_serious(
    open_page: Callable[..., Page], dashboard: BackgroundServer, store: Store, home: Path, scheme: str, pages: int
) -> None:
    folder = home / f"folder-{scheme}"
    folder.mkdir()
    (folder / "a.txt").write_text("before\n")
    painted = write_run(store, f"painted-{scheme}")
    (painted.pictures / "screen-1.png").write_bytes(PIXEL)
    incident = stop_run(store, f"stopped-{scheme}", ("agent",), home)
    write_run(store, f"lost-{scheme}", end=False)
    name = f"waiting-{scheme}"
    with supervised(store, name, folder, approvals=True) as supervisor:
        work(supervisor, 1)
        (folder / "a.txt").write_text("after\n")
        supervisor.before(supervisor.call("bash", {"command": "make deploy"}))
        page = open_page("/", color_scheme=scheme)
        wrong = {}
        every = (
            "/", f"/runs/{name}/files", f"/incidents/{incident}", f"/runs/{name}", f"/runs/{name}/details",
            f"/runs/painted-{scheme}/screens", f"/runs/lost-{scheme}", "/incidents", "/runs/none",
        )  # fmt: skip
        for path in every[:pages]:
            page.goto(dashboard.address + path)
            page.locator("main :is(.card, .tiles, .state)").first.wait_for()
            expect(page.locator(".state-loading")).to_have_count(0)
            if path.endswith("/files"):
                page.get_by_role("button", name="Undo the whole run").click()
                page.get_by_role("dialog").wait_for()
            page.evaluate(AXE)
            if found := page.evaluate(SERIOUS):
                wrong[path] = found
        assert wrong == {}


def test_axe_finds_nothing_serious_in_a_report(browser: Browser, tmp_path: Path) -> None:
    with Story.open(demo_run(tmp_path)) as story:
        changes = read_changes(story.checkpoints, story.spec.workspace, Config(), tmp_path / "checkpoints")
        report = tmp_path / "report.html"
        report.write_text(render(gather(story, changes), "html"))
    assert [examine(browser, report, "light"), examine(browser, report, "dark")] == [[], []]


ROOT = Path(__file__).parents[2]
DOCS = ("index", "first-run", "agents", "configuration")
"""Pages of each kind: prose, pictures, examples, long and wide tables."""


def test_axe_finds_nothing_serious_in_the_documentation(browser: Browser, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "docs_site.py"), str(tmp_path / "site")]
    subprocess.run(command, check=True, capture_output=True, timeout=400)
    wrong = {
        (name, scheme): found
        for scheme in ("light", "dark")
        for name in DOCS
        if (found := examine(browser, tmp_path / "site" / f"{name}.html", scheme))
    }
    assert wrong == {}


def examine(browser: Browser, file: Path, scheme: Literal["light", "dark"]) -> list[object]:
    """What axe finds in a file."""
    page = browser.new_page(color_scheme=scheme, reduced_motion="reduce")
    try:
        page.goto(file.as_uri())
        page.evaluate(AXE)
        found: list[object] = page.evaluate(SERIOUS)
        return found
    finally:
        page.close()
