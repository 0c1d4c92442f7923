"""smolagents: an agent that calls tools, or one that writes code that calls them.

from interlock.adapters.smolagents import supervise
supervise(ToolCallingAgent(tools, model), workspace=".").run("fix the tests")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, Unpack

from smolagents import AgentGenerationError, ChatMessage, MessageRole, Model, MultiStepAgent, Tool
from smolagents.memory import MemoryStep

from ..core import Usage
from ..runtime import Options
from .inprocess import RunStopped, Session, Supervision
from .inprocess.adapter import SMOLAGENTS

__all__ = ["RunStopped", "supervise"]

A = TypeVar("A", bound=MultiStepAgent)

PLANNING = ["<end_plan>"]
"""The stop sequence of requests for a plan; their conversation is not the agent's own."""


def supervise(agent: A, **options: Unpack[Options]) -> A:
    """Supervise all runs of this agent, and return it; options as for `Supervisor.open`. A stopped run raises."""
    supervision = Supervision("smolagents", SMOLAGENTS, options)
    model, run = agent.model, agent.run

    def supervised_run(task: str, stream: bool = False, **more: object) -> object:
        if stream:
            raise ValueError("A supervised agent cannot stream: it returns only when the run has ended.")
        session = supervision.open(task, model=model.model_id)
        agent.model = _Model(model, agent, session)
        tools = [tool for name, tool in agent.tools.items() if name != "final_answer"]
        plain = [tool.forward for tool in tools]
        for tool in tools:
            tool.forward = _supervised(tool, tool.forward, session)
        try:
            with session:
                return run(task, **more)
        except AgentGenerationError:
            session.check()
            raise
        finally:
            agent.model = model
            for tool, forward in zip(tools, plain, strict=True):
                tool.forward = forward

    agent.run = supervised_run
    return agent


@dataclass
class _InterlockMessage(MemoryStep):
    """One of our messages in the agent's memory."""

    content: str

    def to_messages(self, summary_mode: bool = False) -> list[ChatMessage]:
        return [ChatMessage(role=MessageRole.USER, content=[{"type": "text", "text": self.content}])]


class _Model:
    """The model; requests are held while the run is paused. Does not offer streaming, which is optional."""

    def __init__(self, original: Model, agent: MultiStepAgent, session: Session) -> None:
        self._original, self._agent, self._session = original, agent, session

    def __getattr__(self, name: str) -> object:
        if name == "generate_stream":
            raise AttributeError(name)
        return getattr(self._original, name)

    def generate(self, messages: list[ChatMessage], *rest: object, **more: object) -> ChatMessage:
        session, steps = self._session, self._agent.memory.steps
        session.check()
        if more.get("stop_sequences") != PLANNING:
            turn = session.turn(len(steps))
            if turn.stopped is not None:
                raise RunStopped(session.run_id, turn.stopped)
            if turn.keep is not None:
                del steps[turn.keep :]
            steps += [_InterlockMessage(message.content) for message in turn.messages]
            if turn.keep is not None or turn.messages:
                messages = self._agent.write_memory_to_messages()
            if turn.model is not None:
                self._original.model_id = turn.model
        answer: ChatMessage = self._original.generate(messages, *rest, **more)
        used = answer.token_usage
        session.say(
            answer.content if isinstance(answer.content, str) else "",
            usage=Usage(used.input_tokens, used.output_tokens) if used is not None else None,
            model=self._original.model_id,
        )
        return answer


def _supervised(tool: Tool, forward: Callable[..., object], session: Session) -> Callable[..., object]:
    """A tool's function that asks for permission first."""

    def supervised(*given: object, **named: object) -> object:
        asked = session.ask(tool.name, {**dict(zip(tool.inputs, given, strict=False)), **named})
        if not asked.runs:
            return asked.words
        return session.run(asked, lambda arguments: forward(**arguments))

    return supervised
