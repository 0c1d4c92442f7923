"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, and lists every page."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = {page.name for page in (ROOT / "docs").glob("*.md")}
SECTIONS = ["Start", "Supervise", "Steer", "Undo", "Understand", "Operate", "Extend", "Reference"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site. Zensical checks every link and anchor between pages."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "scripts/docs_site.py", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\nIs .venv up to date? Run make setup."
    return folder


def test_each_page_is_built_and_can_be_searched(site):
    assert {f"{Path(name).stem}.html" for name in PAGES} <= {page.name for page in site.glob("*.html")}
    found = {item["location"].split("#")[0] for item in json.loads((site / "search.json").read_text())["items"]}
    assert {f"{Path(name).stem}.html" for name in PAGES - {"index.md"}} <= found


def test_no_page_loads_anything_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="((?:https?:)?//[^"]*)"', page.read_text())
        assert not loaded, page.name


def test_files_outside_of_docs_are_part_of_the_site(site):
    linked = set(re.findall(r'href="(project/[^"#]+)"', "".join(page.read_text() for page in site.glob("*.html"))))
    assert linked
    assert [path for path in linked if not (site / path).is_file()] == []


def test_the_navigation_has_every_page_once_by_task():
    nav = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]["nav"]
    assert [name for section in nav for name in section] == SECTIONS
    listed = [page for section in nav for pages in section.values() for entry in pages for page in entry.values()]
    assert sorted(listed) == sorted(PAGES)


def test_every_page_is_reached_from_the_index():
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text()))
    assert linked == PAGES - {"index.md"}
