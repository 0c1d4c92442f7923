"""Claude Code: its hook payloads as events, decisions as its replies, its transcript.

What was seen of it (2.1.197 and 2.1.325) and shows below: `continue: false` at PreToolUse does not prevent the call, so
a stop denies as well; 2.1.197 then carries on, so PostToolBatch says it again. PostToolBatch is the one event that
has every call of a turn. `allow` would grant what the user's own permissions do not, so it is never said.
"""

from __future__ import annotations

from ...core import Capability, Decision, Tool
from ..traces.transcript import Block, TranscriptLine, TranscriptMessage, usage_of
from .client_format import Payload, TranscriptDialect, mapping, number, refusal_of, text, words_of
from .event import HookEvent, Moment, ToolOutcome, TranscriptEntry
from .results import content_of, exit_code_in, is_failure

CAPABILITIES: frozenset[Capability] = frozenset(
    ("deny", "rewrite", "inject", "hold", "defer", "stop", "usage", "relaunch")
)

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "after",
    "PostToolBatch": "batch",
    "ConfigChange": "settings",
    "Stop": "turn_end",
    "SubagentStop": "turn_end",
    "SessionEnd": "end",
}
"""The events that we hook into; others are left to the user."""

SAID = {"prompt": "prompt", "turn_end": "last_assistant_message"}
"""Where an event has the words of the person or of the model."""

CONTEXT = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "SessionStart")
"""The events whose reply can carry words for the model."""


class ClaudeCodeDialect(TranscriptDialect[TranscriptLine]):
    """See the module."""

    name = "claude-code"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = TranscriptLine

    def read(self, payload: Payload) -> HookEvent:
        return read_event(self.name, payload, MOMENTS)

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        match event.moment:
            case "before":
                return reply_before(event, decision)
            case "settings":
                return {"decision": "block", "reason": decision.reason} if decision.action == "deny" else {}
            case "turn_end":
                return reply_turn_end(decision)
            case "end":
                return {}
            case _:
                return reply_after(event, decision)

    def understand(self, said: TranscriptLine) -> TranscriptEntry | None:
        message = said.message
        if message is None or said.type not in ("assistant", "user") or said.isMeta:
            return None
        blocks = [] if isinstance(message.content, str) else message.content
        if said.type == "user":
            results = tuple(block.tool_use_id for block in blocks if block.tool_use_id)
            return TranscriptEntry(results=results, agent=said.agentId) if results else None
        return TranscriptEntry(
            key=message.id or "",
            text=_spoken(message, blocks),
            model=message.model,
            usage=usage_of(message),
            agent=said.agentId,
        )


def read_event(client: str, payload: Payload, moments: dict[str, Moment]) -> HookEvent:
    """A payload of Claude Code's shape, which Codex shares."""
    name = text(payload, "hook_event_name")
    moment = moments.get(name, "other")
    tool = Tool(text(payload, "tool_name") or "unknown", mapping(payload, "tool_input"), _call_id(payload))
    outcomes: tuple[ToolOutcome, ...] = ()
    if moment == "after":
        outcomes = (_outcome(payload, tool),)
    elif moment == "batch":
        calls = payload.get("tool_calls")
        outcomes = tuple(_batched(call) for call in calls if isinstance(call, dict)) if isinstance(calls, list) else ()
    return HookEvent(
        client=client,
        name=name,
        moment=moment,
        session=text(payload, "session_id"),
        agent=text(payload, "agent_id") or None,
        tool=tool if moment == "before" else None,
        outcomes=outcomes,
        content=text(payload, SAID.get(moment, "")),
        model=text(payload, "model") or None,
        transcript=text(payload, "agent_transcript_path") or text(payload, "transcript_path"),
        cwd=text(payload, "cwd"),
        path=text(payload, "file_path"),
        final=moment != "turn_end" or name == "Stop",
        compacted=moment == "begin" and text(payload, "source") == "compact",
    )


def reply_before(event: HookEvent, decision: Decision) -> Payload:
    """Refuse, rewrite, put off or stop; words alone go along with a call that is let."""
    said: Payload = {"hookEventName": event.name}
    reply: Payload = {}
    match decision.action:
        case "deny" | "stop":
            said |= {"permissionDecision": "deny", "permissionDecisionReason": refusal_of(decision)}
            if decision.action == "stop":
                reply = stopping(decision)
        case "defer":
            said |= {"permissionDecision": "defer", "permissionDecisionReason": decision.reason}
        case "rewrite":
            said |= {"updatedInput": decision.arguments or {}, "additionalContext": refusal_of(decision)}
        case _:
            if not decision.messages:
                return {}
            said["additionalContext"] = words_of(decision)
    return {**reply, "hookSpecificOutput": said}


def reply_after(event: HookEvent, decision: Decision) -> Payload:
    """Words for the model, and the end where it has come."""
    reply = stopping(decision) if decision.action == "stop" else {}
    if decision.messages and event.name in CONTEXT:
        reply["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": words_of(decision)}
    return reply


def reply_turn_end(decision: Decision) -> Payload:
    """Let the agent stop, or say what it has to do first."""
    return {"decision": "block", "reason": refusal_of(decision)} if decision.action == "deny" else {}


def stopping(decision: Decision) -> Payload:
    return {"continue": False, "stopReason": decision.reason or "Interlock ended the run."}


def _call_id(payload: Payload) -> str | None:
    return text(payload, "tool_use_id") or None


def _outcome(payload: Payload, tool: Tool) -> ToolOutcome:
    failed = "error" in payload
    content = text(payload, "error") if failed else content_of(payload.get("tool_response"))
    return ToolOutcome(
        tool=tool,
        content=content,
        error=failed or _is_interrupted(payload),
        exit_code=exit_code_in(content) if failed else None,
        duration_ms=number(payload, "duration_ms"),
    )


def _batched(call: Payload) -> ToolOutcome:
    """A call of the batch that raised no event of its own: it failed before it ran."""
    content = content_of(call.get("tool_response"))
    tool = Tool(text(call, "tool_name") or "unknown", mapping(call, "tool_input"), _call_id(call))
    return ToolOutcome(tool=tool, content=content, error=is_failure(content), exit_code=exit_code_in(content))


def _is_interrupted(payload: Payload) -> bool:
    return mapping(payload, "tool_response").get("interrupted") is True


def _spoken(message: TranscriptMessage, blocks: list[Block]) -> str:
    if isinstance(message.content, str):
        return message.content
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text)
