"""The table in docs/agents.md says what the adapters declare."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from interlock.adapters.registry import CLIENTS, COLUMNS, Client, capability_table
from interlock.core import EVERY_CAPABILITY

PAGE = Path(__file__).parents[2] / "docs" / "agents.md"


def test_the_page_has_the_table_that_the_adapters_declare() -> None:
    assert capability_table() in PAGE.read_text(), "run scripts/agents-table"


def test_every_capability_has_a_column() -> None:
    assert set(COLUMNS) == EVERY_CAPABILITY


def test_names_are_found_and_unique() -> None:
    assert len({client.name for client in CLIENTS}) == len(CLIENTS)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_the_module_of_an_entry_exists(client: Client) -> None:
    assert importlib.util.find_spec(client.module) is not None
