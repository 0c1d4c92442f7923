"""How an intervention's words become a message with its metadata."""

from __future__ import annotations

from ..core import Issue, Limits, Message, MessageMeta, RunState


def guidance(
    text: str,
    intervention: str,
    issue: Issue,
    state: RunState,
    now: float,
    *,
    limits: Limits | None = None,
    checkpoint_id: str | None = None,
) -> Message:
    """A message that says where it comes from."""
    return Message(
        content=text,
        meta=MessageMeta(
            intervention=intervention,
            issue=issue.type,
            time=now,
            run_id=state.run_id,
            step=max(state.step, issue.step),
            limits=limits,
            checkpoint_id=checkpoint_id,
        ),
    )


def one_line(value: object, limit: int = 400) -> str:
    """A value as one bounded line: what an agent or a tool wrote never brings its own layout into a message."""
    text = " ".join(str(value)[: limit * 4].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
