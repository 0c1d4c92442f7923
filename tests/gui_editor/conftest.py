"""A real VS Code for the tests that are run by make test-gui."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.gui.editor.editor_session import EditorSession

from .scripted import make_workspace

SIZE = (1280, 800)


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What sessions write down lies in the test's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture(scope="module")
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditorSession]:
    """One editor for all tests of a file; each has sessions of its own."""
    folder = tmp_path_factory.mktemp("editor")
    workspace = make_workspace(folder / "work")
    opened = EditorSession(folder, workspace, SIZE)
    yield opened
    opened.close()
