"""The line protocol of INTERLOCK_SOCKET: one JSON line for each step, one JSON line for each answer.

{"before": {"tool": {"name": "bash", "arguments": {"command": "make"}}}}   may this call run? Answered when it may.
{"after": {"content": "2 failed", "exit_code": 1}}                          the result
{"after": {"role": "assistant", "content": "I will fix it"}}                something that the agent said

A command may also print such lines (`--steps stdout`): they are observed, and not answered.

An answer: {"action": "proceed", "step": 4, "messages": [{"content": "..."}]}; see `Answer`.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ...core import (
    BadInput,
    Decision,
    DecisionAction,
    Kind,
    Message,
    Paths,
    Role,
    Step,
    Tool,
    Usage,
    derive_kind,
    from_json,
)

Phase = Literal["before", "after"]


class StepMessage(Struct, frozen=True):
    """A step as an agent tells it: whatever it leaves out is filled in."""

    tool: Tool | None = None
    content: str = ""
    role: Role | None = None
    kind: Kind | None = None
    agent: str | None = None
    model: str | None = None
    error: bool | None = None
    exit_code: int | None = None
    paths: Paths | None = None
    usage: Usage | None = None
    duration_ms: float | None = None

    def step(self, run_id: str, index: int, phase: Phase) -> Step:
        """The whole step."""
        role: Role = self.role or ("assistant" if phase == "before" else "tool")
        return Step(
            run_id=run_id,
            index=index,
            role=role,
            kind=self.kind or derive_kind(role, self.tool, self.content),
            content=self.content,
            tool=self.tool,
            error=self.error,
            exit_code=self.exit_code,
            paths=self.paths,
            usage=self.usage,
            agent=self.agent,
            model=self.model,
            duration_ms=self.duration_ms,
        )


class StepLine(Struct, frozen=True):
    """One of the two."""

    before: StepMessage | None = None
    after: StepMessage | None = None


class StepReply(Struct, frozen=True, omit_defaults=True):
    """What to do: proceed, deny, rewrite (with `arguments`) or stop; `messages` are for the agent to read.

    Holds and delays are over when it comes; `delay_s` says how long it had to wait. `step` is the number under which
    the step was recorded.
    """

    action: DecisionAction
    step: int
    messages: tuple[Message, ...] = ()
    delay_s: float | None = None
    arguments: dict[str, object] | None = None
    model: str | None = None
    reason: str = ""


class StepRefusal(Struct, frozen=True):
    """A line that was not understood; nothing was done."""

    error: str


def read_line(data: bytes) -> tuple[Phase, StepMessage]:
    """What a line says; BadInput if it says nothing."""
    try:
        line = from_json(data, StepLine)
    except msgspec.DecodeError as error:
        raise BadInput(f"not a step line: {error}", todo='Send {"before": {...}} or {"after": {...}}.') from None
    if (line.before is None) == (line.after is None):
        raise BadInput("a step line has either before or after", todo='Send {"before": {...}} or {"after": {...}}.')
    return ("before", line.before) if line.before is not None else ("after", line.after or StepMessage())


def write_answer(step: Step, decision: Decision) -> bytes:
    """The answer on one line."""
    return msgspec.json.encode(
        StepReply(
            action=decision.action,
            step=step.index,
            messages=decision.messages,
            delay_s=decision.delay_s or None,
            arguments=decision.arguments,
            model=decision.model,
            reason=decision.reason,
        )
    )
