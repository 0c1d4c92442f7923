"""A supervised run with the hooks' exchange over it, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.adapters.hooks.clients import adapter_named, new_dialects
from interlock.adapters.hooks.exchange import HookExchange
from interlock.adapters.hooks.hook_guardian import HookGuardian
from interlock.adapters.run_process_tree import RunProcessTree
from interlock.adapters.steps.step_numbering import StepNumbering
from interlock.config import Config
from interlock.core import ManualClock, RunSpec
from interlock.journal import JournalReader, Store, new_run_id
from interlock.runtime import Supervisor


class Waiting:
    """Whoever asks."""

    def __init__(self) -> None:
        self.told = 0
        self.gone = False

    def waits(self) -> bool:
        return not self.gone

    def say_wait(self) -> None:
        self.told += 1


class SupervisedRun:
    """One run whose client is a test."""

    def __init__(self, root: Path, config: Config, client: str = "claude-code", task: str = "", **guarded: Any) -> None:
        self.root, self.client = root, client
        self.clock = ManualClock(1_700_000_000.0)
        (root / "work").mkdir(exist_ok=True)
        spec = RunSpec(run_id=new_run_id(), task=task, workspace=None, cwd=str(root / "work"), adapter=client)
        self.store = Store(root / "runs")
        self.held = RunProcessTree()
        self.supervisor = Supervisor.open(
            spec=spec,
            config=config,
            store=self.store,
            adapter=adapter_named(client),
            clock=self.clock,
            processes=self.held,
        )
        self.book = StepNumbering(self.supervisor)
        self.guardian = HookGuardian(self.supervisor, self.held, **guarded)
        self.exchange = HookExchange(self.book, new_dialects(), self.guardian)
        self.transcript = root / "transcript.jsonl"

    def hook(self, event: str, client: Waiting | None = None, **more: Any) -> Any:
        """What the client's hook is answered."""
        base = {"session_id": "s", "transcript_path": str(self.transcript), "cwd": str(self.root / "work")}
        payload = {**base, "hook_event_name": event, **more}
        line = msgspec.json.encode({"hook": {"client": self.client, "payload": payload}})
        answer = self.exchange.answer(line, client or Waiting())
        return None if answer is None else msgspec.json.decode(answer)

    def call(self, call_id: str, command: str, **more: Any) -> Any:
        return self.hook("PreToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id=call_id, **more)

    def result(self, call_id: str, command: str, output: str = "", **more: Any) -> Any:
        response = {"stdout": output, "stderr": ""}
        named = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call_id}
        return self.hook("PostToolUse", **named, tool_response=response, **more)

    def records(self, *kinds: str) -> list[Any]:
        self.supervisor.run.journal.flush()
        assert self.supervisor.run.folder is not None
        with JournalReader.open(self.supervisor.run.folder) as reader:
            return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(kinds))]

    def steps(self) -> list[Any]:
        return [record["step"] for record in self.records("step")]


MakeSupervised = Callable[..., SupervisedRun]


@pytest.fixture
def supervised_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeSupervised]:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    made: list[SupervisedRun] = []

    def make(config: dict[str, Any] | None = None, **more: Any) -> SupervisedRun:
        given = config or {}
        patient = {**given, "runtime": {"step_timeout_ms": 30_000, **given.get("runtime", {})}}
        made.append(SupervisedRun(tmp_path, msgspec.convert(patient, Config), **more))
        return made[-1]

    yield make
    for supervised in made:
        supervised.supervisor.close()


@pytest.fixture
def supervised(supervised_with: MakeSupervised) -> SupervisedRun:
    return supervised_with()
