"""What README and docs show, runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")

FOUND_SOMETHING = (0, 1, 123)
"""Exit statuses of an example: 1 says that scan or review found something, as they should, 123 that a contract was
broken."""


def blocks(kind: str) -> list[tuple[str, str]]:
    """Every block of a kind, with where it stands."""
    found = []
    for page in PAGES:
        for number, match in enumerate(BLOCK.finditer(page.read_text())):
            if match[1] == kind:
                found.append((f"{page.name}-{number}", match[2]))
    return found


@pytest.fixture
def place(tmp_path):
    """A folder of one's own with the data that examples name, and the command on the path."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "tests").mkdir()
    shutil.copytree(ROOT / "tests" / "data", work / "tests" / "data")
    programs, temporary = tmp_path / "bin", tmp_path / "tmp"
    programs.mkdir()
    temporary.mkdir()
    (programs / "interlock").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m interlock "$@"\n')
    (programs / "interlock").chmod(0o755)
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "TMPDIR": str(temporary),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PYTHONPATH": str(ROOT / "src"),
    }
    return work, environment


TESTED_ELSEWHERE = {"review.md", "gui-python.md"}
"""Pages that need files that are written on the page, or a display: tests/review and tests/gui run them."""


def by_page(kind: str) -> list[tuple[str, list[str]]]:
    """Every page's blocks of a kind, in order, as a reader meets them."""
    made: dict[str, list[str]] = {}
    for where, text in blocks(kind):
        page = where.rpartition("-")[0]
        if page not in TESTED_ELSEWHERE:
            made.setdefault(page, []).append(text)
    return list(made.items())


@pytest.mark.parametrize(("page", "texts"), by_page("console"), ids=[page for page, _ in by_page("console")])
def test_commands_in_the_documentation_run(page, texts, place):
    work, environment = place
    for line in "\n".join(texts).splitlines():
        if line.startswith("$ ") and not line.startswith("$ make "):
            command = line[2:]
            if command.startswith("cd "):
                work /= command.removeprefix("cd ")
                continue
            done = subprocess.run(
                ["/bin/bash", "-c", command],
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                timeout=400,
                check=False,
            )
            assert done.returncode in FOUND_SOMETHING, f"{command}\n{done.stdout}\n{done.stderr}"


HEAD = "from __future__ import annotations\n"


def pages_of_python() -> list[tuple[str, str]]:
    """Every page's Python, block after block."""
    return [(page, HEAD + "\n".join(texts).replace(HEAD, "")) for page, texts in by_page("python")]


@pytest.mark.parametrize(("page", "text"), pages_of_python(), ids=[page for page, _ in pages_of_python()])
def test_python_in_the_documentation_runs(page, text, place):
    work, environment = place
    script = work / "example.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=work,
        env=environment,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_link_within_the_project_leads_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
