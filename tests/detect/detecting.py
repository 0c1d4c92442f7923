"""Tiny builders: a run as a list of calls with their results."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from interlock.config.schema import Detect
from interlock.core import Context, Issue, Seen, Step, Stuck, Tool
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


def batched(*batches: list[Did]) -> list[Step]:
    """The steps of calls that are issued together, before any of their results."""
    taken: list[Step] = []
    for calls in batches:
        made = steps(calls, start=len(taken))
        taken += [replace(step, index=len(taken) + at) for at, step in enumerate([*made[::2], *made[1::2]])]
    return taken


IN_FULL = 6
"""Issues of one run that are pinned with all that they say."""
UNSAID = ("", 0, None, [], ())
TOLD: list[list[str]] = []
"""What every `watch` of the current test told, in full; `conftest` compares it with `told.json`."""


def watch(taken: Iterable[Step], detectors: Detectors | None = None, context: Context | None = None) -> list[Issue]:
    """Every alarm that rises over the steps; each is followed to the end, as the runtime does."""
    watching = detectors or Detectors(Detect(), context)
    followed: dict[tuple[str, str], Stuck] = {}
    signs: dict[tuple[str, str], str] = {}
    found: list[Issue] = []
    for step in taken:
        rising = watching.observe(Seen(step))
        for key, stuck in followed.items() if step.origin != "interlock" else ():
            followed[key], sign = watching.follow(key[0], stuck, step)
            signs[key] += f" {step.index} {sign}" if sign is not None else ""
        for issue in rising:
            if issue.stuck is not None:
                followed.setdefault((issue.type, issue.stuck.key), issue.stuck)
                signs.setdefault((issue.type, issue.stuck.key), "")
        found += rising
    told = [f"{len(found)} issues", *(in_full(issue) for issue in found[:IN_FULL])]
    told += [f"{key[0]}:{signs[key]}; {_fields(stuck)}" for key, stuck in followed.items()]
    told.append(f"progress {watching.progress()}, agent {watching.seen!r}, instructed {watching.instructed}")
    TOLD.append(told)
    return [issue for issue in found if issue.severity != "low"]


def in_full(issue: Issue) -> str:
    """All that an issue says; of its description the names and numbers, as its wording may change."""
    named = re.findall(r"`[^`]+`|\b\d[\d.,]*\b|\w+[/_.]\w[\w/.]*", issue.description)
    return _fields(replace(issue, description=" ".join(named)))


def _fields(value: Struct) -> str:
    """All fields; fingerprints are masked."""
    text = json.dumps({key: each for key, each in msgspec.to_builtins(value).items() if each not in UNSAID})
    return re.sub(r"\b\d{7,}\b|(?<=:)[0-9a-f]{6,12}\b", "#", text.replace('"', "'"))


def first_alarm(calls: list[Did], *types: str) -> int | None:
    """The number of calls, with their results, after which the first alarm rose."""
    wanted = [issue for issue in watch(steps(calls)) if not types or issue.type in types]
    return wanted[0].step // 2 + 1 if wanted else None
