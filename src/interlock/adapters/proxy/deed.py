"""Deed: what supervision is told of a conversation, and what it says."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from ...core import Decision, Kind, Message, Role, Step, Tool, Usage
from .formats import Call, Format, Json, Reader
from .wire import Wire

if TYPE_CHECKING:
    from .proxy import Proxy

LOOK_S = 2.0


class Verdict(Struct):
    """What becomes of an answer: handed on as it came, or with other `parts`; asked for `again`; or the end.

    `answers` stand in for the results of calls that were refused; `gone` says that the client has hung up.
    """

    parts: list[Json] | None = None
    answers: dict[str, str] = {}
    again: bool = False
    stop: str = ""
    gone: bool = False


class Deed:
    """For one request of one agent."""

    def __init__(self, proxy: Proxy, form: Format, agent: str | None) -> None:
        self._supervisor, self._memory, self._form, self._agent = proxy.supervisor, proxy.memory, form, agent
        self._steps = proxy.steps
        self._begun = time.monotonic()

    @property
    def judges(self) -> bool:
        """Whether an answer is kept back until its calls are judged: not where nobody would act on it."""
        return self._steps and not self._supervisor.config.interventions.observe

    def hear(self, items: list[Json]) -> None:
        """Tell what is new in a request: results of calls, and what was said to the agent."""
        if not self._steps:
            return
        fresh = items[_last_of_model(self._form, items) + 1 :]
        for item in fresh:
            for result in self._form.results(item):
                call = self._memory.end_call(result, self._agent)
                if call is not None and call.tool is not None:
                    told = self._step("tool", "tool_result", result.text, Tool(call.tool.name, {}, call.tool.call_id))
                    self._take(self._supervisor.after(replace(told, error=result.error, agent=call.agent)))
            said = self._form.said(item)
            if said and self._memory.is_new(said):
                self._take(self._supervisor.after(self._step("user", "message", said)))
        for left in self._memory.abandon(self._agent):
            assert left.tool is not None
            none = self._step("tool", "tool_result", "no result came", Tool(left.tool.name, {}, left.tool.call_id))
            self._supervisor.after(replace(none, origin="interlock"))

    def count(self, reader: Reader, *, words: bool) -> None:
        """Tell what the model said, and what it cost."""
        said = reader.text if self._steps and words else ""
        if not said and _spent(reader.usage) is None:
            return
        step = replace(
            self._step("assistant", "message" if said else "usage", said),
            usage=_spent(reader.usage),
            model=reader.model or None,
            duration_ms=(time.monotonic() - self._begun) * 1000,
        )
        self._take(self._supervisor.after(step))
        self._begun = time.monotonic()

    def decide(self, reader: Reader, wire: Wire) -> Verdict:
        """Judge the calls of an answer, waiting out holds and delays."""
        if self._supervisor.run.ended:
            return Verdict(stop=self._supervisor.run.why_ended)
        calls = reader.calls
        denied: dict[int, tuple[Call, str]] = {}
        changed: dict[int, Json] = {}
        for call in calls:
            step = self._step("assistant", "tool_call", "", Tool(call.name, call.arguments, call.id))
            decision = self._ask(step, wire)
            if decision is None:
                return Verdict(gone=True)
            if decision.action == "stop":
                return Verdict(stop=decision.reason)
            if decision.action in ("deny", "defer"):
                denied[call.at] = call, _refusal(decision)
                continue
            self._memory.begin_call(step)
            if decision.action == "rewrite" and decision.arguments is not None:
                changed[call.at] = reader.with_arguments(call, decision.arguments)
        if denied and len(denied) == len(calls):
            return Verdict(answers={call.id: why for call, why in denied.values()}, again=True)
        for call, why in denied.values():
            self._memory.keep((Message(f"Your call of {call.name} was refused. {why}"),))
        if not denied and not changed:
            return Verdict()
        parts = [changed.get(at, part) for at, part in enumerate(reader.parts) if at not in denied]
        return Verdict(parts=parts)

    def _ask(self, step: Step, wire: Wire) -> Decision | None:
        """The decision on a call, holds and delays waited out; None when the client has hung up."""
        gate = self._supervisor.run.gate
        while not wire.is_gone():
            version = gate.version
            decision = self._supervisor.before(step)
            if decision.action == "hold":
                gate.wait(version, LOOK_S)
                continue
            if decision.action in ("proceed", "rewrite"):
                # For the next request, also where this call has to be asked for again.
                self._take(decision)
            until = time.monotonic() + decision.delay_s
            while (left := until - time.monotonic()) > 0 and not self._supervisor.run.ended and not wire.is_gone():
                gate.wait(gate.version, min(left, LOOK_S))
            if not decision.delay_s or gate.status == "running":
                return decision
        return None

    def _take(self, decision: Decision) -> None:
        self._memory.keep(decision.messages)

    def _step(self, role: Role, kind: Kind, content: str, tool: Tool | None = None) -> Step:
        return Step(
            run_id=self._supervisor.run.spec.run_id,
            index=self._supervisor.take_index(),
            role=role,
            kind=kind,
            content=content,
            tool=tool,
            agent=self._agent,
        )


def _refusal(decision: Decision) -> str:
    words = [f"Interlock did not let this run. {decision.reason}", *(one.content for one in decision.messages)]
    return "\n\n".join(words)


def _spent(usage: Usage | None) -> Usage | None:
    return usage if usage is not None and usage.tokens else None


def _last_of_model(form: Format, items: list[Json]) -> int:
    return next((at for at in range(len(items) - 1, -1, -1) if form.is_model(items[at])), -1)
