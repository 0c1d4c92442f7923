"""Writes docs/requirements.md from the tables in tests/seeds: every requirement, and the tests that hold it.

Usage: requirements_page.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "requirements.md"

HEAD = """\
# Requirements and their tests

Interlock was made from five documents: three on watching a screen, one on interventions, one on a control protocol.
Every sentence of them that requires something is a row here, by document and line, with the tests that hold it. A row
without a test says why: `excluded` on purpose, `untested`, `partly` held, or built in a way that `differs`.

The tables are in `tests/seeds`, where a test checks that every named test exists; `scripts/requirements_page.py` writes
this page from them.
"""


CONFIGURATIONS = """\
## Their configurations

The documents configure the parts as follows. Interlock takes these files as they are; only the model and the address
of the channel are others where the documents name one that does not exist.
"""


def tables() -> dict[str, list[list[str]]]:
    """The rows of each document, under its title."""
    found = {}
    for file in sorted((ROOT / "tests" / "seeds").glob("*.txt")):
        head, *lines = file.read_text().splitlines()
        title = head.removeprefix("# ").partition(": every requirement")[0]
        found[title] = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return found


def page() -> str:
    parts = [HEAD, CONFIGURATIONS]
    for file in sorted((ROOT / "tests" / "data" / "documents").glob("*.yaml"), reverse=True):
        head, _, text = file.read_text().partition("\n")
        parts.append(f"{head.removeprefix('# ')}:\n\n```yaml\n{text}```\n")
    for title, rows in tables().items():
        parts.append(f"## {title}\n\n| | requirement | held by |\n|---|---|---|")
        parts += [f"| {name} | {_plain(what)} | {_tests(where)} |" for name, what, where in rows]
        parts.append("")
    return "\n".join(parts).rstrip() + "\n"


def _plain(text: str) -> str:
    """Text that Markdown leaves alone."""
    for character in "\\<>*_[]`":
        text = text.replace(character, f"\\{character}")
    return text.strip()


def _tests(where: str) -> str:
    if "::" not in where or ": " in where:
        return _plain(where)
    return "<br>".join(f"`{name.strip().removeprefix('tests/')}`" for name in where.split(","))


def main() -> int:
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page())
        return 0
    if PAGE.read_text() == page():
        return 0
    sys.stderr.write("docs/requirements.md does not match tests/seeds: run scripts/requirements_page.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
