"""CodexDialect: Claude Code's payloads and replies, with its own transcript and its own gaps.

What was seen of it (0.166.0): `continue: false` stops a run at UserPromptSubmit alone, so that a stop at a tool call is
a refusal, and the process is ended from outside. There is no event with every call of a turn. A result is the output of
the command alone, the same for one that failed.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from ...core import Capability, Decision, Usage
from .claude_code import CONTEXT, read_event, reply_after, reply_before, reply_turn_end
from .client_format import Payload, TranscriptDialect
from .event import HookEvent, Moment, TranscriptEntry

CAPABILITIES: frozenset[Capability] = frozenset(("deny", "rewrite", "inject", "hold", "stop", "usage", "relaunch"))

MOMENTS: dict[str, Moment] = {
    "SessionStart": "begin",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "Stop": "turn_end",
    "SubagentStop": "turn_end",
    "SessionEnd": "end",
}


class _Spent(Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cached_input_tokens: int = 0
    cache_write_input_tokens: int = 0

    def neutral(self) -> Usage:
        return Usage(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cache_read_tokens=self.cached_input_tokens,
            cache_write_tokens=self.cache_write_input_tokens,
        )


class _Part(Struct):
    text: str = ""


class _Payload(Struct):
    type: str = ""
    role: str = ""
    response_id: str = ""
    call_id: str = ""
    usage: _Spent | None = None
    content: list[_Part] = []


class _Line(Struct):
    type: str = ""
    payload: _Payload = field(default_factory=_Payload)


class CodexDialect(TranscriptDialect[_Line]):
    """See the module."""

    name = "codex"
    capabilities = CAPABILITIES
    context = CONTEXT
    line = _Line

    def read(self, payload: Payload) -> HookEvent:
        event = read_event(self.name, payload, MOMENTS)
        if not event.outcomes:
            return event
        # A result comes without its exit status: whether the call failed is read from its text.
        unsaid = tuple(replace(one, error=one.error or None) for one in event.outcomes)
        return replace(event, outcomes=unsaid)

    def reply(self, event: HookEvent, decision: Decision) -> Payload:
        if event.moment == "before":
            reply = reply_before(event, decision)
            said = reply.get("hookSpecificOutput")
            if decision.action == "rewrite" and isinstance(said, dict):
                # Arguments are taken over only from a hook that lets the call continue.
                said["permissionDecision"] = "allow"
            return {"hookSpecificOutput": said} if said else {}
        if event.moment == "turn_end":
            return reply_turn_end(decision)
        return {} if event.moment in ("end", "other") else reply_after(event, decision)

    def understand(self, record: _Line) -> TranscriptEntry | None:
        payload = record.payload
        if record.type == "token_usage_record" and payload.usage is not None:
            return TranscriptEntry(key=payload.response_id, usage=payload.usage.neutral())
        if record.type == "response_item" and payload.role == "assistant":
            words = "\n".join(part.text for part in payload.content if part.text)
            return TranscriptEntry(text=words) if words else None
        if record.type == "response_item" and payload.type.endswith("_output") and payload.call_id:
            return TranscriptEntry(results=(payload.call_id,))
        return None
