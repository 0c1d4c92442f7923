"""Everything imports where Linux is missing, and what needs no Linux works: review, scan, checkpoints, hooks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import interlock

HERE = Path(__file__).parent
TRACES = HERE.parent / "data" / "traces" / "extract.jsonl"

IMPORT_ALL = """
import importlib, pkgutil, sys, interlock
assert sys.platform == "darwin"
optional = {"agents", "claude_agent_sdk", "langchain", "langchain_core", "langgraph", "minisweagent", "pydantic_ai", "smolagents"}
done = 0
for module in pkgutil.walk_packages(interlock.__path__, "interlock."):
    if module.name.endswith("__main__"):
        continue
    try:
        importlib.import_module(module.name)
        done += 1
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in optional:
            raise
print(done)
"""


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    # Short: the path of a socket has at most 104 bytes there.
    with tempfile.TemporaryDirectory(prefix="il-") as short:
        yield Path(short)


def start(home: Path, *words: str, stdin: str = "", program: tuple[str, ...] = ("-m", "interlock")) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, *program, *words],
        cwd=home / "work",
        env=environment(home),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout + done.stderr


def environment(home: Path) -> dict[str, str]:
    (home / "work").mkdir(exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "INTERLOCK_"))}
    places = {f"XDG_{name}": str(home / name) for name in ("STATE_HOME", "CONFIG_HOME", "CACHE_HOME", "RUNTIME_DIR")}
    (home / "RUNTIME_DIR").mkdir(exist_ok=True)
    return {**kept, **places, "HOME": str(home), "PYTHONPATH": str(HERE)}


def test_every_module_can_be_imported(home: Path) -> None:
    status, said = start(home, program=("-c", IMPORT_ALL))
    files = len(list(Path(interlock.__file__).parent.rglob("*.py")))
    # All but the entry point, the top itself and the adapters of frameworks that may not be installed.
    assert status == 0 and int(said) > files - 12, said


def test_review_scan_and_checkpoints_work(home: Path) -> None:
    work = home / "work"
    status, said = start(home, "review", "rm -rf ~/work")
    assert status != 0 and "block" in said.lower(), said
    status, said = start(home, "scan", str(TRACES))
    assert "loop" in said, said
    (work / "kept").write_text("before\n")
    status, said = start(home, "checkpoint", "create", "--label", "first")
    assert status == 0, said
    (work / "kept").write_text("after\n")
    (work / "new").write_text("x")
    status, said = start(home, "rollback", "--to", "first", "--yes")
    assert status == 0 and (work / "kept").read_text() == "before\n" and not (work / "new").exists(), said


def test_a_run_by_hooks_works(home: Path) -> None:
    serving = subprocess.Popen(
        [sys.executable, "-m", "interlock", "serve", "--json"],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert serving.stdout is not None
        where = json.loads(serving.stdout.readline())

        def hook(event: str, **more: object) -> str:
            told = {"session_id": "s1", "cwd": str(home / "work"), "hook_event_name": event, **more}
            client = Path(interlock.__file__ or "").parent / "adapters" / "hooks" / "hookclient.py"
            words = ("--serve", where["socket"], "--before", "claude-code")
            status, said = start(home, *words, stdin=json.dumps(told), program=("-I", "-S", str(client)))
            assert status == 0, said
            return said

        (home / "work" / "precious").write_text("1")
        hook("UserPromptSubmit", prompt="tidy up")
        bash = {"tool_name": "Bash", "tool_use_id": "c1"}
        assert "deny" in hook("PreToolUse", **bash, tool_input={"command": "rm -rf ~"})
        assert "deny" not in hook("PreToolUse", **bash | {"tool_use_id": "c2"}, tool_input={"command": "rm precious"})
        (home / "work" / "precious").unlink()
        hook("PostToolUse", **bash | {"tool_use_id": "c2"}, tool_input={"command": "rm precious"}, tool_response="")
        status, said = start(home, "ps", "--json")
        (run,) = json.loads(said)["runs"]
        assert (run["task"], run["status"]) == ("tidy up", "running"), said
        hook("SessionEnd", reason="other")
        status, said = start(home, "rollback", run["run_id"], "--yes")
        assert status == 0 and (home / "work" / "precious").read_text() == "1", said
    finally:
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(150) == 0


def test_a_command_that_needs_linux_says_so_in_one_line_with_what_works(home: Path) -> None:
    status, said = start(home, "run", "--", shutil.which("true") or "true")
    assert status == 2
    assert said.count("\n") == 1 and "needs Linux" in said and "interlock install" in said, said
