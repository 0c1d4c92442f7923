"""`interlock serve --install-service`: a unit that systemd accepts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from interlock.cli.service import unit_text

from .calling import interlock


def verify(unit: Path) -> str:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze here")
    done = subprocess.run([tool, "verify", "--user", str(unit)], capture_output=True, text=True, check=False)
    return "\n".join(line for line in (done.stdout + done.stderr).splitlines() if unit.name in line)


def test_the_unit_is_written_and_systemd_finds_nothing_wrong_with_it(tmp_path: Path) -> None:
    done = interlock("serve", "--install-service", home=tmp_path)
    assert done.returncode == 0, done.stderr
    unit = tmp_path / "config" / "systemd" / "user" / "interlock.service"
    assert f"wrote {unit}" in done.stdout
    text = unit.read_text()
    assert "interlock serve" in text.replace("-m interlock", "interlock")
    assert "WantedBy=default.target" in text
    assert verify(unit) == ""


def test_a_path_with_spaces_and_signs_is_quoted_for_systemd(tmp_path: Path) -> None:
    unit = tmp_path / "interlock.service"
    unit.write_text(unit_text(tmp_path / "my 100% $config.yaml"))
    assert 'my 100%% $$config.yaml"' in unit.read_text()
    assert verify(unit) == ""
