"""Detectors of one's own: as a file, as registered code, as an installed package; the documentation says how."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from detecting import Did, steps, watch

from interlock.core import Issue, Seen
from interlock.detect import Detectors, Setting, factories, patterns, register, run_detectors, unregister

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "detectors.md").read_text(), re.DOTALL)
AS_FILE = next(block for block in BLOCKS if "detector = BigOutput" in block)


@pytest.fixture
def added_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "big_output.py").write_text(AS_FILE)
    monkeypatch.setattr(patterns, "__path__", [*patterns.__path__, str(tmp_path)])
    run_detectors.built_in.cache_clear()
    yield
    sys.modules.pop(f"{patterns.__name__}.big_output", None)
    run_detectors.built_in.cache_clear()


@pytest.mark.usefixtures("added_file")
def test_adding_a_file_adds_a_detector() -> None:
    found = watch(steps([Did("cat", f"{n}" + "x" * 30_000, {"n": n}) for n in range(3)]))
    assert [(issue.type, issue.severity) for issue in found] == [("big_output", "medium")]


@pytest.mark.usefixtures("added_file")
def test_its_state_is_stored_with_the_others() -> None:
    taken = steps([Did("cat", f"{n}" + "x" * 30_000, {"n": n}) for n in range(3)])
    first, second = Detectors(), Detectors()
    watch(taken[:4], first)
    second.restore(first.save())
    assert [issue.type for issue in watch(taken[4:], second)] == ["big_output"]


@pytest.mark.parametrize("block", [block for block in BLOCKS if block != AS_FILE])
def test_the_examples_of_the_documentation_run(block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, "docs/detectors.md", "exec"), {"__name__": "example"})
    printed = capsys.readouterr().out
    assert ("print(" in block) == bool(printed)


class Counter:
    """A detector that owes nothing to this package."""

    type = "counter"

    def __init__(self, setting: Setting) -> None:
        self.steps = 0

    def observe(self, seen: Seen) -> list[Issue]:
        self.steps += 1
        return [Issue(id="counter", type=self.type, step=seen.step.index, description="Two steps.")] * (self.steps == 2)

    def save(self) -> bytes:
        return str(self.steps).encode()

    def restore(self, state: bytes) -> None:
        self.steps = int(state)


def test_registered_code_is_asked_too() -> None:
    register(Counter)
    try:
        assert [issue.type for issue in watch(steps([Did("view")]))] == ["counter"]
    finally:
        unregister(Counter)
    assert Counter not in factories()


def test_an_issue_without_severity_counts_as_medium_and_is_told_once() -> None:
    found = Detectors(only=[Counter])
    assert [issue.severity for step in steps([Did("view")] * 3) for issue in found.observe(Seen(step))] == [None]


CHECK = """
from interlock.core import Seen, Step, Tool
from interlock.detect import Detectors
detectors = Detectors()
for n, ms in enumerate((100, 2_000, 4_000, 6_000)):
    tool = Tool("build", {"n": n}, f"c{n}")
    detectors.observe(Seen(Step(run_id="r", index=2 * n, role="assistant", kind="tool_call", tool=tool)))
    got = Step(run_id="r", index=2 * n + 1, role="tool", kind="tool_result", tool=tool, content=f"{n}", duration_ms=ms)
    for issue in detectors.observe(Seen(got)):
        print(issue.type, issue.evidence)
"""


def test_the_example_package_installs_and_is_found(tmp_path: Path) -> None:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    quiet = ["--no-deps", "--no-build-isolation", "--target", str(tmp_path), str(ROOT / "examples" / "detector-plugin")]
    subprocess.run([*install, *quiet], check=True, capture_output=True, text=True)
    ran = subprocess.run(
        [sys.executable, "-c", CHECK],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}", "PATH": "/usr/bin:/bin"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == "slow_tool (1, 3, 5, 7)\n"
