"""Places are told apart by where they really are, whatever leads to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from interlock.contain.protected_paths import RealPaths


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Folders, and links of every kind among them."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    for name, target in (
        ("to-folder", "a/b"),
        ("to-file", tmp_path / "a" / "file"),
        ("to-link", "to-folder"),
        ("upwards", "a/b/.."),
        ("nowhere", "gone/further"),
        ("ring", "ring"),
        ("a/b/back", "../.."),
    ):
        (tmp_path / name).symlink_to(target)
    return tmp_path


@pytest.mark.parametrize(
    "name",
    (
        *("a", "a/b", "a/file", "to-folder", "to-file", "to-link", "to-link/x", "upwards", "upwards/b", "nowhere"),
        *("ring", "ring/x", "gone", "gone/x/y", "a/b/back", "a/b/back/to-link/back/a", "to-folder/../file", "a/./b"),
        *("a/", "a//b", ".", "..", ""),
    ),
)
def test_each_place_is_where_it_really_is(place: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RealPaths()
    path = f"{place}/{name}"
    assert real[path] == os.path.realpath(path)
    monkeypatch.chdir(place)
    assert real[name] == os.path.realpath(name)


def test_what_is_there_comes_once_and_outer_places_first(place: Path) -> None:
    names = ("to-link", "a/b", "a", "gone", "ring", "nowhere", "to-folder")
    assert RealPaths().resolve(place / name for name in names) == [place / "a", place / "a" / "b"]


@pytest.mark.parametrize(
    ("inner", "outer", "is_below"),
    (
        ("a/b", "a", True),
        ("a", "a", True),
        ("a", "a/b", False),
        ("to-link/x", "a/b", True),
        ("a/b", "upwards", True),
        ("ab", "a", False),
        ("gone/x", "gone", True),
    ),
)
def test_what_is_inside_of_a_place(place: Path, inner: str, outer: str, is_below: bool) -> None:
    assert RealPaths().is_below(place / inner, [place / "nothing", place / outer]) == is_below
    assert RealPaths().is_below(place / inner, [Path("/")])
