"""LangChain and LangGraph: a middleware for `create_agent`.

from interlock.adapters.langchain import supervise
agent = create_agent(model, tools, middleware=[supervise(task="fix the tests", workspace=".")])
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, NotRequired, TypeAlias, Unpack

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse, hook_config
from langchain.agents.middleware.types import PrivateStateAttr
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from ..core import Usage
from ..runtime import Options
from .inprocess import CallDecision, CallOutcome, ModelTurn, Session, Supervision
from .inprocess.adapter import LANGCHAIN

Update: TypeAlias = "dict[str, object] | None"
Result: TypeAlias = "ToolMessage | Command"


def supervise(**options: Unpack[Options]) -> InterlockMiddleware:
    """A middleware that supervises every run of the agent; options as for `Supervisor.open`."""
    return InterlockMiddleware(**options)


class SupervisedState(AgentState):
    """The agent's state, with the run that it belongs to."""

    interlock_run: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class InterlockMiddleware(AgentMiddleware):
    """Reviews tool calls, observes results and usage, and adds its messages before the next model call.

    A run begins and ends with an invocation of the agent; a stopped run ends with a message that says so.
    """

    state_schema = SupervisedState

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__()
        self.supervision = Supervision("langchain", LANGCHAIN, options, flow=(GraphBubbleUp,))
        self._sessions: dict[str, Session] = {}

    def before_agent(self, state: SupervisedState, runtime: Runtime) -> Update:
        known = self._sessions.pop(state.get("interlock_run") or "", None)
        if known is not None:
            # The same thread was invoked again after a failure.
            known.close()
        prompts = [message for message in state["messages"] if isinstance(message, HumanMessage)]
        session = self.supervision.open(_text(prompts[-1]) if prompts else "")
        self._sessions[session.run_id] = session
        return {"interlock_run": session.run_id}

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: SupervisedState, runtime: Runtime) -> Update:
        return _update(self._session(state).turn(len(state["messages"])), state["messages"])

    @hook_config(can_jump_to=["end"])
    async def abefore_model(self, state: SupervisedState, runtime: Runtime) -> Update:
        return _update(await self._session(state).turn_async(len(state["messages"])), state["messages"])

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: SupervisedState, runtime: Runtime) -> Update:
        last = _last_words(state["messages"])
        return None if last is None else _send_back(self._session(state).before_end(last))

    @hook_config(can_jump_to=["model"])
    async def aafter_model(self, state: SupervisedState, runtime: Runtime) -> Update:
        last = _last_words(state["messages"])
        return None if last is None else _send_back(await self._session(state).before_end_async(last))

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        session = self._session(request.state)
        with session.waiting():
            response = handler(_switch(request, session.adapter.model))
        _note(session, response)
        return response

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        session = self._session(request.state)
        with session.waiting():
            response = await handler(_switch(request, session.adapter.model))
        _note(session, response)
        return response

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        session, call = self._session(request.state), request.tool_call
        asked = session.ask(call["name"], call["args"], call_id=call["id"])
        if not asked.runs:
            return _refuse(request, asked)
        return session.run(asked, lambda arguments: handler(_with(request, arguments)), _outcome)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        session, call = self._session(request.state), request.tool_call
        asked = await session.ask_async(call["name"], call["args"], call_id=call["id"])
        if not asked.runs:
            return _refuse(request, asked)
        return await session.run_async(asked, lambda arguments: handler(_with(request, arguments)), _outcome)

    def after_agent(self, state: SupervisedState, runtime: Runtime) -> Update:
        session = self._sessions.pop(state.get("interlock_run") or "", None)
        if session is not None:
            session.close()
        return None

    def _session(self, state: SupervisedState) -> Session:
        # A custom graph may have any state; its calls then form one run.
        run_id = str(state.get("interlock_run") or "") if isinstance(state, Mapping) else ""
        known = self._sessions.get(run_id)
        if known is None or known.closed:
            # Resumed from a LangGraph checkpoint by another process, or after its end.
            self._sessions[run_id] = self.supervision.open(continues=run_id or None)
        return self._sessions[run_id]


def _last_words(messages: list[BaseMessage]) -> str | None:
    """The agent's final message; None if it continues with calls."""
    last = messages[-1] if messages else None
    return _text(last) if isinstance(last, AIMessage) and not last.tool_calls else None


def _send_back(words: str) -> Update:
    return {"messages": [HumanMessage(words, name="interlock")], "jump_to": "model"} if words else None


def _update(turn: ModelTurn, messages: list[BaseMessage]) -> Update:
    """The changes of a turn to the agent's state."""
    if turn.stopped is not None:
        return {"messages": [AIMessage(f"Stopped by Interlock: {turn.stopped}")], "jump_to": "end"}
    changes: list[BaseMessage] = []
    if turn.keep is not None:
        changes += [RemoveMessage(id=message.id) for message in messages[turn.keep :]]
    changes += [HumanMessage(message.content, name="interlock") for message in turn.messages]
    return {"messages": changes} if changes else None


def _switch(request: ModelRequest, model: str | None) -> ModelRequest:
    """The request with another model of the same provider, if one was requested."""
    if model is None:
        return request
    field = next((name for name in ("model_name", "model", "model_id") if name in type(request.model).model_fields), "")
    return request.override(model=request.model.model_copy(update={field: model})) if field else request


def _note(session: Session, response: ModelResponse) -> None:
    for message in response.result:
        if not isinstance(message, AIMessage):
            continue
        metadata = message.response_metadata
        session.say(
            _text(message), usage=_usage(message), model=metadata.get("model_name") or metadata.get("model"), agent=None
        )


def _usage(message: AIMessage) -> Usage | None:
    used = message.usage_metadata
    if not used:
        return None
    details = used.get("input_token_details") or {}
    return Usage(
        input_tokens=used["input_tokens"],
        output_tokens=used["output_tokens"],
        cache_read_tokens=details.get("cache_read") or 0,
        cache_write_tokens=details.get("cache_creation") or 0,
    )


def _with(request: ToolCallRequest, arguments: dict[str, object]) -> ToolCallRequest:
    return request.override(tool_call={**request.tool_call, "args": arguments})


def _refuse(request: ToolCallRequest, asked: CallDecision) -> ToolMessage:
    return ToolMessage(
        asked.words, name=request.tool_call["name"], tool_call_id=request.tool_call["id"], status="error"
    )


def _outcome(result: Result) -> CallOutcome:
    if isinstance(result, ToolMessage):
        return CallOutcome(_text(result), True if result.status == "error" else None)
    return CallOutcome(str(result.update))


def _text(message: BaseMessage) -> str:
    return str(message.text)
