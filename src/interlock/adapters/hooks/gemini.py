"""Gemini CLI: its hook payloads as events, decisions as its replies, its session file.

What was seen of it (0.61.0): calls have no id in its hooks, so one is made from when and what; `continue: false`
stops before the call; a hook that cannot be started refuses the call; BeforeModel can name another model.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ...core import Capability, Decision, Tool, Usage
from .client_format import Payload, TranscriptDialect, mapping, refusal_of, text, words_of
from .event import HookEvent, Moment, ToolOutcome, TranscriptEntry
from .results import content_of, exit_code_in

CAPABILITIES: frozenset[Capability] = frozenset(
    ("deny", "rewrite", "inject", "hold", "stop", "switch_model", "usage", "relaunch")
)

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "BeforeAgent": "prompt",
    "BeforeModel": "model",
    "BeforeTool": "before",
    "AfterTool": "after",
    "AfterAgent": "turn_end",
    "SessionEnd": "end",
}

CONTEXT = ("SessionStart", "BeforeAgent", "AfterTool")
"""The events whose reply can carry words for the model."""

REMEMBERED = 256


class _Tokens(Struct):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0

    def neutral(self) -> Usage:
        return Usage(input_tokens=self.input, output_tokens=self.output + self.thoughts, cache_read_tokens=self.cached)


class _Line(Struct):
    id: str = ""
    type: str = ""
    content: object = None
    tokens: _Tokens | None = None
    model: str | None = None
    toolCalls: list[object] = []  # noqa: N815  the session file's own name


class GeminiDialect(TranscriptDialect[_Line]):
    """See the module. Keeps which calls are under way, to find the one that a result belongs to."""

    name = "gemini"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = _Line

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._ended: dict[str, str] = {}

    def read(self, payload: Payload) -> HookEvent:
        name = text(payload, "hook_event_name")
        moment = MOMENTS.get(name, "other")
        tool = Tool(text(payload, "tool_name") or "unknown", mapping(payload, "tool_input"))
        call_id = ""
        if moment == "before":
            call_id = self._begin(payload, tool)
        elif moment == "after":
            call_id = self._end(payload, tool)
        tool = Tool(tool.name, tool.arguments, call_id or None)
        return HookEvent(
            client=self.name,
            name=name,
            moment=moment,
            session=text(payload, "session_id"),
            tool=tool if moment == "before" else None,
            outcomes=(_outcome(payload, tool),) if moment == "after" else (),
            content=text(payload, {"prompt": "prompt", "turn_end": "prompt_response"}.get(moment, "")),
            model=text(mapping(payload, "llm_request"), "model") or None,
            transcript=text(payload, "transcript_path"),
            cwd=text(payload, "cwd"),
        )

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        reply: Payload = {}
        said: Payload = {"hookEventName": event.name}
        if decision.action == "stop" and event.moment not in ("turn_end", "end", "other"):
            reply = {"continue": False, "stopReason": decision.reason or "Interlock ended the run."}
        if event.moment == "turn_end" and decision.action == "deny":
            return {"decision": "deny", "reason": refusal_of(decision)}
        if event.moment == "before":
            if decision.action in ("deny", "stop", "defer"):
                return {**reply, "decision": "deny", "reason": refusal_of(decision)}
            if decision.action == "rewrite":
                said["tool_input"] = decision.arguments or {}
                return {**reply, "hookSpecificOutput": said, "systemMessage": decision.reason}
        if event.moment == "model" and decision.model:
            said["llm_request"] = {"model": decision.model}
            return {**reply, "hookSpecificOutput": said}
        if decision.messages and self.carries(event):
            said["additionalContext"] = words_of(decision)
            return {**reply, "hookSpecificOutput": said}
        return reply

    def understand(self, record: _Line) -> TranscriptEntry | None:
        if record.type != "gemini" or record.tokens is None:
            return None
        words = record.content if isinstance(record.content, str) and not record.toolCalls else ""
        return TranscriptEntry(key=record.id, text=words, model=record.model, usage=record.tokens.neutral())

    def _begin(self, payload: Payload, tool: Tool) -> str:
        call_id = _digest(text(payload, "session_id"), text(payload, "timestamp"), tool)
        waiting = self._open.setdefault(_digest("", "", tool), [])
        if call_id not in waiting:
            waiting.append(call_id)
        while len(self._open) > REMEMBERED:
            del self._open[next(iter(self._open))]
        return call_id

    def _end(self, payload: Payload, tool: Tool) -> str:
        """The oldest call under way that looks the same; a repeated result belongs to the same call."""
        event_id = _digest(text(payload, "session_id"), text(payload, "timestamp"), tool)
        if event_id in self._ended:
            return self._ended[event_id]
        waiting = self._open.get(_digest("", "", tool), [])
        self._ended[event_id] = waiting.pop(0) if waiting else event_id
        while len(self._ended) > REMEMBERED:
            del self._ended[next(iter(self._ended))]
        return self._ended[event_id]


def _outcome(payload: Payload, tool: Tool) -> ToolOutcome:
    response = mapping(payload, "tool_response")
    content = content_of(response)
    code = exit_code_in(content)
    failed = response.get("error") is not None or code not in (None, 0)
    return ToolOutcome(tool=tool, content=content, error=failed, exit_code=code)


def _digest(session: str, time: str, tool: Tool) -> str:
    data = msgspec.json.encode((session, time, tool.name, tool.arguments), order="sorted")
    import hashlib

    return hashlib.blake2b(data, digest_size=12).hexdigest()
