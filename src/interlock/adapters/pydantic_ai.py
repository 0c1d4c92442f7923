"""Pydantic AI: a capability of the agent.

from interlock.adapters.pydantic_ai import supervise
agent = Agent(model, capabilities=[supervise(task="fix the tests", workspace=".")])
"""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, Unpack

from pydantic_ai import RunContext, ToolDefinition
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution, ToolFailed
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestContext, infer_model
from pydantic_ai.run import AgentRunResult

from ..core import Usage
from ..runtime import Options
from .inprocess import RunStopped, Session, Supervision
from .inprocess.adapter import PYDANTIC_AI

Arguments: TypeAlias = "Mapping[str, object]"

FLOW = (ApprovalRequired, CallDeferred, SkipToolExecution)
"""Exceptions with which a tool signals that its call continues elsewhere."""

__all__ = ["RunStopped", "supervise"]


def supervise(**options: Unpack[Options]) -> InterlockCapability:
    """A capability that supervises every run of the agent; options as for `Supervisor.open`."""
    return InterlockCapability(Supervision("pydantic-ai", PYDANTIC_AI, options, flow=FLOW))


class InterlockCapability(AbstractCapability):
    """Reviews tool calls, observes results and usage, and adds its messages to the next model request.

    A stopped run raises `RunStopped`.
    """

    def __init__(self, supervision: Supervision) -> None:
        self.supervision = supervision
        self._session: Session | None = None

    async def for_run(self, ctx: RunContext) -> InterlockCapability:
        return InterlockCapability(self.supervision)

    async def wrap_run(self, ctx: RunContext, *, handler: Callable[[], Awaitable[AgentRunResult]]) -> AgentRunResult:
        prompt = ctx.prompt if isinstance(ctx.prompt, str) else ""
        self._session = await self.supervision.open_async(prompt, model=ctx.model.model_name)
        with self._session:
            return await handler()

    async def before_model_request(self, ctx: RunContext, request_context: ModelRequestContext) -> ModelRequestContext:
        session, messages = self.session, ctx.messages
        turn = await session.turn_async(len(messages))
        if turn.stopped is not None:
            raise RunStopped(session.run_id, turn.stopped)
        if turn.keep is not None:
            del messages[turn.keep :]
            request_context = replace(request_context, messages=list[ModelMessage](messages))
        if turn.model is not None:
            request_context = replace(request_context, model=_switch(request_context.model, turn.model))
        for message in turn.messages:
            ctx.enqueue(message.content)
        return request_context

    async def after_model_request(
        self, ctx: RunContext, *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        used = response.usage
        self.session.say(
            "\n".join(part.content for part in response.parts if isinstance(part, TextPart)),
            usage=Usage(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cache_read_tokens=used.cache_read_tokens,
                cache_write_tokens=used.cache_write_tokens,
            ),
            model=response.model_name,
        )
        return response

    async def wrap_tool_execute(
        self,
        ctx: RunContext,
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Arguments,
        handler: Callable[[Arguments], Awaitable[object]],
    ) -> object:
        asked = await self.session.ask_async(call.tool_name, args, call_id=call.tool_call_id)
        if not asked.runs:
            raise ToolFailed(asked.words)
        return await self.session.run_async(asked, handler)

    @property
    def session(self) -> Session:
        """This run's session; opened here if the framework did not announce the run."""
        if self._session is None:
            self._session = self.supervision.open()
        return self._session


def _switch(model: Model, name: str) -> Model:
    """Another model of the same provider, with the same client."""
    if model.model_name == name:
        return model
    if not hasattr(model, "_model_name"):
        return infer_model(f"{model.system}:{name}")
    switched = copy.copy(model)
    switched._model_name = name
    return switched
