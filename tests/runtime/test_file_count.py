"""max_file_operations holds for agents that do not name the files that they touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from interlock.config import Config
from interlock.core import Context, Limits, ManualClock, Paths
from interlock.journal import Store
from interlock.runtime import Supervisor

WRITES = [
    ("write_file", {"path": "a.py", "content": "x"}),
    ("Edit", {"file_path": "a.py", "old_string": "x", "new_string": "y"}),
    ("bash", {"command": "echo x > a.py"}),
    ("bash", {"command": "rm a.py"}),
]


def open_run(root: Path) -> Supervisor:
    config = Config(limits=Limits(max_file_operations=3))
    return Supervisor.open(config=config, store=Store(root), clock=ManualClock(), context=Context())


def act(supervisor: Supervisor, name: str, arguments: dict[str, object], paths: Paths | None = None) -> None:
    supervisor.before(supervisor.call(name, arguments))
    supervisor.after(replace(supervisor.result("ok", exit_code=0), paths=paths))


@pytest.mark.parametrize(("name", "arguments"), WRITES)
def test_calls_that_touch_files_count_though_they_do_not_say_so(
    tmp_path: Path, name: str, arguments: dict[str, object]
) -> None:
    with open_run(tmp_path) as supervisor:
        for _ in range(3):
            act(supervisor, name, arguments)
        assert supervisor.run.reason is None
        act(supervisor, name, arguments)
        assert supervisor.run.reason == "MAX_ITERATIONS"


def test_calls_that_touch_no_file_do_not_count(tmp_path: Path) -> None:
    with open_run(tmp_path) as supervisor:
        for _ in range(8):
            act(supervisor, "bash", {"command": "git status"})
            act(supervisor, "think", {"thought": "hm"})
        assert supervisor.pipeline.ledger.spend.file_operations == 0


def test_a_call_that_was_refused_touched_nothing(tmp_path: Path) -> None:
    with open_run(tmp_path) as supervisor:
        assert supervisor.before(supervisor.call("bash", {"command": "rm -rf /"})).action == "deny"
        assert supervisor.pipeline.ledger.spend.file_operations == 0


def test_a_result_that_names_its_files_counts_them_once(tmp_path: Path) -> None:
    with open_run(tmp_path) as supervisor:
        act(supervisor, "write_file", {"path": "a.py", "content": "x"}, Paths(written=("a.py", "b.py")))
        assert supervisor.pipeline.ledger.spend.file_operations == 2
