"""A recorded trace tells of changed tests only where it holds both versions."""

from __future__ import annotations

import pytest

from interlock.core import Step, Tool
from interlock.proof import TraceTests

BEFORE = "def test_a():\n    assert f() == 1\n\n\ndef test_b():\n    assert f() == 1\n"
AFTER = "def test_a():\n    assert f() == 1\n"


def _told(*calls: tuple[str, dict[str, str]]) -> list[str]:
    tests = TraceTests()
    for at, (name, arguments) in enumerate(calls):
        tests.observe(
            Step(run_id="r", index=at, role="assistant", kind="tool_call", tool=Tool(name, arguments, f"c{at}"))
        )
    return [fact.kind for fact in tests.facts()]


def _write(text: str) -> tuple[str, dict[str, str]]:
    return "Write", {"file_path": "tests/test_a.py", "content": text}


def _run(command: str) -> tuple[str, dict[str, str]]:
    return "Bash", {"command": command}


def test_a_test_that_the_trace_wrote_and_removed_is_told() -> None:
    assert _told(_write(BEFORE), _write(AFTER)) == ["removed"]


@pytest.mark.parametrize(
    "call",
    [
        _write(AFTER),
        ("Edit", {"file_path": "tests/test_a.py", "old_string": BEFORE, "new_string": AFTER}),
        _run(f"cat > tests/test_a.py <<'EOF'\n{AFTER}EOF"),
        _run("echo '# more' >> tests/test_a.py"),
        _run(f"cat >> tests/test_a.py <<'EOF'\n{AFTER}EOF"),
        _run("sed -i '1,3d' tests/test_a.py"),
        _run("rm tests/test_a.py"),
        _run("git checkout tests/test_a.py"),
        _run("mv tests/test_a.py tests/test_b.py"),
    ],
)
def test_without_both_versions_nothing_is_told(call: tuple[str, dict[str, str]]) -> None:
    assert _told(_run("cat tests/test_a.py"), call) == []
    assert _told(_write(BEFORE), _run("sed -i '1,3d' tests/test_a.py"), call) == []


def test_what_is_appended_to_a_known_file_removes_nothing() -> None:
    assert _told(_write(BEFORE), _run("echo 'def test_c(): assert f()' >> tests/test_a.py")) == []
