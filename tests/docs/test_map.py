"""The map of the repository is true: packages as the layers have them, and every file that it names is there."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / "architecture.md", ROOT / "CONTRIBUTING.md", ROOT / "AGENTS.md"]
PARENTS = (ROOT, ROOT / "src" / "interlock")
FILE = re.compile(r"(?<![\w/.-])([\w-]+(?:/[\w-]+)*/[\w-]+\.(?:py|md|toml|ts|lock))\b")
FOLDER = re.compile(r"`((?:src|tests|web|scripts|requirements|detect|review|adapters)/[\w/-]+)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def test_the_packages_are_those_of_the_layers_from_the_bottom_up():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    table = PAGES[0].read_text().split("## Packages")[1].split("\n## ")[0]
    rows = [set(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines() if row.startswith("| `")]
    assert rows == [set(layer.split(" | ")) for layer in reversed(layers)]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_file_that_the_map_names_is_there(page):
    text = page.read_text()
    named = {*FILE.findall(text), *FOLDER.findall(text)}
    assert named
    assert {name for name in named if not any((at / name).exists() for at in PARENTS)} == set()


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_of_the_map_leads_somewhere(page):
    assert [target for target in LINK.findall(page.read_text()) if not (page.parent / target).exists()] == []
