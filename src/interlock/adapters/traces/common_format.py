"""Neutral traces and step lines: field names of the published format, lenient where sources differ."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from ...core import Kind, Origin, Paths, Role, Step, Tool, Usage, derive_kind


class LooseTool(Struct):
    """A tool call as sources write it: arguments may be text, a list or missing."""

    name: str
    arguments: object = None
    call_id: str | None = None


class LooseStep(Struct, kw_only=True):
    """A step as sources write it."""

    role: Role
    index: int | None = None
    kind: Kind | None = None
    content: object = None
    tool: LooseTool | None = None
    call_id: str | None = None
    error: bool | None = None
    exit_code: int | None = None
    paths: Paths | None = None
    usage: Usage | None = None
    tokens: int | None = None
    prompt_tokens: int | None = None
    agent: str | None = None
    model: str | None = None
    time: float | str | None = None
    timestamp: float | str | None = None
    duration_ms: float | None = None
    origin: Origin = "agent"
    run_id: str | None = None


class LooseTrace(Struct, kw_only=True):
    """A whole trace on one line."""

    trace_id: str
    steps: list[LooseStep]
    task: str | None = None
    source: str | None = None


class LineShape(Struct):
    """The fields that distinguish the kinds of line."""

    steps: msgspec.Raw = msgspec.Raw()
    sessionId: str | None = None  # noqa: N815  the transcript's own name
    type: str | None = None
    role: str | None = None
    run_id: str | None = None
    trace_id: str | None = None


ShapeName = Literal["trace", "transcript", "step"]


def shape_of(line: LineShape) -> ShapeName:
    """Which of the three kinds a line is."""
    if memoryview(line.steps).nbytes:
        return "trace"
    if line.role is None and line.type is not None:
        return "transcript"
    return "step"


def tighten(loose: LooseStep, run_id: str, index: int) -> Step:
    """Convert a source's step to a Step; `index` is used if the source has none."""
    tool = None
    if loose.tool is not None:
        tool = Tool(loose.tool.name, _arguments(loose.tool.arguments), loose.tool.call_id or loose.call_id)
    elif loose.call_id is not None and loose.role == "tool":
        tool = Tool("", {}, loose.call_id)
    content = loose.content if isinstance(loose.content, str) else _as_text(loose.content)
    return Step(
        run_id=run_id,
        index=index if loose.index is None else loose.index,
        role=loose.role,
        kind=loose.kind or derive_kind(loose.role, tool),
        content=content,
        tool=tool,
        error=loose.error,
        exit_code=loose.exit_code,
        paths=loose.paths,
        usage=_usage(loose),
        agent=loose.agent,
        model=loose.model,
        time=epoch(loose.time if loose.time is not None else loose.timestamp),
        duration_ms=loose.duration_ms,
        origin=loose.origin,
    )


def epoch(value: float | str | None) -> float | None:
    """Seconds since the epoch from a number or an ISO 8601 text; None if invalid."""
    if value is None or isinstance(value, (int, float)):
        return value
    try:
        return datetime.fromisoformat(value).timestamp()
    except ValueError:
        return None


def _arguments(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}


def _as_text(value: object) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def _usage(loose: LooseStep) -> Usage | None:
    if loose.usage is not None:
        return loose.usage
    if loose.tokens is None:
        return None
    # `tokens` is the total; the prompt's share is known only if the source states it.
    prompt = min(loose.prompt_tokens or 0, loose.tokens)
    return Usage(input_tokens=prompt, output_tokens=loose.tokens - prompt)
