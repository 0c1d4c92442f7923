"""Globs say which paths a clause is about, as .gitignore does."""

from __future__ import annotations

import pytest

from interlock.core import BadInput
from interlock.core.patterns import as_relative, check_glob, matches, may_match_below, relative


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("tests/**", "tests/test_a.py"),
        ("tests/**", "tests/unit/test_a.py"),
        ("tests/", "tests/a.py"),
        ("tests/", "packages/one/tests/a.py"),
        ("tests", "tests/a.py"),
        ("src/a.py", "src/a.py"),
        ("a.py", "deep/down/a.py"),
        ("*.py", "src/a.py"),
        ("src/*.py", "src/a.py"),
        ("**/migrations/**", "app/migrations/0001.py"),
        ("**/migrations/**", "migrations/0001.py"),
        ("src/[ab].py", "src/a.py"),
        ("src/[!ab].py", "src/c.py"),
        ("/srv/data/**", "/srv/data/x"),
        ("./src/a.py", "src/a.py"),
        ("**", "anything/at/all"),
        (".github/**", ".github/workflows/ci.yml"),
    ],
)
def test_a_glob_holds_for(glob: str, path: str) -> None:
    assert matches(check_glob(glob), path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("tests/**", "tests"),
        ("tests/**", "src/tests.py"),
        ("tests/**", "my_tests/a.py"),
        ("src/a.py", "other/src/a.py"),
        ("src/*.py", "src/deep/a.py"),
        ("*.py", "src/a.pyc"),
        ("src/[ab].py", "src/c.py"),
        ("/srv/data/**", "srv/data/x"),
    ],
)
def test_a_glob_does_not_hold_for(glob: str, path: str) -> None:
    assert not matches(glob, path)


@pytest.mark.parametrize("glob", ["", " ", "/", ".", "tests/[", "!a", "../x", "a/../b", "a**", "src/**.py", "a\nb"])
def test_a_glob_that_cannot_be_understood_is_bad_input(glob: str) -> None:
    with pytest.raises(BadInput, match="glob"):
        check_glob(glob)


def test_paths_are_seen_from_the_workspace() -> None:
    assert relative("/w/src/../tests/a.py", "/w") == "tests/a.py"
    assert relative("/w", "/w") == "."
    assert relative("/elsewhere/a", "/w") == "/elsewhere/a"
    assert as_relative("/w/src/", "/w") == "src/"
    assert as_relative("/w", "/w") == "**"
    assert as_relative("/wide/src", "/w") == "/wide/src"


def test_a_folder_cannot_go_without_what_is_protected_in_it() -> None:
    assert may_match_below("tests/unit/**", "tests")
    assert not may_match_below("tests/unit/**", "src")
