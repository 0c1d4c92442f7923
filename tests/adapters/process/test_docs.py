"""The table in docs/agents.md says what the adapter declares."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.adapters.process import SILENT, SPEAKING

PAGE = Path(__file__).parents[3] / "docs" / "agents.md"


@pytest.mark.parametrize(
    ("row", "capabilities"), [("silent process", SILENT), ("process that tells its steps", SPEAKING)]
)
def test_the_page_says_what_the_adapter_declares(row: str, capabilities: frozenset[str]) -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text().splitlines()]
    (header,) = [cells for cells in rows if "deny" in cells]
    (cells,) = [cells for cells in rows if cells[0] == row]
    assert {name for name, said in zip(header, cells, strict=True) if said == "yes"} == capabilities
