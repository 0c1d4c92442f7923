"""The OpenAI Agents SDK: a runner that replaces the SDK's own.

from interlock.adapters.openai_agents import supervise
result = await supervise(task="fix the tests", workspace=".").run(agent, "fix the tests")
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias, Unpack

from agents.exceptions import AgentsException
from agents.run import CallModelData, ModelInputData
from agents.tool_context import ToolContext

from agents import (
    Agent,
    FunctionTool,
    Handoff,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    RunHooks,
    Runner,
    RunResult,
    RunResultStreaming,
    RunState,
    Tool,
    TResponseInputItem,
)

from ..core import Usage
from ..runtime import Options
from .inprocess import CallOutcome, HistoryEdits, RunStopped, Session, Supervision, read_outcome
from .inprocess.adapter import OPENAI_AGENTS

Input: TypeAlias = "str | list[TResponseInputItem] | RunState"
Filter: TypeAlias = Callable[[CallModelData], "ModelInputData | Awaitable[ModelInputData]"]

FAILED = "An error occurred while"
"""The prefix of the SDK's message to the model about an exception in a tool."""

SERVER_KEEPS = ("conversation_id", "previous_response_id", "auto_previous_response_id")
"""With one of these options, the server stores the history, and a request contains only new items."""

__all__ = ["RunStopped", "supervise"]


def supervise(**options: Unpack[Options]) -> SupervisedRunner:
    """A runner that supervises all its runs; options as for `Supervisor.open`."""
    return SupervisedRunner(**options)


class AgentStopped(RunStopped, AgentsException):
    """Raised from a stopped run; also an `AgentsException` of the SDK."""


class SupervisedRunner:
    """`run`, `run_sync` and `run_streamed` take the same arguments as the SDK's `Runner`.

    Function tools, MCP tools and agents as tools are supervised, including those of handoff agents. Hosted
    tools, which run at the provider, are only visible in the conversation.
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        self.supervision = Supervision("openai-agents", OPENAI_AGENTS, options)

    async def run(self, agent: Agent, input: Input, **more: object) -> RunResult:  # noqa: A002  the SDK's name
        watched = await asyncio.to_thread(self._watch, agent, input, more)
        with watched.session:
            return await Runner.run(watched.agent(agent), input, **watched.arguments(more))

    def run_sync(self, agent: Agent, input: Input, **more: object) -> RunResult:  # noqa: A002
        watched = self._watch(agent, input, more)
        with watched.session:
            return Runner.run_sync(watched.agent(agent), input, **watched.arguments(more))

    def run_streamed(self, agent: Agent, input: Input, **more: object) -> RunResultStreaming:  # noqa: A002
        watched = self._watch(agent, input, more)
        result = Runner.run_streamed(watched.agent(agent), input, **watched.arguments(more))
        result.run_loop_task.add_done_callback(
            lambda task: watched.session.close(None if task.cancelled() else task.exception())
        )
        return result

    def _watch(self, agent: Agent, given: Input, more: dict[str, object]) -> _Watched:
        config = more.get("run_config")
        model = (config.model if isinstance(config, RunConfig) else None) or agent.model
        session = self.supervision.open(_prompt(given), model=model if isinstance(model, str) else None)
        return _Watched(session, agent, config, keeps=not any(more.get(name) for name in SERVER_KEEPS))


class _Watched:
    """One run: agents whose calls, and a configuration whose requests, pass through the session."""

    def __init__(self, session: Session, first: Agent, config: object, *, keeps: bool) -> None:
        self.session = session
        self._first = first.name
        self._keeps = keeps
        self._config = copy.copy(config) if isinstance(config, RunConfig) else RunConfig()
        self._given: Filter | None = self._config.call_model_input_filter
        self._config.call_model_input_filter = self._filter
        self._edits: HistoryEdits[TResponseInputItem] = HistoryEdits()
        self._agents: dict[int, Agent] = {}

    def arguments(self, more: dict[str, object]) -> dict[str, object]:
        """The SDK runner's arguments besides agent and input."""
        hooks = _Hooks(self._note, more.get("hooks") or RunHooks())
        return {**more, "run_config": self._config, "hooks": hooks}

    def agent(self, agent: Agent) -> Agent:
        """The agent with supervised tools, and with supervised agents to hand off to."""
        if id(agent) in self._agents:
            return self._agents[id(agent)]
        watched = self._agents[id(agent)] = copy.copy(agent)
        get_all_tools = watched.get_all_tools

        async def supervised_tools(context: RunContextWrapper) -> list[Tool]:
            return [self._tool(tool) for tool in await get_all_tools(context)]

        watched.get_all_tools = supervised_tools
        watched.handoffs = [self._handoff(handoff) for handoff in agent.handoffs]
        return watched

    def _handoff(self, handoff: Agent | Handoff) -> Agent | Handoff:
        if isinstance(handoff, Agent):
            return self.agent(handoff)
        invoke = handoff.on_invoke_handoff

        async def hand_over(context: RunContextWrapper, arguments: str) -> Agent:
            return self.agent(await invoke(context, arguments))

        return replace(handoff, on_invoke_handoff=hand_over)

    def _tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool):
            return tool
        invoke = tool.on_invoke_tool

        async def supervised(context: ToolContext, arguments: str) -> object:
            return await self._call(tool.name, invoke, context, arguments)

        watched = copy.copy(tool)
        watched.on_invoke_tool = supervised
        return watched

    async def _call(
        self, name: str, invoke: Callable[[ToolContext, str], Awaitable[object]], context: ToolContext, given: str
    ) -> object:
        known = _arguments(given)
        asked = await self.session.ask_async(name, known, call_id=context.tool_call_id, agent=self._name(context.agent))
        if not asked.runs:
            return asked.words
        # Pass unchanged arguments on exactly as the model wrote them.
        changed = asked.decision.action == "rewrite"
        return await self.session.run_async(
            asked, lambda arguments: invoke(context, json.dumps(arguments) if changed else given), _outcome
        )

    async def _filter(self, data: CallModelData) -> ModelInputData:
        """The input of a request: waits while the run is paused, adds injected messages, drops rolled-back items."""
        items = data.model_data.input
        turn = await self.session.turn_async(len(items))
        if turn.stopped is not None:
            raise AgentStopped(self.session.run_id, turn.stopped)
        if turn.model is not None:
            self._config.model = turn.model
        added = [{"role": "user", "content": message.content} for message in turn.messages]
        if self._keeps:
            if turn.keep is not None:
                self._edits.cut(turn.keep, len(items))
            for item in added:
                self._edits.add(len(items), item)
            shown = self._edits.apply(items)
        else:
            shown = [*items, *added]
        data.model_data = ModelInputData(input=shown, instructions=data.model_data.instructions)
        if self._given is None:
            return data.model_data
        answer = self._given(data)
        return await answer if isinstance(answer, Awaitable) else answer

    def _note(self, agent: Agent, response: ModelResponse) -> None:
        used, details = response.usage, response.usage.input_tokens_details
        model = self._config.model or agent.model
        self.session.say(
            "\n".join(_said(item) for item in response.output if item.type == "message"),
            usage=Usage(
                input_tokens=used.input_tokens,
                output_tokens=used.output_tokens,
                cache_read_tokens=details.cached_tokens or 0,
                cache_write_tokens=getattr(details, "cache_write_tokens", 0) or 0,
            ),
            model=model if isinstance(model, str) else getattr(model, "model", None),
            agent=self._name(agent),
        )

    def _name(self, agent: Agent | None) -> str | None:
        """The agent's name; None for the first agent."""
        return agent.name if agent is not None and agent.name != self._first else None


class _Hooks(RunHooks):
    """The user's hooks, plus ours for the model's answers."""

    def __init__(self, note: Callable[[Agent, ModelResponse], None], theirs: RunHooks) -> None:
        self._note = note
        self._on_llm_end = theirs.on_llm_end
        for name in ("on_llm_start", "on_agent_start", "on_agent_end", "on_handoff", "on_tool_start", "on_tool_end"):
            setattr(self, name, getattr(theirs, name))

    async def on_llm_end(self, context: RunContextWrapper, agent: Agent, response: ModelResponse) -> None:
        self._note(agent, response)
        await self._on_llm_end(context, agent, response)


def _outcome(result: object) -> CallOutcome:
    outcome = read_outcome(result)
    return CallOutcome(outcome.content, True) if outcome.content.startswith(FAILED) else outcome


def _arguments(text: str) -> dict[str, object]:
    try:
        known = json.loads(text or "{}")
    except ValueError:
        return {"input": text}
    return known if isinstance(known, dict) else {"input": known}


def _said(message: object) -> str:
    return "\n".join(part.text for part in getattr(message, "content", ()) if hasattr(part, "text"))


def _prompt(given: Input) -> str:
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        return ""
    said = [item.get("content") for item in given if item.get("role") == "user"]
    return said[-1] if said and isinstance(said[-1], str) else ""
