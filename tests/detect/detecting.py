"""Tiny builders: a run as a list of calls with their results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from interlock.config.model import Detect
from interlock.core import Context, Issue, Seen, Step, Tool
from interlock.detect import Detectors


@dataclass(frozen=True)
class Did:
    """One call with its result."""

    tool: str
    result: str = ""
    arguments: dict[str, object] = field(default_factory=dict)
    thought: str = ""
    error: bool | None = None
    exit_code: int | None = None


def steps(calls: Iterable[Did], agent: str | None = None, start: int = 0) -> list[Step]:
    """Two steps for each call: what was asked and what came back."""
    made = []
    for at, did in enumerate(calls):
        index, call_id = start + 2 * at, f"call-{start + at}"
        tool = Tool(did.tool, did.arguments, call_id)
        made.append(
            Step(
                run_id="run",
                index=index,
                role="assistant",
                kind="tool_call",
                content=did.thought,
                tool=tool,
                agent=agent,
            )
        )
        made.append(
            Step(
                run_id="run", index=index + 1, role="tool", kind="tool_result", content=did.result, error=did.error,
                exit_code=did.exit_code, tool=Tool(did.tool, {}, call_id), agent=agent,
            )
        )  # fmt: skip
    return made


def watch(taken: Iterable[Step], detectors: Detectors | None = None, context: Context | None = None) -> list[Issue]:
    """Every alarm that rises over the steps."""
    watching = detectors or Detectors(Detect(), context)
    return [issue for step in taken for issue in watching.observe(Seen(step)) if issue.severity != "low"]


def first_alarm(calls: list[Did], *types: str) -> int | None:
    """The number of calls, with their results, after which the first alarm rose."""
    wanted = [issue for issue in watch(steps(calls)) if not types or issue.type in types]
    return wanted[0].step // 2 + 1 if wanted else None
