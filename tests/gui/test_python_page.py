"""What docs/gui-python.md shows, runs: on a real display, with an editor in it, and with a server instead of the API."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.gui import WindowSystem
from interlock.gui.display import VirtualDisplay, wait_until

from .model_standin import serving, verdict

PAGE = (Path(__file__).parents[2] / "docs" / "gui-python.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_every_example_of_the_python_api_runs(
    desktop: VirtualDisplay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in desktop.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-0123456789")
    (tmp_path / "demo").mkdir()
    argv = [sys.executable, str(Path(__file__).with_name("tiny_editor.py")), "demo", str(tmp_path / "control")]
    editor = subprocess.Popen([*argv, str(tmp_path / "log")])
    try:
        windows = WindowSystem()
        assert wait_until(lambda: any("tiny" in w.title or "Visual" in w.title for w in windows.listed()), 60)
        with serving(verdict()) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
            exec(compile("\n".join(BLOCKS), "docs/gui-python.md", "exec"), {"__name__": "page"})
    finally:
        editor.kill()
        editor.wait()
    said = capsys.readouterr().out
    assert "1280 800 image/jpeg" in said and "ReplayStatus.NORMAL" in said
    assert "True press Escape" in said and "False format the disk" in said
    assert "True 1 file: 1 match" in said
    assert (tmp_path / "demo/hello.py").read_text() == "print('hello')\n"
