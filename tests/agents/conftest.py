"""The real clients, and one line for each at the end: name, version, result."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def agents_folder() -> Path:
    """Where the pinned clients are installed; installs them if they are not."""
    script = [sys.executable, str(ROOT / "scripts" / "install-agents")]
    done = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True)
    return Path(done.stdout.strip())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module that is about one client alone names it in AGENT, so that `-k NAME` finds its tests."""
    for item in items:
        name = getattr(getattr(item, "module", None), "AGENT", None)
        if name is not None:
            item.extra_keyword_matches.add(name)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests say which client they are about with `record_property("agent", NAME)` and `("version", VERSION)`."""
    results: dict[tuple[str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for outcome in ("passed", "failed", "error", "skipped", "xfailed"):
        for report in terminalreporter.stats.get(outcome, []):
            told = dict(getattr(report, "user_properties", ()))
            if "agent" in told:
                results[told["agent"], told.get("version", "")][outcome] += 1
    if results:
        terminalreporter.section("agent clients")
    for (name, version), counts in sorted(results.items()):
        said = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        terminalreporter.write_line(f"{name} {version}: {said}")
