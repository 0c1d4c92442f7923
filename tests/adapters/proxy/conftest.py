"""A proxy over a real supervisor, before a scripted model, both on loopback."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.adapters.proxy import Proxied, ProxyAdapter
from interlock.adapters.proxy.proxy import Proxy
from interlock.adapters.steps.step_numbering import StepNumbering
from interlock.config import Config
from interlock.config.schema import Runtime
from interlock.core import Context
from interlock.demo.model import ScriptedModel, Scripts
from interlock.journal import JournalReader, Store
from interlock.runtime import Supervisor
from interlock.runtime.assembly import Options

from .agent import Agent

TOKEN = "t0ken"


class SupervisedRun:
    """Everything that a test needs of one run behind the proxy."""

    def __init__(
        self,
        root: Path,
        scripts: Scripts,
        *,
        config: Config | None = None,
        steps: bool = True,
        upstream: str | None = None,
        checkpoints: bool = False,
        keys: dict[str, dict[str, str]] | None = None,
        fenced: bool = False,
        login: tuple[str, ...] = (),
    ) -> None:
        self.model = ScriptedModel(scripts).start()
        self.workspace = root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.adapter = ProxyAdapter()
        kept = Options(workspace=self.workspace, checkpoint_store=root / "checkpoints") if checkpoints else Options()
        self.supervisor = Supervisor.open(
            **kept,
            config=config or Config(runtime=Runtime(step_timeout_ms=30_000)), store=Store(root / "runs"),
            adapter=self.adapter,
            context=Context(original_prompt="work", workspace=str(self.workspace)),
        )  # fmt: skip
        self.listener = socket.create_server(("127.0.0.1", 0))
        base = upstream or self.model.url
        upstreams = {"anthropic": base, "openai": f"{base}/v1", "gemini": base}
        self.proxy = Proxy(
            self.listener, StepNumbering(self.supervisor), Proxied(upstreams, TOKEN, keys or {}, fenced, login),
            choice=self.adapter.choice, rewind=self.adapter.rewind, steps=steps,
        )  # fmt: skip
        self.proxy.start()
        self.ran: list[str] = []
        self.outputs: dict[str, str] = {}

    def url(self, api: str) -> str:
        name = {"chat": "openai", "responses": "openai"}.get(api, api)
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/{TOKEN}/{name}"

    def agent(self, api: str, **more: Any) -> Agent:
        return Agent(api, self.url(api), self._run, **more)

    def direct(self, api: str, **more: Any) -> Agent:
        """The same agent without the proxy."""
        base = self.model.url + ("/v1" if api in ("chat", "responses") else "")
        return Agent(api, base, self._run, **more)

    def _run(self, name: str, arguments: dict[str, Any]) -> str:
        self.ran.append(arguments["command"])
        return self.outputs.get(arguments["command"], "done\nexit code 0")

    def records(self, *kinds: str) -> list[dict[str, Any]]:
        self.supervisor.run.journal.flush()
        folder = self.supervisor.run.folder
        assert folder is not None
        with JournalReader.open(folder) as reader:
            return [msgspec.json.decode(record.body) for record in reader.read(kinds=frozenset(kinds))]

    def steps(self) -> list[dict[str, Any]]:
        return [record["step"] for record in self.records("step")]

    def journal_bytes(self) -> bytes:
        self.supervisor.run.journal.flush()
        folder = self.supervisor.run.folder
        assert folder is not None
        return b"".join(path.read_bytes() for path in folder.path.rglob("*") if path.is_file())

    def close(self) -> None:
        self.proxy.close()
        self.listener.close()
        self.supervisor.close()
        self.model.close()


@pytest.fixture
def supervised_with(tmp_path: Path) -> Iterator[Callable[..., SupervisedRun]]:
    made: list[SupervisedRun] = []

    def make(scripts: Scripts = "healthy", **more: Any) -> SupervisedRun:
        made.append(SupervisedRun(tmp_path, scripts, **more))
        return made[-1]

    yield make
    for supervised in made:
        supervised.close()
