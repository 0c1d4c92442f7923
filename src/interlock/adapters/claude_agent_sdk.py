"""The Claude Agent SDK: a client that replaces `ClaudeSDKClient`.

from interlock.adapters.claude_agent_sdk import supervise
async with supervise(options, task="fix the tests", workspace=".") as client:
    await client.query("fix the tests")
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import replace
from typing import TypeAlias, Unpack

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ClaudeSDKError,
    HookMatcher,
    Message,
    ResultMessage,
    TextBlock,
)

from ..core import Usage
from ..process import MARKER, add_marker
from ..runtime import Options
from .hooks.hook_event import content_of, exit_code_in
from .inprocess import CallDecision, CallOutcome, RunStopped, Session, Supervision
from .inprocess.adapter import CLAUDE_AGENT_SDK

__all__ = ["RunStopped", "SupervisedClient", "query", "supervise"]

Json: TypeAlias = "dict[str, object]"

HOLD_S = 20 * 24 * 3600.0
"""Timeout of a hook, which lasts while a paused run is held. Timers of 2^31 ms and more would fire immediately."""


def supervise(options: ClaudeAgentOptions | None = None, **more: Unpack[Options]) -> SupervisedClient:
    """A client with a supervised agent; `options` are the SDK's, the rest as for `Supervisor.open`."""
    return SupervisedClient(options, **more)


async def query(
    *, prompt: str, options: ClaudeAgentOptions | None = None, **more: Unpack[Options]
) -> AsyncIterator[Message]:
    """The SDK's `query`, supervised: one prompt, and the messages until its result."""
    more.setdefault("task", prompt)
    async with supervise(options, **more) as client:
        await client.query(prompt)
        async for message in client.receive_response():
            yield message


class SupervisedClient(ClaudeSDKClient):
    """A `ClaudeSDKClient` that is one run from `connect` to `disconnect`. A stopped run raises `RunStopped`."""

    def __init__(self, options: ClaudeAgentOptions | None = None, **more: Unpack[Options]) -> None:
        given = options or ClaudeAgentOptions()
        if "workspace" not in more and given.cwd is not None:
            more["workspace"] = given.cwd
        self.supervision = Supervision("claude-agent-sdk", CLAUDE_AGENT_SDK, more)
        self._given = given
        self._asked: dict[str, CallDecision] = {}
        self._seen: set[str] = set()
        self._model: str | None = None
        self._tokens = _Tokens()
        super().__init__(given)

    @property
    def session(self) -> Session:
        if self.supervision.last is None:
            raise RuntimeError("The client is not connected.")
        return self.supervision.last

    async def connect(self, prompt: str | AsyncIterable[Json] | None = None) -> None:
        asked = prompt if isinstance(prompt, str) else ""
        session = await self.supervision.open_async(asked, model=self._given.model)
        marked = add_marker({MARKER: mark} if (mark := _outer_mark(self._given)) else {}, session.children.marker)
        fails = "block" if session.supervisor.config.runtime.fail == "closed" else None
        ours = {
            "PreToolUse": self._before,
            "PostToolUse": self._after,
            "PostToolUseFailure": self._after,
            "PostToolBatch": self._before_request,
            "Stop": self._before_end,
        }
        hooks = dict(self._given.hooks or {})
        for event, answer in ours.items():
            matcher = HookMatcher(hooks=[answer], timeout=HOLD_S, on_failure=fails)
            hooks[event] = [*hooks.get(event, []), matcher]
        self.options = replace(self._given, hooks=hooks, env={**self._given.env, **marked})
        try:
            await super().connect(prompt)
        except BaseException as error:
            session.close(error)
            raise

    async def query(self, prompt: str | AsyncIterable[Json], session_id: str = "default") -> None:
        self.session.check()
        if isinstance(prompt, str):
            self.session.say(prompt, role="user")
        await super().query(prompt, session_id)

    async def receive_messages(self) -> AsyncIterator[Message]:
        session = self.session
        try:
            async for message in super().receive_messages():
                self._note(message)
                yield message
        except ClaudeSDKError:
            # The client process of a stopped run has been ended.
            session.check()
            raise
        session.check()

    async def disconnect(self) -> None:
        try:
            await super().disconnect()
        finally:
            if self.supervision.last is not None:
                self.supervision.last.close()

    async def _before(self, payload: Json, call_id: str | None, context: object) -> Json:
        """PreToolUse: whether this call may run."""
        self._seen.add(call_id or "")
        asked = await self.session.ask_async(
            str(payload["tool_name"]), _object(payload.get("tool_input")), call_id=call_id, agent=_agent(payload)
        )
        answer: Json = {"hookEventName": "PreToolUse"}
        if not asked.runs:
            answer |= {"permissionDecision": "deny", "permissionDecisionReason": asked.words}
            stop = {"continue_": False, "stopReason": asked.words} if asked.stopped else {}
            return {"hookSpecificOutput": answer, **stop}
        self._asked[call_id or ""] = asked
        if asked.decision.action != "rewrite":
            return {}
        # Without "allow": the user's own permissions still apply.
        return {"hookSpecificOutput": {**answer, "updatedInput": asked.arguments}}

    async def _after(self, payload: Json, call_id: str | None, context: object) -> Json:
        """PostToolUse and PostToolUseFailure: the result of a call."""
        asked = self._asked.pop(call_id or "", None)
        if asked is not None:
            failed = "error" in payload
            content = str(payload["error"]) if failed else content_of(payload.get("tool_response"))
            outcome = CallOutcome(content, True if failed else None, exit_code_in(content))
            self.session.tell(asked, outcome, _number(payload.get("duration_ms")))
        return {}

    async def _before_request(self, payload: Json, call_id: str | None, context: object) -> Json:
        """PostToolBatch: all calls of a turn are over, and the next request to the model follows."""
        for call in _list(payload.get("tool_calls")):
            name, outcome = str(call.get("tool_use_id")), CallOutcome(content_of(call.get("tool_response")), True)
            asked = self._asked.pop(name, None)
            if asked is not None:
                # We allowed it, but the user's own permissions did not.
                self.session.tell(asked, outcome)
            elif name not in self._seen:
                # Its arguments were invalid: no other event reports it.
                self._seen.add(name)
                self.session.note(str(call.get("tool_name")), _object(call.get("tool_input")), outcome, call_id=name)
        turn = await self.session.turn_async(0)
        if turn.stopped is not None:
            return {"continue_": False, "stopReason": f"Stopped by Interlock: {turn.stopped}"}
        if turn.model is not None and turn.model != self._model:
            self._model = turn.model
            await self.set_model(turn.model)
        if not turn.messages:
            return {}
        return {"hookSpecificOutput": {"hookEventName": "PostToolBatch", "additionalContext": turn.text}}

    async def _before_end(self, payload: Json, call_id: str | None, context: object) -> Json:
        """Stop: the agent wants to end its turn."""
        words = await self.session.before_end_async(str(payload.get("last_assistant_message") or ""))
        return {"decision": "block", "reason": words} if words else {}

    def _note(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            said = "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
            usage = self._tokens.of(message.message_id, message.usage)
            agent = message.parent_tool_use_id
            self.session.say(said, usage=usage, model=message.model, agent=agent)
        elif isinstance(message, ResultMessage):
            self.session.say("", usage=self._tokens.rest(message.usage), model=self._model or self._given.model)


class _Tokens:
    """Counts usage: each part of a message repeats the message's usage, and the final result has the total."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._input = self._output = 0

    def of(self, message_id: str | None, payload: Json | None) -> Usage | None:
        """The usage of a message; None if it was counted before."""
        if not payload or message_id in self._known:
            return None
        if message_id is not None:
            self._known.add(message_id)
        usage = _usage(payload)
        self._input, self._output = self._input + usage.input_tokens, self._output + usage.output_tokens
        return usage

    def rest(self, payload: Json | None) -> Usage | None:
        """The usage in the result of a query beyond that of its messages."""
        counted, self._input, self._output = (self._input, self._output), 0, 0
        if not payload:
            return None
        whole = _usage(payload)
        more = Usage(max(0, whole.input_tokens - counted[0]), max(0, whole.output_tokens - counted[1]))
        return more if more.tokens else None


def _usage(payload: Json) -> Usage:
    fresh, cached, written, output = (
        int(_number(payload.get(f"{name}_tokens")) or 0)
        for name in ("input", "cache_read_input", "cache_creation_input", "output")
    )
    return Usage(fresh + cached + written, output, cache_read_tokens=cached, cache_write_tokens=written)


def _outer_mark(options: ClaudeAgentOptions) -> str:
    """The marker of a process tree that this process itself belongs to."""
    return str(options.env.get(MARKER) or os.environ.get(MARKER, ""))


def _agent(payload: Json) -> str | None:
    agent = payload.get("agent_id")
    return str(agent) if agent is not None else None


def _object(value: object) -> Json:
    return value if isinstance(value, dict) else {"input": value}


def _list(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
