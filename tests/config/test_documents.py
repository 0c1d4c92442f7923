"""The configurations of the documents that Interlock was made from are valid as they are, and every key is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from interlock.config import examine, load

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "tests/data/documents").glob("*.yaml"))


def differences(given: Any, taken: Any, path: str) -> list[str]:
    if isinstance(given, dict):
        return [line for key, value in given.items() for line in differences(value, taken[key], f"{path}.{key}")]
    taken = list(taken) if isinstance(taken, tuple) else taken
    return [] if given == taken else [f"{path}: {given!r} became {taken!r}"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_documents_configuration_is_taken_as_it_is(file: Path) -> None:
    assert examine(file).problems == ()
    given, taken = yaml.safe_load(file.read_text()), msgspec.to_builtins(load(file))
    taken["intervention"] = taken["gui"]
    assert differences(given, taken, "") == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_documents_configuration_is_on_the_page_of_requirements(file: Path) -> None:
    assert file.read_text().partition("\n")[2] in (ROOT / "docs/requirements.md").read_text()
