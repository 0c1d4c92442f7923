"""Entry points of other packages: found wherever the library would find them, and the library left alone elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from interlock.core.extensions import entry_points_of

LIST = "[interlock.detectors]\nmine = mine:Mine\n"


def install(place: Path, entry_points: str | None) -> None:
    info = place / "mine-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    if entry_points is not None:
        (info / "entry_points.txt").write_text(entry_points)


def names(group: str = "interlock.detectors") -> list[str]:
    return [point.name for point in entry_points_of(group)]


def test_a_package_that_names_ours_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, LIST)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert names() == ["mine"]
    assert names("interlock.strategies") == []


def test_a_package_that_is_installed_later_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`interlock serve` may have looked days before the run that it forks."""
    monkeypatch.syspath_prepend(str(tmp_path))
    os.utime(tmp_path, (0, 0))
    assert names() == []
    install(tmp_path, LIST)
    assert names() == ["mine"]


def test_a_package_in_an_archive_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "package", LIST)
    archive = tmp_path / "package.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in (tmp_path / "package").rglob("*"):
            file.write(path, path.relative_to(tmp_path / "package"))
    monkeypatch.syspath_prepend(str(archive))
    assert names() == ["mine"]


@pytest.mark.parametrize("place", ["", "nowhere", "x" * 5000, "/proc/self/mem"])
def test_places_that_cannot_be_looked_into_hold_nothing_up(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [place, *sys.path])
    assert names() == []


def test_a_finder_of_its_own_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Finder:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> None:
            return None

        @staticmethod
        def find_distributions(context: object) -> tuple[()]:
            asked.append(context)
            return ()

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    monkeypatch.setattr(sys, "path", [*sys.path, "nowhere"])
    assert names() == [] and asked


@pytest.mark.parametrize("entry_points", [None, "[console_scripts]\ninterlock = interlock.cli:main\n"])
def test_where_nobody_names_ours_the_library_is_not_loaded(tmp_path: Path, entry_points: str | None) -> None:
    install(tmp_path, entry_points)
    script = (
        "import sys; sys.path[:] = [path for path in sys.path if 'site-packages' not in path] + sys.argv[1:]\n"
        "from interlock.core.extensions import entry_points_of\n"
        "assert not list(entry_points_of('interlock.detectors'))\n"
        "sys.exit('importlib.metadata' in sys.modules)"
    )
    # What installed() itself needs of the package lies on the way: msgspec is imported before the path is cut.
    command = [sys.executable, "-c", "import interlock.core.extensions\n" + script, str(tmp_path), str(tmp_path / "no")]
    assert subprocess.run(command, check=False, timeout=150).returncode == 0
