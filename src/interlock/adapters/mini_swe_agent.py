"""mini-swe-agent: any of its agents, models and environments.

from interlock.adapters.mini_swe_agent import supervise
supervise(DefaultAgent(model, env, **config), workspace=".").run("fix the tests")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, TypeVar, Unpack

from minisweagent import Environment, Model
from minisweagent.agents.default import DefaultAgent
from minisweagent.exceptions import InterruptAgentFlow

from ..core import Usage
from ..runtime import Options
from .inprocess import CallOutcome, Session, Supervision, read_outcome
from .inprocess.adapter import MINI_SWE_AGENT

Json: TypeAlias = "dict[str, object]"
A = TypeVar("A", bound=DefaultAgent)

EXIT_STATUS = "StoppedByInterlock"
"""The exit status of a stopped run."""


def supervise(agent: A, **options: Unpack[Options]) -> A:
    """Supervise all runs of this agent, and return it; options as for `Supervisor.open`."""
    supervision = Supervision("mini-swe-agent", MINI_SWE_AGENT, options, flow=(InterruptAgentFlow,))
    model, environment, run = agent.model, agent.env, agent.run

    def supervised_run(task: str = "", **more: object) -> Json:
        session = supervision.open(task, model=model.config.model_name)
        agent.model, agent.env = _Model(model, session), _Environment(environment, session)
        try:
            with session:
                ended: Json = run(task, **more)
        finally:
            agent.model, agent.env = model, environment
        return ended

    agent.run = supervised_run
    return agent


class _Wrapper:
    """Forwards to another object, except for what is defined here."""

    def __init__(self, original: object, session: Session) -> None:
        self._original, self._session = original, session

    def __getattr__(self, name: str) -> object:
        return getattr(self._original, name)


class _Model(_Wrapper):
    """The model; requests are held while the run is paused."""

    _original: Model

    def query(self, messages: list[Json], **more: object) -> Json:
        model, session = self._original, self._session
        turn = session.turn(len(messages))
        if turn.stopped is not None:
            raise InterruptAgentFlow(
                {
                    "role": "exit",
                    "content": f"Stopped by Interlock: {turn.stopped}",
                    "extra": {"exit_status": EXIT_STATUS, "submission": "", "reason": turn.stopped},
                }
            )
        if turn.keep is not None:
            del messages[turn.keep :]
        messages += [model.format_message(role="user", content=message.content) for message in turn.messages]
        if turn.model is not None:
            model.config.model_name = _full_name(turn.model, model.config.model_name)
        answer: Json = model.query(messages, **more)
        session.say(
            str(answer.get("content") or ""), usage=_usage(answer), model=model.config.model_name.rpartition("/")[2]
        )
        return answer


class _Environment(_Wrapper):
    """The environment; its commands are reviewed."""

    _original: Environment

    def execute(self, action: Json, *rest: object, **more: object) -> Json:
        call_id = action.get("tool_call_id")
        asked = self._session.ask(
            "bash", {"command": action.get("command", "")}, call_id=str(call_id) if call_id is not None else None
        )
        if not asked.runs:
            return {"output": asked.words, "returncode": 1, "exception_info": ""}
        return self._session.run(
            asked, lambda arguments: self._original.execute({**action, **arguments}, *rest, **more), _outcome
        )


def _outcome(done: Json) -> CallOutcome:
    outcome = read_outcome(done)
    return CallOutcome(outcome.content or str(done.get("exception_info") or ""), outcome.error, outcome.exit_code)


def _usage(answer: Mapping[str, object]) -> Usage | None:
    """LiteLLM's usage: OpenAI's, with additions."""
    at: object = answer
    for key in ("extra", "response", "usage"):
        at = at.get(key) if isinstance(at, Mapping) else None
    if not isinstance(at, Mapping):
        return None
    details = at.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else 0
    return Usage(
        input_tokens=int(at.get("prompt_tokens") or at.get("input_tokens") or 0),
        output_tokens=int(at.get("completion_tokens") or at.get("output_tokens") or 0),
        cache_read_tokens=int(cached or 0),
    )


def _full_name(model: str, known: str) -> str:
    """The name of another model, with the provider of the known one."""
    provider, slash, _ = known.rpartition("/")
    return model if "/" in model else f"{provider}{slash}{model}"
