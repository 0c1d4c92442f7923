"""A pytest plugin that measures how much of each pure package its tests run, and fails below a floor.

    python -m pytest -p tests.coverage_floors tests/decide tests/detect

`make test` uses it. It counts the lines inside functions, so it does not matter who imported a module first. It traces
only while tests of pure packages run, and only the code of these packages: the tests that take long are not slowed.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from pathlib import Path
from types import CodeType
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "interlock"
FLOORS = {
    "contract": 83,
    "control": 96,
    "decide": 97,
    "detect": 97,
    "intervene": 95,
    "proof": 81,
    "redact": 93,
    "review": 94,
}
"""Per cent of the lines inside functions that the tests of the pure packages run."""

LONG = {"test_simulation.py"}
"""Files whose thousands of worlds run no other lines than the rest of their folder does: they are not slowed."""

Lines = dict[str, list[int]]


class CoverageFloors:
    def __init__(self) -> None:
        include = [f"{SOURCE / package}/*" for package in FLOORS]
        self._measured = coverage.Coverage(data_file=None, include=include, config_file=False)
        self._on = False
        self._run: dict[str, set[int]] = {}
        self._packages: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        package = package_of(item.path)
        if (package is not None) != self._on:
            self._switch()
        self._packages |= {package} if package else set()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._on:
            self._switch()
        data = self._measured.get_data()
        self._add({path: data.lines(path) or [] for path in data.measured_files()}, self._packages)
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["lines"] = {path: sorted(lines) for path, lines in self._run.items()}
            output["packages"] = sorted(self._packages)
        elif self._below() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {})
        self._add(output.get("lines", {}), output.get("packages", ()))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("lines inside functions that the tests of pure packages run")
        for package in sorted(self._packages):
            low = f"  BELOW the floor of {FLOORS[package]}%" if package in self._below() else ""
            terminalreporter.write_line(f"{package:10} {self._share(package):5.1f}%{low}")

    def _switch(self) -> None:
        self._on = not self._on
        self._measured.start() if self._on else self._measured.stop()

    def _add(self, lines: Lines, packages: Iterable[str]) -> None:
        for path, numbers in lines.items():
            self._run.setdefault(path, set()).update(numbers)
        self._packages.update(packages)

    def _below(self) -> list[str]:
        return [package for package in sorted(self._packages) if self._share(package) < FLOORS[package]]

    def _share(self, package: str) -> float:
        wanted = {str(path): function_lines(path) for path in (SOURCE / package).rglob("*.py")}
        run = sum(len(lines & self._run.get(path, set())) for path, lines in wanted.items())
        return 100 * run / max(1, sum(map(len, wanted.values())))


def package_of(path: Path) -> str | None:
    """The pure package whose tests a file has."""
    folder = path.relative_to(ROOT / "tests").parts[0] if path.is_relative_to(ROOT / "tests") else ""
    return folder if folder in FLOORS and path.name not in LONG else None


def function_lines(path: Path) -> set[int]:
    """The lines of a module that run only when one of its functions does."""
    lines: set[int] = set()
    waiting = [compile(path.read_text(), str(path), "exec")]
    while waiting:
        code = waiting.pop()
        if code.co_flags & 0x2:  # a function, not a module or the body of a class
            lines |= {line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno}
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return lines


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(CoverageFloors(), "coverage-floors-measure")
