"""Messages of an intervention, and the number of the answer within its episode, so that each one says something new."""

from __future__ import annotations

from msgspec import Struct

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
    """A message that names its origin."""
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
    """A value as one bounded line, so that text from an agent or a tool cannot add its own layout to a message."""
    text = " ".join(str(value)[: limit * 4].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


class Attempt(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The `number`-th answer to a problem that recurred `again` times since the last one.

    `relapses` counts how often it came back after it had ended; `place` is the file and line that it names; `since` is
    when the episode began.
    """

    number: int = 1
    again: int = 0
    relapses: int = 0
    place: str = ""
    since: float | None = None

    def news(self) -> str:
        """What happened since the last answer, in a sentence or two; empty for a first answer."""
        if self.number <= 1:
            return ""
        if self.again:
            times = "once more" if self.again == 1 else f"{self.again} more times"
            return f"It happened {times} since message {self.number - 1} about it."
        if self.relapses:
            return f"It had stopped after message {self.number - 1} about it, and now it is back."
        return f"This is message {self.number} about it."

    def tried(self) -> str:
        """What was tried, for a person; empty if nothing was."""
        if self.number <= 1:
            return ""
        return f"{self.number - 1} intervention{'s' if self.number > 2 else ''} did not help"


FIRST = Attempt()
