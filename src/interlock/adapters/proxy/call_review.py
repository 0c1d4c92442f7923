"""CallReview: reports a conversation to supervision, and applies its decisions."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct

from ...core import Decision, Message, Tool
from ..steps.step_protocol import StepMessage
from .client_connection import ClientConnection
from .formats import Json, ModelCall, ReplyReader, ToolResult, WireFormat

if TYPE_CHECKING:
    from .proxy import Proxy


class ReplyVerdict(Struct):
    """What to do with an answer: forward it unchanged or with other `parts`, ask `again`, or stop.

    `answers` replace the results of blocked calls; `gone`: the client has hung up.
    """

    parts: list[Json] | None = None
    answers: dict[str, str] = {}
    again: bool = False
    stop: str = ""
    gone: bool = False


class CallReview:
    """For one request of one agent."""

    def __init__(self, proxy: Proxy, form: WireFormat, agent: str | None, session: str = "") -> None:
        self._numbering, self._run, self._memory = proxy.numbering, proxy.supervisor.run, proxy.memory
        self._form, self._agent, self._session = form, agent, session
        self._steps, self._usage = proxy.steps, proxy.usage
        self._observes = proxy.supervisor.config.interventions.observe
        self._begun = time.monotonic()

    @property
    def judges(self) -> bool:
        """Whether an answer is held back until its calls are judged: not if nothing would act on the result."""
        return self._steps and not self._observes

    def hear(self, items: list[Json]) -> None:
        """Report what is new in a request: results of calls, and messages to the agent."""
        if not self._steps:
            return
        last = last_of_model(self._form, items)
        for item in items[last + 1 :]:
            for result in self._form.results(item):
                self._hear_result(result, items[: last + 1])
            said = self._form.said(item)
            if said and self._memory.is_new(said):
                self._tell(StepMessage(content=said, role="user", agent=self._agent))
        for left in self._memory.abandon(self._agent):
            # Its result will never be reported.
            self._run.gate.leave(left)

    def _hear_result(self, result: ToolResult, before: list[Json]) -> None:
        """Report the result of a call; first the call itself, if it was never reviewed or not recorded."""
        step = self._memory.end_call(result, self._agent)
        call, agent = (step.tool, step.agent) if step is not None else (None, self._agent)
        if step is None and result.call_id and not self._numbering.knows("after", agent, result.call_id):
            call = _find_call(self._form, before, result.call_id)
            if call is not None and not self._numbering.knows("before", agent, result.call_id):
                self._memory.keep(
                    self._numbering.note_call(StepMessage(tool=call, role="assistant", agent=agent)).messages
                )
        if call is not None:
            tool = Tool(call.name, {}, call.call_id)
            self._tell(StepMessage(tool=tool, content=result.text, error=result.error, agent=agent, role="tool"))

    def count(self, reader: ReplyReader, *, words: bool) -> None:
        """Report the model's text and usage, unless the session has hooks: then its transcript has both."""
        if self._numbering.is_hooked(self._session):
            return
        said = reader.text if self._steps and words else ""
        usage = reader.usage if self._usage and reader.usage is not None and reader.usage.tokens else None
        if said or usage is not None:
            self._tell(
                StepMessage(
                    role="assistant",
                    kind="message" if said else "usage",
                    content=said,
                    usage=usage,
                    model=reader.model or None,
                    agent=self._agent,
                    duration_ms=(time.monotonic() - self._begun) * 1000,
                )
            )
        self._begun = time.monotonic()

    def decide(self, reader: ReplyReader, client: ClientConnection) -> ReplyVerdict:
        """Judge the calls of an answer, waiting for holds and delays."""
        if self._run.ended:
            return ReplyVerdict(stop=self._run.why_ended)
        calls = reader.calls
        denied: dict[int, tuple[ModelCall, str]] = {}
        changed: dict[int, Json] = {}
        for call in calls:
            message = StepMessage(tool=Tool(call.name, call.arguments, call.id), agent=self._agent)
            answered = self._numbering.before(message, client)
            if answered is None:
                return ReplyVerdict(gone=True)
            step, decision = answered
            if decision.action == "stop":
                return ReplyVerdict(stop=decision.reason)
            if decision.action in ("deny", "defer"):
                denied[call.at] = call, _refusal(decision)
                continue
            self._memory.keep(decision.messages)
            self._memory.begin_call(step)
            if decision.action == "rewrite" and decision.arguments is not None:
                changed[call.at] = reader.with_arguments(call, decision.arguments)
        if denied and len(denied) == len(calls):
            return ReplyVerdict(answers={call.id: why for call, why in denied.values()}, again=True)
        for call, why in denied.values():
            self._memory.keep((Message(f"Your call to {call.name} was blocked. {why}"),))
        if not denied and not changed:
            return ReplyVerdict()
        parts = [changed.get(at, part) for at, part in enumerate(reader.parts) if at not in denied]
        return ReplyVerdict(parts=parts)

    def _tell(self, message: StepMessage) -> None:
        """Report a step; its messages wait for the agent's next request."""
        self._memory.keep(self._numbering.after(message)[1].messages)


def _refusal(decision: Decision) -> str:
    words = [f"Interlock blocked this call. {decision.reason}", *(one.content for one in decision.messages)]
    return "\n\n".join(words)


def _find_call(form: WireFormat, items: list[Json], call_id: str) -> Tool | None:
    """A call in the model's messages, searched from the newest."""
    for item in reversed(items):
        for call in form.calls(item) if form.is_model(item) else ():
            if call.id == call_id:
                return Tool(call.name, call.arguments, call.id)
    return None


def last_of_model(form: WireFormat, items: list[Json]) -> int:
    return next((at for at in range(len(items) - 1, -1, -1) if form.is_model(items[at])), -1)
