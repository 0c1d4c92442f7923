"""`done_when` is proven only where the check passes with what decides it as at the start of the run."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock import Contract, Supervisor
from interlock.config import Config
from interlock.journal import JournalReader, Store
from interlock.journal_records import StopGateRecord, read_body

from .check_attacks import HONEST, NODE_RIGHT, NODE_WRONG, NPM, OTHER, PACKAGE, PYTEST, WRONG, Files

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
PROTECTED = ("tests/**",)


class Place:
    """A project with an environment of its own, in a home of its own."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.home, self.root = root / "w", root / "home", root
        (self.home / ".local" / "bin").mkdir(parents=True)
        base = Path(os.path.realpath(sys.executable))
        self.write({
            ".venv/pyvenv.cfg": f"home = {base.parent}\ninclude-system-site-packages = true\nversion = {VERSION}\n",
            ".venv/lib/python{v}/site-packages/there.pth": f"{sysconfig.get_path('purelib')}\n",
            ".venv/bin/pytest": f"#!{self.folder}/.venv/bin/python\nimport sys\nfrom pytest import console_main\n"
            "sys.exit(console_main())\n",
            "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
            "tests/test_more.py": "from calc import add\n\n\ndef test_more():\n    assert add(5, 2) == 7\n",
            "calc.py": WRONG,
            "unused.py": "",
            "tests/calc.test.js": "const equals = require('equals');\nequals(require('../calc').add(1, 2), 3);\n",
            "calc.js": NODE_WRONG,
            "package.json": PACKAGE % "node --test tests/",
            "node_modules/equals/index.js": "module.exports = (a, b) => { if (a !== b) throw new Error('no'); };\n",
        })  # fmt: skip
        (self.folder / ".venv" / "bin" / "python").symlink_to(base)
        patch.setenv("HOME", str(self.home))
        patch.setenv("PYTHONPATH", str(self.folder))
        folders = (self.home / ".local/bin", self.folder / ".venv/bin", "/usr/local/bin", "/usr/bin", "/bin")
        patch.setenv("PATH", ":".join(map(str, folders)))
        for name in ("VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER"):
            patch.delenv(name, raising=False)

    def write(self, files: Files) -> None:
        for name, text in files.items():
            if name.startswith("CMD: "):
                subprocess.run(name[5:], shell=True, cwd=self.folder, check=True)
                continue
            name = name.replace("{v}", VERSION)
            path = self.home / name[2:] if name.startswith("~/") else self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            if text.startswith("#!"):
                path.chmod(0o755)

    def run(self, check: str, files: Files) -> StopGateRecord:
        """A run that writes these files; how its check ended."""
        supervisor = Supervisor.open(
            task="Fix add.", workspace=self.folder, store=Store(self.root / "s"), checkpoint_store=self.root / "c",
            config=Config(), contract=Contract(protect=PROTECTED, done_when=(check,)),
        )  # fmt: skip
        self.write(files)
        supervisor.check_done()
        supervisor.run.journal.flush()
        assert supervisor.run.folder is not None
        with JournalReader.open(supervisor.run.folder) as journal:
            ends = [read_body(record) for record in journal.read(kinds=frozenset(("stop_gate",)))]
        supervisor.close()
        last = ends[-1]
        assert isinstance(last, StopGateRecord)
        return last


def _cases(table: dict[str, object]) -> list[object]:
    """The cases of a table; all but every fourth only in the long version."""
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), id=name, marks=[pytest.mark.torture] * bool(at % 4)
        )
        for at, (name, case) in enumerate(table.items())
    ]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    yield Place(tmp_path, monkeypatch)


@pytest.mark.parametrize("files", _cases(PYTEST))
def test_no_way_to_make_pytest_pass_ends_as_proven(place: Place, files: Files) -> None:
    end = place.run("pytest -q", files)
    assert end.outcome in ("own_check", "unproven"), end.results
    assert end.outcome == "unproven" or all(result.own for result in end.results)


@pytest.mark.parametrize("files", _cases(NPM))
def test_no_way_to_make_npm_test_pass_ends_as_proven(place: Place, files: Files) -> None:
    assert place.run("npm test", files).outcome in ("own_check", "unproven")


@pytest.mark.parametrize(("check", "before", "files"), _cases(OTHER))
def test_no_script_that_the_run_changed_ends_as_proven(place: Place, check: str, before: Files, files: Files) -> None:
    place.write(before)
    assert place.run(check, files).outcome in ("own_check", "unproven")


@pytest.mark.parametrize(("wanted", "files"), _cases(HONEST))
def test_honest_work_is_proven_or_an_own_check_with_its_reason(place: Place, wanted: str, files: Files) -> None:
    end = place.run("pytest -q", files)
    assert end.outcome == {"proven": "passed"}.get(wanted, wanted), end.results
    assert all(result.own for result in end.results) == (wanted == "own_check")


def test_npm_with_an_honest_fix_is_proven(place: Place) -> None:
    assert place.run("npm test", {"calc.js": NODE_RIGHT}).outcome == "passed"
