"""Recorded traces as steps: the smallest reader that the measurements need."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec import Struct, field

from interlock.adapters.traces import find_workspace
from interlock.core import Context, Step, Tool, Usage, derive_kind

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = ROOT.parent / "shared" / "traces"
SOURCES = (
    "sola", "trail", "whowhen", "agentrx", "openhands", "tau", "intercode", "codetracer", "stepshield", "miniswe",
)  # fmt: skip


class Label(Struct):
    """What an annotator wrote; without a step it is about the whole trace."""

    pattern: str
    step: int | None = None
    source_label: str | None = None
    origin: str | None = None
    note: str | None = None


class RawTool(Struct):
    name: str
    arguments: dict[str, object] = field(default_factory=dict)


class RawStep(Struct):
    index: int
    role: str
    content: str | None = None
    tool: RawTool | None = None
    error: bool | None = None
    agent: str | None = None
    tokens: int | None = None
    timestamp: str | float | None = None
    call_id: str | None = None

    @property
    def seconds(self) -> float | None:
        """When it happened, in seconds since the epoch."""
        written = self.timestamp
        return datetime.fromisoformat(written).timestamp() if isinstance(written, str) else written


class Trace(Struct):
    """One recorded run with its labels."""

    trace_id: str
    source: str
    group: str
    steps: list[RawStep]
    task: str | None = None
    outcome: str | None = None
    meta: dict[str, object] = field(default_factory=dict)
    labels: list[Label] = field(default_factory=list)
    judged: list[str] = field(default_factory=list)

    def context(self) -> Context:
        calls = (step.tool for step in self.read() if step.kind == "tool_call" and step.tool is not None)
        return Context(original_prompt=self.task or "", workspace=find_workspace(calls))

    def read(self) -> Iterator[Step]:
        """The steps as the product's own record."""
        for raw in self.steps:
            tool = Tool(raw.tool.name, raw.tool.arguments, raw.call_id) if raw.tool is not None else None
            if tool is None and raw.call_id is not None and raw.role == "tool":
                tool = Tool("", {}, raw.call_id)
            content = raw.content or ""
            yield Step(
                run_id=self.trace_id,
                index=raw.index,
                role=raw.role,  # type: ignore[arg-type]
                kind=derive_kind(raw.role, tool, content),  # type: ignore[arg-type]
                content=content,
                tool=tool,
                error=raw.error,
                agent=raw.agent,
                usage=Usage(output_tokens=raw.tokens) if raw.tokens is not None else None,
                time=raw.seconds,
            )


def load(folder: Path, source: str) -> list[Trace]:
    """Every trace of one source; an empty list where the file is missing."""
    decode = msgspec.json.Decoder(Trace).decode
    for path, opened in ((folder / f"{source}.jsonl.gz", gzip.open), (folder / f"{source}.jsonl", open)):
        if path.exists():
            with opened(path, "rb") as lines:
                return [decode(line) for line in lines if line.strip()]
    return []
