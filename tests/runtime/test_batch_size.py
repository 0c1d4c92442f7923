"""batch_size: a call that names more files than that is refused, and the agent is asked to split it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interlock.config import Config
from interlock.core import Limits, Paths, SetLimits, Spend, Step, Tool
from interlock.journal import Store
from interlock.runtime import Supervisor
from interlock.runtime.batch import named_files

COUNTS = [
    ("bash", {"command": "cat a.py b.py c.py"}, 3),
    ("bash", {"command": "cat a.py | grep -n x && rm -f b.py 'c d.py'"}, 3),
    ("bash", {"command": "cp -r a b c backup/"}, 3),
    ("bash", {"command": "mv a.py b.py"}, 1),
    ("bash", {"command": "sed -i s/a/b/ one two"}, 2),
    ("bash", {"command": "touch a b\nrm c"}, 3),
    ("bash", {"command": "git commit -m 'Fix a.py, b.py; cat c.py'"}, 0),
    ("bash", {"command": "echo 'no end"}, 0),
    ("bash", {}, 0),
    ("read_many_files", {"paths": ["a", "b", "c", "d"]}, 4),
    ("Read", {"file_path": "a"}, 0),
]


@pytest.mark.parametrize(("tool", "arguments", "count"), COUNTS)
def test_files_that_a_call_names(tool: str, arguments: dict[str, Any], count: int) -> None:
    assert (
        named_files(Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=Tool(tool, arguments))) == count
    )


def test_files_that_an_agent_declares_count_by_what_it_does_with_them() -> None:
    paths = Paths(read=("a", "b"), written=("a", "b", "c"))
    assert (
        named_files(Step(run_id="r", index=1, role="assistant", kind="tool_call", tool=Tool("merge", {}), paths=paths))
        == 3
    )


def ask(supervisor: Supervisor, command: str) -> tuple[str, str]:
    decision = supervisor.ask(supervisor.call("bash", {"command": command}))
    return decision.action, decision.reason


def test_a_call_with_too_many_files_is_refused_and_smaller_ones_pass(tmp_path: Path) -> None:
    with Supervisor.open(
        store=Store(tmp_path / "runs"), config=Config(limits=Limits(batch_size=2)), workspace=tmp_path
    ) as supervisor:
        assert ask(supervisor, "cat a b c") == (
            "deny",
            "the call names 3 files, and batch_size allows 2 at once: split it into smaller calls",
        )
        assert ask(supervisor, "cat a b")[0] == "proceed"
        supervisor.pipeline.meter.throttle(SetLimits(Limits(batch_size=1)), Spend())
        assert ask(supervisor, "cat a b")[0] == "deny"
        assert ask(supervisor, "cat a")[0] == "proceed"


def test_without_it_a_call_may_name_any_number(tmp_path: Path) -> None:
    with Supervisor.open(store=Store(tmp_path / "runs"), config=Config(), workspace=tmp_path) as supervisor:
        assert ask(supervisor, "cat " + " ".join(map(str, range(50))))[0] == "proceed"
