"""Every requirement of the five documents that this project was made from names the tests that hold it."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COUNTS = {"000": 131, "001": 100, "002": 54, "003": 128, "004": 64}
"""How many requirements each document has: none may fall out of its table."""

WITHOUT_TEST = ("excluded: ", "untested: ", "partly: ", "differs: ")
MOST_WITHOUT_TEST = 16


def rows(document: str) -> list[list[str]]:
    lines = (HERE / f"{document}.txt").read_text().splitlines()
    return [[part.strip() for part in line.split(" | ")] for line in lines if line and not line.startswith("#")]


@cache
def names_in(path: Path) -> frozenset[str]:
    """The names of all tests in a file, those of classes as Class::name."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {f"{node.name}::{one.name}" for one in node.body if isinstance(one, ast.FunctionDef)}
    return frozenset(found)


@pytest.mark.parametrize("document", COUNTS)
def test_every_requirement_is_listed_once_with_what_holds_it(document: str) -> None:
    table = rows(document)
    assert [row for row in table if len(row) != 3 or not all(row)] == []
    identifiers = [row[0] for row in table]
    assert len(identifiers) == len(set(identifiers)) == COUNTS[document]
    assert all(identifier.startswith(f"{document}:") for identifier in identifiers)


@pytest.mark.parametrize("document", COUNTS)
def test_every_named_test_exists(document: str) -> None:
    missing = []
    for identifier, _, where in rows(document):
        if where.startswith(WITHOUT_TEST):
            continue
        for name in where.split(", "):
            path, _, test = name.partition("::")
            if not (ROOT / path).is_file() or test not in names_in(ROOT / path):
                missing.append((identifier, name))
    assert missing == []


def test_what_has_no_test_says_why_and_is_little() -> None:
    without = [row for document in COUNTS for row in rows(document) if row[2].startswith(WITHOUT_TEST)]
    assert all(len(row[2].partition(": ")[2]) > 10 for row in without)
    assert len(without) <= MOST_WITHOUT_TEST


def test_the_page_of_requirements_is_up_to_date() -> None:
    done = subprocess.run([sys.executable, ROOT / "scripts/requirements_page.py", "--check"], capture_output=True)
    assert done.returncode == 0, done.stderr
