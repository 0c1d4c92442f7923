"""The line protocol of INTERLOCK_SOCKET, a JSON line for each step and answer; and the adapter of a process."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import Struct

from ...core import (
    Applied,
    BadInput,
    Capability,
    Decision,
    DecisionAction,
    Directive,
    Kind,
    Message,
    Paths,
    Role,
    Step,
    Stop,
    Tool,
    Usage,
    derive_kind,
    from_json,
)

Phase = Literal["before", "after"]


class StepMessage(Struct, frozen=True):
    """A step as an agent reports it; missing fields are filled in."""

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
        """Build the complete step."""
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
    """Exactly one of the two is set."""

    before: StepMessage | None = None
    after: StepMessage | None = None


class StepReply(Struct, frozen=True, omit_defaults=True):
    """What to do: proceed, deny, rewrite (with `arguments`) or stop; `messages` are for the agent.

    Sent after holds and delays; `delay_s` is how long the step had to wait. `step` is the number under which
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
    """The answer to an invalid line; nothing was done."""

    error: str


def read_line(data: bytes) -> tuple[Phase, StepMessage]:
    """The phase and step of a line; BadInput if it is invalid."""
    try:
        line = from_json(data, StepLine)
    except msgspec.DecodeError as error:
        raise BadInput(f"not a step line: {error}", todo='Send {"before": {...}} or {"after": {...}}.') from None
    if (line.before is None) == (line.after is None):
        raise BadInput("a step line has either before or after", todo='Send {"before": {...}} or {"after": {...}}.')
    return ("before", line.before) if line.before is not None else ("after", line.after or StepMessage())


def write_answer(step: Step, decision: Decision) -> bytes:
    """Encode the answer as one line."""
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


SILENT: frozenset[Capability] = frozenset(("hold", "stop", "relaunch"))
"""A process without visible steps: it can be frozen, ended, and restarted with the same arguments."""

SPEAKING: frozenset[Capability] = SILENT | {"deny", "rewrite", "inject", "usage"}
"""A process that asks on INTERLOCK_SOCKET before its steps, and follows the answers."""


PRINTING: frozenset[Capability] = SILENT | {"usage"}
"""A process that prints its steps: they can only be observed."""


class ProcessAdapter:
    """Decisions are sent in the answer to a step, so only a process that reports steps receives them."""

    name = "process"

    def __init__(self) -> None:
        self.capabilities: frozenset[Capability] = SPEAKING

    def apply(self, directive: Directive) -> Applied:
        if isinstance(directive, Stop):
            return Applied(True, "sent with the reply to its step, if it asks for one")
        return Applied(True, "sent with the reply to its step")
