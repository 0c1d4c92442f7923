"""Code that is kept is imported as it was, whatever became of its files."""

from __future__ import annotations

import compileall
import importlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from interlock._lazy import stubs
from interlock.core.kept_code import KeptCode

STUB = "from .numbers import ONE as ONE\n"
LAZY = "from interlock._lazy import lazy\n\n__getattr__ = lazy(__name__, __file__)\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "keptexample"
    (folder / "inner").mkdir(parents=True)
    (folder / "__init__.py").write_text(LAZY)
    (folder / "__init__.pyi").write_text(STUB)
    (folder / "numbers.py").write_text("ONE = 1\n")
    (folder / "inner" / "__init__.py").write_text("")
    (folder / "inner" / "words.py").write_text("WORD = 'old'\n")
    (folder / "data.json").write_text('"old"')
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "keptexample"]:
        del sys.modules[name]
    stubs.pop(str(folder / "__init__.py"), None)


def test_what_was_replaced_or_removed_is_imported_as_it_was(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compileall.compile_dir(str(package), quiet=1)
    kept = KeptCode()
    kept.keep("keptexample", package)
    shutil.rmtree(package)
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('of another version')\n")
    (package / "data.json").write_text('"new"')
    monkeypatch.setattr(sys, "meta_path", [kept, *sys.meta_path])

    assert importlib.import_module("keptexample").ONE == 1
    assert importlib.import_module("keptexample.inner.words").WORD == "old"
    assert kept.names_in(importlib.import_module("keptexample.inner")) == ["words"]
    assert kept.read(package / "data.json") == b'"old"'


def test_a_module_without_compiled_code_of_what_it_is_now_cannot_be_kept(package: Path) -> None:
    with pytest.raises(OSError, match=r"numbers|__init__|words"):
        KeptCode().keep("keptexample", package)
    compileall.compile_dir(str(package), quiet=1)
    (package / "numbers.py").write_text("ONE = 'changed since'\n")
    with pytest.raises(OSError, match="numbers"):
        KeptCode().keep("keptexample", package)


def test_what_is_not_kept_is_read_from_disk(package: Path) -> None:
    kept = KeptCode()
    assert kept.read(package / "data.json") == b'"old"'
    assert kept.names_in(importlib.import_module("keptexample")) == ["inner", "numbers"]
    assert kept.find_spec("keptexample.numbers") is None


def test_what_was_written_to_in_place_is_read_from_disk(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compileall.compile_dir(str(package), quiet=1)
    kept = KeptCode()
    kept.keep("keptexample", package)
    for file in (*package.rglob("*.pyc"), package / "data.json"):
        # Its pages are gone: to touch one would end this process.
        os.truncate(file, 0)
    monkeypatch.setattr(sys, "meta_path", [kept, *sys.meta_path])

    assert importlib.import_module("keptexample").ONE == 1
    assert importlib.import_module("keptexample.inner.words").WORD == "old"
    assert kept.read(package / "data.json") == b""


def test_a_library_that_was_removed_is_loaded_as_it_was(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tree_sitter_bash

    (source,) = Path(tree_sitter_bash.__file__).parent.glob("_binding.*so")
    shutil.copy(source, package / source.name)
    compileall.compile_dir(str(package), quiet=1)
    kept = KeptCode()
    kept.keep("keptexample", package)
    shutil.rmtree(package)
    monkeypatch.setattr(sys, "meta_path", [kept, *sys.meta_path])
    assert importlib.import_module("keptexample._binding").language()
