"""The documentation as a site: it builds without a warning, needs nothing from elsewhere, and leads everywhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site, and what was said while it was built."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)
    assert done.returncode == 0, done.stderr
    return place / "site", done.stderr


def test_it_builds_without_a_warning(site):
    folder, said = site
    assert "WARNING" not in said
    assert (folder / "index.html").exists()


def test_no_page_loads_anything_from_elsewhere(site):
    folder, _ = site
    for page in folder.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="((?:https?:)?//[^"]*)"', page.read_text())
        assert not loaded, page.name


def test_every_page_is_reached_from_the_index():
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs" / "index.md").read_text()))
    assert linked == {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"}
